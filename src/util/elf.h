/* ELF files of 64 bits and this machine's byte order, as compilers make them: the names and sizes of their sections and
   functions. A file may be damaged: whatever leads out of it is left out. System V's generic ABI, chapter 4. */
#ifndef QN__ELF_H
#define QN__ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct qn__elf_table {
    uint64_t offset, size;
} qn__elf_table;

typedef struct qn__elf {
    const unsigned char *data; /* borrowed */
    uint64_t size;
    uint64_t num_sections, num_symbols;
    qn__elf_table sections, section_names, symbols, symbol_names;
} qn__elf;

typedef struct qn__elf_part {
    const char *name; /* in the file */
    uint64_t size;
} qn__elf_part;

/* False: it is no such file. */
bool qn__elf_read(qn__elf *elf, const void *data, size_t size);
/* Of sections whose bytes are in the file, and of functions; false: that one is something else, or damaged. */
bool qn__elf_section(const qn__elf *elf, uint64_t index, qn__elf_part *part);  /* < num_sections */
bool qn__elf_function(const qn__elf *elf, uint64_t index, qn__elf_part *part); /* < num_symbols */

#endif
