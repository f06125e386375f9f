/* GPT-2's tokens: a text's bytes are joined, pair by pair, in the order of merges.txt, within words; vocab.json has the number of each piece. Bytes are written as
   letters there, those that are none as U+0100 and following. Letters beyond ASCII all count as letters. */
#ifndef BPE_H
#define BPE_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BPE_PIECE = 256, BPE_SLOTS = 1 << 18 };

/* A table by text: pieces and their numbers, pairs ("a b") and their ranks. */
typedef struct bpe_entry {
    char *text;
    int32_t number;
} bpe_entry;

typedef struct bpe {
    bpe_entry *pieces, *pairs;
    char **of_number; /* pieces, in letters */
    int32_t count;
    char letters[256][3]; /* of bytes, UTF-8 */
} bpe;

static inline bpe_entry *bpe_find(bpe_entry *table, const char *text) {
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    uint32_t at = hash % BPE_SLOTS;
    while (table[at].text && strcmp(table[at].text, text) != 0) at = (at + 1) % BPE_SLOTS;
    return &table[at];
}

static inline int bpe_put(bpe_entry *table, const char *text, int32_t number) {
    bpe_entry *entry = bpe_find(table, text);
    if (!entry->text) entry->text = malloc(strlen(text) + 1);
    if (!entry->text) return -1;
    strcpy(entry->text, text);
    entry->number = number;
    return 0;
}

static inline char *bpe_utf8(char *to, uint32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

static inline void bpe_letters(bpe *b) {
    uint32_t other = 256;
    for (uint32_t byte = 0; byte < 256; byte++) {
        const int shown = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        *bpe_utf8(b->letters[byte], shown ? byte : other++) = 0;
    }
}

static inline char *bpe_read(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    const long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    char *text = size >= 0 && !fseek(f, 0, SEEK_SET) ? malloc((size_t)size + 1) : NULL;
    if (text) text[fread(text, 1, (size_t)size, f)] = 0;
    fclose(f);
    return text;
}

/* A JSON string from behind its quote on; gives what is behind the closing one, or NULL. */
static inline const char *bpe_string(const char *at, char *to) {
    const char *const end = to + BPE_PIECE - 4;
    for (; *at && *at != '"'; at++) {
        if (to >= end) return NULL;
        if (*at != '\\') {
            *to++ = *at;
            continue;
        }
        static const char names[] = "nrtbf", codes[] = "\n\r\t\b\f";
        const char *name = *++at ? strchr(names, *at) : NULL;
        unsigned code;
        if (*at == 'u' && sscanf(at + 1, "%4x", &code) == 1)
            to = bpe_utf8(to, code), at += strlen(at) < 4 ? 0 : 4;
        else if (*at)
            *to++ = name ? codes[name - names] : *at;
        else
            return NULL;
    }
    *to = 0;
    return *at ? at + 1 : NULL;
}

/* {"piece": number, ...}; -1 where it is something else. */
static inline int bpe_vocabulary(bpe *b, const char *text, int32_t most) {
    char piece[BPE_PIECE];
    b->of_number = calloc((size_t)most, sizeof *b->of_number);
    while (b->of_number && (text = strchr(text, '"')) != NULL) {
        text = bpe_string(text + 1, piece);
        text = text ? strchr(text, ':') : NULL;
        if (!text) return -1;
        const long number = strtol(text + 1, NULL, 10);
        if (number < 0 || number >= most || b->count >= BPE_SLOTS / 2) return -1;
        if (bpe_put(b->pieces, piece, (int32_t)number)) return -1;
        b->of_number[number] = bpe_find(b->pieces, piece)->text;
        b->count++;
    }
    return b->count ? 0 : -1;
}

/* Lines of two pieces with a blank between, the first ones joined first. */
static inline int bpe_merges(bpe *b, char *text) {
    int32_t rank = 0;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = 0;
        line[strcspn(line, "\r")] = 0;
        if (strncmp(line, "#version", 8) == 0 || !strchr(line, ' ')) continue;
        if (rank >= BPE_SLOTS / 2 || bpe_put(b->pairs, line, rank++)) return -1;
    }
    return 0;
}

/* The two files of a folder, of `most` tokens. -1: they are not there, or something else. */
static inline int bpe_open(bpe *b, const char *folder, int32_t most) {
    char path[512];
    *b = (bpe){.pieces = calloc(BPE_SLOTS, sizeof(bpe_entry)), .pairs = calloc(BPE_SLOTS, sizeof(bpe_entry))};
    bpe_letters(b);
    snprintf(path, sizeof path, "%s/vocab.json", folder);
    char *vocabulary = bpe_read(path);
    snprintf(path, sizeof path, "%s/merges.txt", folder);
    char *merges = bpe_read(path);
    const int failed = !b->pieces || !b->pairs || !vocabulary || !merges ||
                       bpe_vocabulary(b, vocabulary, most) || bpe_merges(b, merges);
    free(vocabulary);
    free(merges);
    return failed ? -1 : 0;
}

static inline void bpe_close(bpe *b) {
    for (uint32_t i = 0; i < BPE_SLOTS; i++) {
        if (b->pieces) free(b->pieces[i].text);
        if (b->pairs) free(b->pairs[i].text);
    }
    free(b->pieces);
    free(b->pairs);
    free(b->of_number);
}

/* ---- words ---- */

static inline int bpe_kind(unsigned char c) {
    return isspace(c) ? 0 : isalpha(c) || c >= 0x80 ? 1 : isdigit(c) ? 2 : 3;
}

/* How long the first word of a text is: 's and the like; letters, digits or other signs with a blank before; blanks, of which the last one belongs to the
   word behind them. */
static inline size_t bpe_word(const char *text) {
    static const char *const ends[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strncmp(text, ends[i], strlen(ends[i])) == 0) return strlen(ends[i]);
    const size_t first = *text == ' ' && text[1] && bpe_kind((unsigned char)text[1]) != 0;
    const int kind = bpe_kind((unsigned char)text[first]);
    size_t end = first;
    while (text[end] && bpe_kind((unsigned char)text[end]) == kind) end++;
    if (kind == 0 && text[end] && end > 1) end--;
    return end;
}

/* Joins the pieces of a word, `count` of them, as long as a pair of neighbours is one of the merges: the one of the lowest rank. */
static inline size_t bpe_join(const bpe *b, char (*pieces)[BPE_PIECE], size_t count) {
    char pair[2 * BPE_PIECE];
    for (;;) {
        size_t best = count;
        int32_t rank = INT32_MAX;
        for (size_t i = 0; i + 1 < count; i++) {
            snprintf(pair, sizeof pair, "%s %s", pieces[i], pieces[i + 1]);
            const bpe_entry *entry = bpe_find(b->pairs, pair);
            if (entry->text && entry->number < rank) rank = entry->number, best = i;
        }
        if (best == count) return count;
        const size_t a = strlen(pieces[best]), more = strlen(pieces[best + 1]);
        if (a + more >= BPE_PIECE) return count;
        memcpy(pieces[best] + a, pieces[best + 1], more + 1);
        memmove(pieces[best + 1], pieces[best + 2], (count - best - 2) * sizeof *pieces);
        count--;
    }
}

/* The tokens of a text, at most `room`; -1 where a piece is none, or a word is too long. */
static inline int bpe_encode(const bpe *b, const char *text, int32_t *tokens, int room) {
    static char pieces[128][BPE_PIECE];
    int made = 0;
    for (size_t size; *text; text += size) {
        size = bpe_word(text);
        if (size > 128) return -1;
        for (size_t i = 0; i < size; i++) strcpy(pieces[i], b->letters[(unsigned char)text[i]]);
        const size_t count = bpe_join(b, pieces, size);
        for (size_t i = 0; i < count && made < room; i++) {
            const bpe_entry *entry = bpe_find(b->pieces, pieces[i]);
            if (!entry->text) return -1;
            tokens[made++] = entry->number;
        }
    }
    return made;
}

/* Writes a token's bytes. */
static inline void bpe_write(const bpe *b, int32_t token, FILE *to) {
    const char *text = token >= 0 && b->of_number ? b->of_number[token] : NULL;
    while (text && *text) {
        const size_t size = (unsigned char)*text < 0x80 ? 1 : 2;
        for (int byte = 0; byte < 256; byte++)
            if (strncmp(b->letters[byte], text, size) == 0 && !b->letters[byte][size]) {
                fputc(byte, to);
                break;
            }
        text += text[1] || size == 1 ? size : 1;
    }
}

#endif
