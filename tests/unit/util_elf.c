/* ELF files as compilers make them, and damaged ones: names and sizes of sections and functions. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/elf.h"

enum { SECTIONS = 6, SYMBOLS = 4, MOST = 1 << 11 };

typedef struct file {
    _Alignas(8) unsigned char data[MOST];
    size_t size;
} file;

static size_t append(file *f, const void *data, size_t size) {
    const size_t at = f->size = (f->size + 7) / 8 * 8;
    if (data) memcpy(f->data + at, data, size);
    f->size += size;
    return at;
}

/* Code, a section without bytes in the file, names, and a table with a function, an object, and a function without a
   name of its own. */
static file make_file(void) {
    static const char names[] = "\0.text.add\0.bss\0.strtab\0.symtab\0add_groups\0table";
    const Elf64_Sym symbols[SYMBOLS] = {
        {0},
        {.st_name = 32, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_size = 48},
        {.st_name = 43, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), .st_size = 16},
        {.st_name = 1 << 20, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_size = 16}};
    file f = {.size = sizeof(Elf64_Ehdr)};
    Elf64_Shdr s[SECTIONS] = {{0}};
    s[1] =
        (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = 96, .sh_offset = append(&f, NULL, 96)};
    s[2] = (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_NOBITS, .sh_size = 8, .sh_offset = f.size};
    s[3] = (Elf64_Shdr){.sh_name = 16,
                        .sh_type = SHT_STRTAB,
                        .sh_size = sizeof names,
                        .sh_offset = append(&f, names, sizeof names)};
    s[4] = (Elf64_Shdr){.sh_name = 24,
                        .sh_type = SHT_SYMTAB,
                        .sh_size = sizeof symbols,
                        .sh_entsize = sizeof *symbols,
                        .sh_link = 3,
                        .sh_offset = append(&f, symbols, sizeof symbols)};
    s[5] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = 1 << 20, .sh_offset = 64};
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                               .e_shoff = append(&f, s, sizeof s),
                               .e_shentsize = sizeof *s,
                               .e_shnum = SECTIONS,
                               .e_shstrndx = 3};
    memcpy(f.data, &header, sizeof header);
    return f;
}

/* All that can be read of the first bytes, in memory that ends there. */
static void read_all(const file *f, size_t size) {
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, f->data, size);
    qn__elf elf;
    qn__elf_part part;
    const char *last = (const char *)copy + size;
    if (qn__elf_read(&elf, copy, size)) {
        assert_true(elf.num_sections <= size && elf.num_symbols <= size);
        for (uint64_t i = 0; i < elf.num_sections + 2; i++)
            if (qn__elf_section(&elf, i, &part))
                assert_true(part.size <= size && part.name + strlen(part.name) < last);
        for (uint64_t i = 0; i < elf.num_symbols + 2; i++)
            if (qn__elf_function(&elf, i, &part))
                assert_true(part.size <= size && part.name + strlen(part.name) < last);
    }
    free(copy);
}

static void sections_and_functions(void **state) {
    (void)state;
    const file f = make_file();
    qn__elf elf;
    qn__elf_part part;
    assert_true(qn__elf_read(&elf, f.data, f.size));
    assert_int_equal(elf.num_sections, SECTIONS);
    assert_int_equal(elf.num_symbols, SYMBOLS);
    assert_true(qn__elf_section(&elf, 1, &part));
    assert_string_equal(part.name, ".text.add");
    assert_int_equal(part.size, 96);
    assert_false(qn__elf_section(&elf, 2, &part)); /* no bytes */
    assert_true(qn__elf_section(&elf, 4, &part));
    assert_string_equal(part.name, ".symtab");
    assert_false(qn__elf_section(&elf, 5, &part)); /* beyond the file */
    assert_false(qn__elf_section(&elf, 6, &part));
    assert_true(qn__elf_function(&elf, 1, &part));
    assert_string_equal(part.name, "add_groups");
    assert_int_equal(part.size, 48);
    for (uint64_t i = 0; i < 6; i++)
        if (i != 1) assert_false(qn__elf_function(&elf, i, &part));
}

/* Cut off anywhere, or with any word spoilt, nothing is read outside of the file. */
static void damaged_files(void **state) {
    (void)state;
    static const uint64_t values[] = {0, 1, 0x7fffffff, UINT64_MAX, UINT64_MAX - 63, 1 << 16};
    const file whole = make_file();
    for (size_t size = 0; size <= whole.size; size++) read_all(&whole, size);
    for (size_t at = 0; at + 8 <= whole.size; at += 2)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (size_t width = 2; width <= 8; width *= 2) {
                file f = whole;
                memcpy(f.data + at, &values[v], width);
                read_all(&f, f.size);
            }
}

/* Of 32 bits, or of the other byte order. */
static void other_files(void **state) {
    (void)state;
    qn__elf elf;
    for (int at = 0; at < 6; at++) {
        file f = make_file();
        f.data[at] ^= 3;
        assert_false(qn__elf_read(&elf, f.data, f.size));
    }
    assert_false(qn__elf_read(&elf, NULL, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_and_functions),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
