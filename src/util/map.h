/* Hash maps in an arena: from string slices and from 64-bit keys to pointers. Open addressing; entries are
   never removed; storing NULL is allowed and differs from being absent only through *_has. */
#ifndef QN__MAP_H
#define QN__MAP_H

#include "util/str.h"

typedef struct qn__map_entry {
    qn__str key; /* key.data points to the arena */
    uint64_t hash;
    void *value;
    bool used;
} qn__map_entry;

typedef struct qn__map { /* zeroed is empty */
    qn__map_entry *entries;
    size_t len, cap;
} qn__map;

void *qn__map_get(const qn__map *map, qn__str key); /* NULL when absent */
bool qn__map_has(const qn__map *map, qn__str key);
void qn__map_set(qn__arena *arena, qn__map *map, qn__str key, void *value); /* copies the key; replaces */

typedef struct qn__map64_entry {
    uint64_t key;
    void *value;
    bool used;
} qn__map64_entry;

typedef struct qn__map64 {
    qn__map64_entry *entries;
    size_t len, cap;
} qn__map64;

void *qn__map64_get(const qn__map64 *map, uint64_t key);
bool qn__map64_has(const qn__map64 *map, uint64_t key);
void qn__map64_set(qn__arena *arena, qn__map64 *map, uint64_t key, void *value);

#endif
