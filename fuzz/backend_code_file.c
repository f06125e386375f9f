/* libFuzzer target: the disk cache's file of a program, damaged though its checksum is right. The input is the file
   without the end that says what it is: eight bytes of checksum and eight of magic, which are made here. What is taken
   from it must lie in it, and pack to the same file. */
#include <stdlib.h>
#include <string.h>

#include "backend/common/common.h"
#include "util/hash.h"

static void check(bool holds) {
    if (!holds) abort();
}

static void read_all(qn__section section) {
    char *copy = malloc(section.size + 1);
    check(copy != NULL);
    if (section.size) memcpy(copy, section.data, section.size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char magic[] = "quernbin";
    const size_t whole = size + sizeof(uint64_t) + 8;
    unsigned char *file = malloc(whole);
    check(file != NULL);
    if (size) memcpy(file, data, size);
    const uint64_t sum = qn__hash(file, size, 0);
    memcpy(file + size, &sum, sizeof sum);
    memcpy(file + size + sizeof sum, magic, 8);
    qn__section sections[QN__MAX_SECTIONS];
    if (qn__code_file_unpack(file, whole, sections)) {
        for (int i = 0; i < QN__MAX_SECTIONS; i++) read_all(sections[i]);
        size_t packed_size;
        unsigned char *packed = qn__code_file_pack(NULL, sections, &packed_size);
        check(packed && packed_size == whole && memcmp(packed, file, whole) == 0);
        free(packed);
    }
    free(file);
    return 0;
}
