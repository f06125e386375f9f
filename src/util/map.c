/* Open-addressing hash maps; see map.h. Linear probing, grown at three quarters full. */
#include "util/map.h"

#include <string.h>

#include "util/hash.h"

static qn__map_entry *find(const qn__map *map, qn__str key, uint64_t hash) {
    for (size_t i = hash & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        qn__map_entry *entry = &map->entries[i];
        if (!entry->used || (entry->hash == hash && qn__str_equal(entry->key, key))) return entry;
    }
}

void *qn__map_get(const qn__map *map, qn__str key) {
    return map->len ? find(map, key, qn__hash(key.data, key.len, 0))->value : NULL;
}

bool qn__map_has(const qn__map *map, qn__str key) {
    return map->len && find(map, key, qn__hash(key.data, key.len, 0))->used;
}

static void grow(qn__arena *arena, qn__map *map) {
    qn__map grown = {.cap = map->cap ? map->cap * 2 : 32};
    grown.entries = QN__NEW_ARRAY(arena, qn__map_entry, grown.cap);
    for (size_t i = 0; i < map->cap; i++)
        if (map->entries[i].used) *find(&grown, map->entries[i].key, map->entries[i].hash) = map->entries[i];
    map->entries = grown.entries;
    map->cap = grown.cap;
}

void qn__map_set(qn__arena *arena, qn__map *map, qn__str key, void *value) {
    if (map->len * 4 >= map->cap * 3) grow(arena, map);
    uint64_t hash = qn__hash(key.data, key.len, 0);
    qn__map_entry *entry = find(map, key, hash);
    if (!entry->used) {
        char *copy = qn__arena_strndup(arena, key.data, key.len);
        *entry = (qn__map_entry){.key = {copy, key.len}, .hash = hash, .used = true};
        map->len++;
    }
    entry->value = value;
}

static uint64_t mix(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 32);
}

static qn__map64_entry *find64(const qn__map64 *map, uint64_t key) {
    for (size_t i = mix(key) & (map->cap - 1);; i = (i + 1) & (map->cap - 1)) {
        qn__map64_entry *entry = &map->entries[i];
        if (!entry->used || entry->key == key) return entry;
    }
}

void *qn__map64_get(const qn__map64 *map, uint64_t key) { return map->len ? find64(map, key)->value : NULL; }

bool qn__map64_has(const qn__map64 *map, uint64_t key) { return map->len && find64(map, key)->used; }

static void grow64(qn__arena *arena, qn__map64 *map) {
    qn__map64 grown = {.cap = map->cap ? map->cap * 2 : 32};
    grown.entries = QN__NEW_ARRAY(arena, qn__map64_entry, grown.cap);
    for (size_t i = 0; i < map->cap; i++)
        if (map->entries[i].used) *find64(&grown, map->entries[i].key) = map->entries[i];
    map->entries = grown.entries;
    map->cap = grown.cap;
}

void qn__map64_set(qn__arena *arena, qn__map64 *map, uint64_t key, void *value) {
    if (map->len * 4 >= map->cap * 3) grow64(arena, map);
    qn__map64_entry *entry = find64(map, key);
    if (!entry->used) {
        *entry = (qn__map64_entry){.key = key, .used = true};
        map->len++;
    }
    entry->value = value;
}
