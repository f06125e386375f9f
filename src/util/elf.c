/* Reading of ELF files; see elf.h. */
#include "util/elf.h"

#include <string.h>

enum {
    CLASS_64 = 2,
    LITTLE_ENDIAN_DATA = 1,
    BIG_ENDIAN_DATA = 2,
    SYMBOL_TABLE = 2,
    NO_BITS = 8,
    FUNCTION = 2
};

typedef struct header {
    unsigned char ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t header_size, segment_size, num_segments, section_size, num_sections, names;
} header;

typedef struct section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
} section;

typedef struct symbol {
    uint32_t name;
    unsigned char info, other;
    uint16_t section;
    uint64_t value, size;
} symbol;

static bool is_within(const qn__elf *elf, uint64_t at, uint64_t size) {
    return at <= elf->size && size <= elf->size - at;
}

static bool read_section(const qn__elf *elf, uint64_t index, section *out) {
    if (index >= elf->num_sections) return false;
    memcpy(out, elf->data + elf->sections.offset + index * sizeof *out, sizeof *out);
    return out->type != NO_BITS && is_within(elf, out->offset, out->size);
}

/* NULL: it does not lie in the table. */
static const char *name_at(const qn__elf *elf, qn__elf_table names, uint32_t at) {
    if (at >= names.size) return NULL;
    const char *name = (const char *)elf->data + names.offset + at;
    return memchr(name, 0, (size_t)(names.size - at)) ? name : NULL;
}

static void find_symbols(qn__elf *elf) {
    section table, names;
    for (uint64_t i = 0; i < elf->num_sections; i++) {
        if (!read_section(elf, i, &table) || table.type != SYMBOL_TABLE) continue;
        if (table.entry_size != sizeof(symbol) || !read_section(elf, table.link, &names)) continue;
        elf->symbols = (qn__elf_table){table.offset, table.size};
        elf->symbol_names = (qn__elf_table){names.offset, names.size};
        elf->num_symbols = table.size / sizeof(symbol);
        return;
    }
}

bool qn__elf_read(qn__elf *elf, const void *data, size_t size) {
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one == 1;
    const unsigned char magic[] = {0x7f, 'E',      'L',
                                   'F',  CLASS_64, little ? LITTLE_ENDIAN_DATA : BIG_ENDIAN_DATA};
    header h;
    section names;
    *elf = (qn__elf){.data = data, .size = size};
    if (!is_within(elf, 0, sizeof h)) return false;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.ident, magic, sizeof magic) != 0 || h.section_size != sizeof(section)) return false;
    elf->sections = (qn__elf_table){h.sections, (uint64_t)h.num_sections * sizeof(section)};
    if (!is_within(elf, elf->sections.offset, elf->sections.size)) return false;
    elf->num_sections = h.num_sections;
    if (!read_section(elf, h.names, &names)) return false;
    elf->section_names = (qn__elf_table){names.offset, names.size};
    find_symbols(elf);
    return true;
}

bool qn__elf_section(const qn__elf *elf, uint64_t index, qn__elf_part *part) {
    section s;
    if (!read_section(elf, index, &s)) return false;
    *part = (qn__elf_part){name_at(elf, elf->section_names, s.name), s.size};
    return part->name != NULL;
}

bool qn__elf_function(const qn__elf *elf, uint64_t index, qn__elf_part *part) {
    symbol s;
    if (index >= elf->num_symbols) return false;
    memcpy(&s, elf->data + elf->symbols.offset + index * sizeof s, sizeof s);
    *part = (qn__elf_part){name_at(elf, elf->symbol_names, s.name), s.size};
    return (s.info & 15) == FUNCTION && s.size <= elf->size && part->name != NULL;
}
