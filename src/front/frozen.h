/* Functions of src/lib that are embedded as optimised IR, for the types that kernels call them with most: neither
   their texts nor what those call are parsed, lowered and cleaned up in every compile. src/lib/freeze.c makes them
   when quern is built, with this front end and the passes; the texts stay for all other types. Constant data. */
#ifndef QN__FRONT_FROZEN_H
#define QN__FRONT_FROZEN_H

#include "front/library.h"

/* One function: an entry of the library for one type T. */
typedef struct front_frozen {
    uint16_t entry;  /* index into qn__library_entries */
    uint8_t element; /* ast_kind of T; AST_VOID: the entry has no T */
    uint8_t lanes;
    uint32_t first; /* where its words (qn__ir_unpack) begin */
} front_frozen;

/* A table that they read. */
typedef struct front_frozen_table {
    const char *name;
    const uint8_t *data;
    uint32_t size, align;
    ir_type element;
} front_frozen_table;

typedef struct front_frozen_library {
    const front_frozen *functions; /* in order of entry, element, lanes */
    uint32_t num_functions;
    const uint16_t *words;
    const front_frozen_table *tables; /* by the index in the words */
    uint32_t num_tables;
} front_frozen_library;

extern const front_frozen_library qn__frozen_library;

/* The words of an entry for a type; NULL: it is there as text only, or `library` is NULL. */
const uint16_t *qn__frozen_find(const front_frozen_library *library, const front_library_entry *entry,
                                ast_kind element, unsigned lanes);

#endif
