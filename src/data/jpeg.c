/* The segments of a JPEG file (ITU-T T.81, annex B), as far as Huffman tables need it. */
#include "data/jpeg.h"

enum { MARKER = 0xFF, START = 0xD8, SCAN = 0xDA, TABLES = 0xC4 };
enum { CODE_LENGTHS = 16, SYMBOLS = 256 };

/* A file that ends too early goes on with zeros, as it does for the decoder. */
static uint32_t byte_at(const uint8_t *file, uint64_t size, uint64_t at) { return at < size ? file[at] : 0; }

/* The segment whose length is at `at`: tables one behind the other, each of a byte of class and id, a count for each length of a code, and
   the symbols. */
static bool segment_fits(const uint8_t *file, uint64_t size, uint64_t at) {
    const uint64_t end = at + (byte_at(file, size, at) << 8 | byte_at(file, size, at + 1));
    for (at += 2; at < end;) {
        uint32_t symbols = 0;
        at++;
        for (int i = 0; i < CODE_LENGTHS; i++) symbols += byte_at(file, size, at++);
        if (symbols > SYMBOLS) return false;
        at += symbols;
    }
    return true;
}

bool qn__jpeg_tables_fit(const uint8_t *file, uint64_t size) {
    bool scanned = false;
    if (byte_at(file, size, 0) != MARKER) return true;
    for (uint64_t at = 0; at + 1 < size;) {
        if (file[at] != MARKER || file[at + 1] == MARKER) {
            at++;
            continue;
        }
        const uint8_t marker = file[at + 1];
        at += 2;
        if (marker == TABLES && !segment_fits(file, size, at)) return false;
        if (marker == SCAN) scanned = true;
        /* Coded data lies behind a scan's head, and where a decoder leaves it is not said by any length: from there on each marker counts.
           Before it, what lies within another segment (a thumbnail, a profile) is not this image's. */
        if (!scanned && marker != START) at += byte_at(file, size, at) << 8 | byte_at(file, size, at + 1);
    }
    return true;
}
