/* The kernel's printf (OpenCL C 6.15.14): C's conversions plus vectors, `%v4hlf`. The values come packed as
   emit/cpu_abi.h says; each conversion is formatted by the C library's snprintf and the whole call printed at
   once. GPUs leave records of calls in a buffer (emit/gpu_abi.h), which are printed after the launch. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"

/* Beyond so many characters of a width or precision C leaves it to the library, which would write two billion blanks
   before it finds out how few of them have room. */
enum { MOST_CHARACTERS = 4095, MAX_OUTPUT = 16 << 10 /* bytes of one call */ };

typedef struct output {
    char text[MAX_OUTPUT + 1]; /* and snprintf's zero */
    size_t length;
} output;

typedef struct values {
    const unsigned char *at, *begin, *end;
    bool failed;
    qn__print_string *string;
    void *user;
} values;

/* One conversion: "%" flags width .precision, vector size, length, conversion letter. */
typedef struct conversion {
    char flags[24]; /* "%-08.3" */
    unsigned lanes;
    char length[3]; /* "", "hh", "h", "hl", "l" */
    char letter;
} conversion;

static uint64_t take(values *v, size_t size) {
    uint64_t word = 0;
    size_t offset = (size_t)(v->at - v->begin);
    offset = (offset + size - 1) / size * size;
    if (offset + size > (size_t)(v->end - v->begin))
        v->failed = true;
    else
        memcpy(&word, v->begin + offset, size);
    v->at = v->failed ? v->end : v->begin + offset + size;
    return word;
}

static void append(output *out, const char *text, size_t length) {
    if (length > MAX_OUTPUT - out->length) length = MAX_OUTPUT - out->length;
    memcpy(out->text + out->length, text, length);
    out->length += length;
}

/* Reads a number of digits, and steps over them. */
static unsigned read_characters(const char **at) {
    unsigned value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (value <= MOST_CHARACTERS) value = value * 10 + (unsigned)(**at - '0');
    return value < MOST_CHARACTERS ? value : MOST_CHARACTERS;
}

/* Flags, width and precision as snprintf gets them, each flag once. */
static const char *read_flags(const char *at, conversion *c) {
    static const char known[] = "-+ #0";
    size_t n = 0;
    c->flags[n++] = '%';
    for (const char *flag = known; *flag; flag++)
        if (memchr(at, *flag, strspn(at, known))) c->flags[n++] = *flag;
    at += strspn(at, known);
    const unsigned width = read_characters(&at);
    if (width) n += (size_t)snprintf(c->flags + n, sizeof c->flags - n, "%u", width);
    c->flags[n] = 0;
    if (*at != '.') return at;
    at++;
    snprintf(c->flags + n, sizeof c->flags - n, ".%u", read_characters(&at));
    return at;
}

/* Reads the conversion behind a percent sign; NULL if it is none. */
static const char *read_conversion(const char *at, conversion *c) {
    at = read_flags(at, c);
    c->lanes = 1;
    if (*at == 'v') {
        if (at[1] < '1' || at[1] > '8') return NULL;
        c->lanes = (unsigned)(at[1] - '0');
        at += 2;
        if (c->lanes == 1 && *at == '6') c->lanes = 16, at++;
        if (c->lanes < 2 || c->lanes > 16) return NULL;
    }
    size_t length = strspn(at, "hlzjt");
    if (length > 2) return NULL;
    memcpy(c->length, at, length);
    c->length[length] = 0;
    c->letter = at[length];
    return c->letter ? at + length + 1 : NULL;
}

/* Bytes of one packed value. Scalars are promoted as in a C call; lanes of a vector have their own size. */
static size_t value_size(const conversion *c) {
    bool vector = c->lanes > 1, real = strchr("fFeEgGaA", c->letter) != NULL;
    if (strcmp(c->length, "l") == 0 || strcmp(c->length, "ll") == 0 ||
        strchr("zjt", c->length[0] ? c->length[0] : 'x'))
        return 8;
    if (vector && strcmp(c->length, "hh") == 0) return 1;
    if (vector && strcmp(c->length, "h") == 0) return 2;
    if (real) return vector ? 4 : 8;
    return 4;
}

static double half_value(uint64_t bits) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024, scale = 1.0 / 16384, value;
    if (exponent == 31)
        value = bits & 1023 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = fraction * scale;
    else {
        value = (1 + fraction) * scale;
        for (int i = 1; i < exponent; i++) value *= 2;
    }
    return bits >> 15 & 1 ? -value : value;
}

static double real_value(uint64_t bits, size_t size) {
    float narrow;
    double wide;
    if (size == 2) return half_value(bits);
    memcpy(&narrow, &bits, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    return size == 4 ? (double)narrow : wide;
}

static int64_t sign_extend(uint64_t bits, size_t size) {
    unsigned shift = 64 - 8 * (unsigned)size;
    return (int64_t)(bits << shift) >> shift;
}

/* Takes the end of what snprintf has just written behind the text so far; `n` is its result. */
static void advance(output *out, int n) {
    size_t room = MAX_OUTPUT - out->length;
    if (n > 0) out->length += (size_t)n < room ? (size_t)n : room;
}

static void put_one(output *out, const conversion *c, uint64_t bits, size_t size) {
    char format[64], *text = out->text + out->length;
    size_t room = sizeof out->text - out->length;
    int n;
    if (strchr("fFeEgGaA", c->letter)) {
        snprintf(format, sizeof format, "%s%c", c->flags, c->letter);
        n = snprintf(text, room, format, real_value(bits, size));
    } else if (c->letter == 'd' || c->letter == 'i') {
        size_t narrow = strcmp(c->length, "hh") == 0 ? 1 : strcmp(c->length, "h") == 0 ? 2 : size;
        snprintf(format, sizeof format, "%sll%c", c->flags, c->letter);
        n = snprintf(text, room, format, (long long)sign_extend(bits, narrow));
    } else if (c->letter == 'c') {
        snprintf(format, sizeof format, "%sc", c->flags);
        n = snprintf(text, room, format, (int)(unsigned char)bits);
    } else {
        if (strcmp(c->length, "hh") == 0) bits &= 0xFF;
        if (strcmp(c->length, "h") == 0) bits &= 0xFFFF;
        snprintf(format, sizeof format, "%sll%c", c->flags, c->letter);
        n = snprintf(text, room, format, (unsigned long long)bits);
    }
    advance(out, n);
}

static void put_string(output *out, const conversion *c, const char *string) {
    char format[64];
    snprintf(format, sizeof format, "%ss", c->flags);
    advance(out, snprintf(out->text + out->length, sizeof out->text - out->length, format,
                          string ? string : "(null)"));
}

/* False for a conversion that does not exist. */
static bool put_conversion(output *out, const conversion *c, values *v) {
    if (c->letter == 's') {
        uint64_t word = take(v, 8);
        put_string(out, c, v->failed ? NULL : v->string(v->user, word));
        return true;
    }
    if (c->letter == 'p') {
        char text[32];
        int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)take(v, 8));
        append(out, text, (size_t)n);
        return true;
    }
    if (!strchr("diouxXcfFeEgGaA", c->letter)) return false;
    size_t size = value_size(c);
    for (unsigned lane = 0; lane < c->lanes; lane++) {
        if (lane) append(out, ",", 1);
        put_one(out, c, take(v, size), size);
    }
    return true;
}

int32_t qn__print_call(const qn__services *services, const char *format, const unsigned char *packed,
                       uint64_t size, qn__print_string *string, void *user) {
    values v = {packed, packed, packed + size, false, string, user};
    output out;
    out.length = 0;
    for (const char *at = format; *at && out.length < MAX_OUTPUT;) {
        const char *percent = strchr(at, '%');
        append(&out, at, percent ? (size_t)(percent - at) : strlen(at));
        if (!percent) break;
        at = percent + 1;
        if (*at == '%') {
            append(&out, "%", 1);
            at++;
            continue;
        }
        conversion c;
        at = read_conversion(at, &c);
        if (!at || !put_conversion(&out, &c, &v)) return -1;
    }
    services->print(services->print_user, out.text, out.length);
    return v.failed ? -1 : 0;
}

/* ---- records ---- */

/* A word of a %s argument: index of the object << 32 | offset in it. */
static const char *record_string(void *user, uint64_t word) {
    const qn__code_info *code = user;
    uint64_t index = word >> 32, offset = word & UINT32_MAX;
    if (index >= code->num_strings || !code->strings[index]) return NULL;
    return offset <= strlen(code->strings[index]) ? code->strings[index] + offset : NULL;
}

static uint32_t word_at(const unsigned char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

enum { RECORD_HEADER = 8 };

uint64_t qn__print_filled(const unsigned char *header) {
    const uint32_t capacity = word_at(header), asked = word_at(header + 4);
    return asked < capacity ? asked : capacity;
}

/* What the device wrote is not trusted: a record that cannot be one ends the list. The first record that did not
   fit leaves its place as it was, which the backend cleared before the launch: size 0. */
void qn__print_records(const qn__services *services, const qn__code_info *code, const unsigned char *buffer,
                       uint64_t size) {
    if (size < QN__PRINT_HEADER) return;
    uint64_t capacity = word_at(buffer), asked = word_at(buffer + 4), end = qn__print_filled(buffer);
    if (end > size - QN__PRINT_HEADER) end = size - QN__PRINT_HEADER;
    const unsigned char *records = buffer + QN__PRINT_HEADER;
    for (uint64_t at = 0; end - at >= RECORD_HEADER;) {
        uint32_t length = word_at(records + at), format = word_at(records + at + 4);
        if (length < RECORD_HEADER || length % 8 || length > end - at) break;
        if (format < code->num_strings && code->strings[format])
            qn__print_call(services, code->strings[format], records + at + RECORD_HEADER,
                           length - RECORD_HEADER, record_string, (void *)code);
        at += length;
    }
    if (asked <= capacity) return;
    char text[128];
    snprintf(text, sizeof text, "printf: a launch printed more than %llu bytes; the rest is lost",
             (unsigned long long)capacity);
    services->log(services->log_user, QN_LOG_WARNING, text);
}

/* ---- what is to be printed ---- */

void qn__prints_add(qn__prints *prints, qn__print *print, uint64_t number) {
    print->next = NULL;
    print->number = number;
    if (prints->last)
        prints->last->next = print;
    else
        prints->first = print;
    prints->last = print;
    prints->count++;
}

qn__print *qn__prints_take(qn__prints *prints, uint64_t done) {
    qn__print *print = prints->first;
    if (!print || print->number > done) return NULL;
    prints->first = print->next;
    if (!prints->first) prints->last = NULL;
    prints->count--;
    return print;
}
