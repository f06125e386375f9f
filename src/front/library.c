/* The index of the texts of src/lib, and of those that are there as IR: lookups in constant tables made at build
   time. */
#include "front/library.h"

#include <string.h>

#include "front/frozen.h"
#include "front/library_index.h"
#include "util/hash.h"

static bool is_called(const front_library_entry *entry, qn__str name) {
    return strlen(entry->name) == name.len && !memcmp(entry->name, name.data, name.len);
}

const front_library_entry *qn__library_find(qn__str name, ast_kind element) {
    for (uint32_t slot = (uint32_t)qn__hash(name.data, name.len, 0) & qn__library_mask;;
         slot = (slot + 1) & qn__library_mask) {
        front_span span = qn__library_slots[slot];
        if (!span.count) return NULL;
        const front_library_entry *entries = &qn__library_entries[span.first];
        if (!is_called(entries, name)) continue;
        const front_library_entry *generic = NULL;
        for (uint16_t i = 0; i < span.count; i++) {
            if (entries[i].element == element) return &entries[i];
            if (entries[i].element == AST_VOID) generic = &entries[i];
        }
        return generic || element != AST_VOID ? generic : entries;
    }
}

const uint16_t *qn__frozen_find(const front_frozen_library *library, const front_library_entry *entry,
                                ast_kind element, unsigned lanes) {
    if (!library) return NULL;
    const uint32_t wanted = (uint32_t)(entry - qn__library_entries) << 16 | (uint32_t)element << 8 | lanes;
    uint32_t low = 0, high = library->num_functions;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const front_frozen *f = &library->functions[middle];
        const uint32_t key = (uint32_t)f->entry << 16 | (uint32_t)f->element << 8 | f->lanes;
        if (key == wanted) return library->words + f->first;
        if (key < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
