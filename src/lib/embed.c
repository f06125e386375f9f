/* Build tool: turns the library texts (src/lib/<name>.cl, given as arguments) and the names in builtins.def
   into constant tables, written to standard output as C (see src/front/library_index.h). A text file is a
   list of definitions: functions and `__constant` tables, without preprocessor directives. Comments and
   needless white space are dropped. Functions of float alone that are built-ins get a form for half around
   them where there is none: computed in float, rounded once more. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

enum { MAX_ENTRIES = 1000, MAX_ROWS = 2000, MAX_FILE = 1 << 20 };

typedef struct entry {
    char *name, *text;
    const char *element, *kind;
    bool is_pure;
    size_t offset;
} entry;

typedef struct row {
    const char *name, *text;
    unsigned index;
} row;

static row rows[] = {
#define ROW(name, kind, op, special, variant, text, needs, signature) {name, text, 0},
#include "front/builtins.def"
#undef ROW
};

static entry entries[MAX_ENTRIES];
static size_t num_entries;
static const size_t num_rows = sizeof rows / sizeof *rows;

static void fail(const char *what, const char *which) {
    fprintf(stderr, "embed: %s: %s\n", what, which);
    exit(1);
}

static char *copy(const char *text, size_t length) {
    char *result = malloc(length + 1);
    if (!result) fail("out of memory", "");
    memcpy(result, text, length);
    result[length] = 0;
    return result;
}

static bool is_word(int c) { return isalnum(c) || c == '_'; }

/* Whether `word` stands in `text` as a whole word (or as the start of one). */
static bool has_word(const char *text, const char *word, bool prefix) {
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !is_word(at[-1])) && (prefix || !is_word(at[length]))) return true;
    return false;
}

/* Drops comments, and white space that does not part two words or two signs. */
static char *squeeze(const char *text) {
    char *out = copy(text, strlen(text)), *to = out;
    bool space = false;
    for (const char *at = text; *at;) {
        if (at[0] == '/' && at[1] == '*') {
            at = strstr(at + 2, "*/");
            if (!at) fail("open comment", text);
            at += 2;
            space = true;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (isspace((unsigned char)*at)) {
            at++;
            space = true;
        } else {
            bool words = to > out && is_word(to[-1]) && is_word(*at);
            bool signs = to > out && strchr("+-&|<>=.*/", to[-1]) && strchr("+-&|<>=.*/", *at);
            if (space && (words || signs)) *to++ = ' ';
            *to++ = *at++;
            space = false;
        }
    }
    *to = 0;
    return out;
}

static char *word_before(const char *text, const char *end) {
    while (end > text && !is_word(end[-1])) end--;
    const char *start = end;
    while (start > text && is_word(start[-1])) start--;
    return copy(start, (size_t)(end - start));
}

static void add(char *text) {
    if (num_entries == MAX_ENTRIES) fail("too many definitions", text);
    entry *e = &entries[num_entries++];
    *e = (entry){.text = text, .element = "AST_VOID", .kind = "LIBRARY_FUNCTION", .is_pure = true};
    if (!strncmp(text, "__constant ", 11)) {
        e->name = word_before(text, strchr(text, '['));
        e->kind = "LIBRARY_DATA";
        return;
    }
    const char *open = strchr(text, '('), *close = strchr(text, ')');
    e->name = word_before(text, open);
    static const char *const elements[][2] = {
        {"half", "AST_HALF"}, {"float", "AST_FLOAT"}, {"double", "AST_DOUBLE"}};
    for (size_t i = 0; i < 3; i++)
        if (!strncmp(open + 1, elements[i][0], strlen(elements[i][0])) &&
            !is_word(open[1 + strlen(elements[i][0])]))
            e->element = elements[i][1];
    char *params = copy(open, (size_t)(close - open));
    e->is_pure = !strchr(params, '*') && !has_word(params, "P", false) && !has_word(text, "barrier", false) &&
                 !has_word(text, "sub_group_", true) && !has_word(text, "get_", true);
    free(params);
}

/* Cuts a squeezed file into its definitions. */
static void split(const char *text) {
    while (*text) {
        const char *at = text;
        int depth = 0;
        bool is_data = !strncmp(text, "__constant ", 11);
        for (;; at++) {
            if (!*at) fail("unfinished definition", text);
            depth += (*at == '{') - (*at == '}');
            if (depth == 0 && *at == (is_data ? ';' : '}')) break;
        }
        add(copy(text, (size_t)(at + 1 - text)));
        text = at + 1;
    }
}

/* The first built-in that a text makes, or NULL. */
static const char *builtin_of(const char *text) {
    for (size_t i = 0; i < num_rows; i++)
        if (rows[i].text && !strcmp(rows[i].text, text)) return rows[i].name;
    return NULL;
}

static bool has_entry(const char *name, const char *element) {
    for (size_t i = 0; i < num_entries; i++)
        if (!strcmp(entries[i].name, name) && !strcmp(entries[i].element, element)) return true;
    return false;
}

/* half f(half a, int b) { return (half)f((float)a, b); } */
static void add_half_forms(void) {
    for (size_t i = 0, count = num_entries; i < count; i++) {
        const entry *e = &entries[i];
        const char *builtin = builtin_of(e->name);
        if (strcmp(e->element, "AST_FLOAT") || !builtin || has_entry(e->name, "AST_HALF")) continue;
        char text[800], call[200] = "", params[200] = "";
        bool gives_float = !strncmp(e->text, "float ", 6);
        const char *at = strchr(e->text, '(');
        for (char name = 'a'; *at != ')'; name++) {
            bool is_float = !strncmp(at + 1, "float ", 6);
            const char *comma = name > 'a' ? "," : "";
            size_t used = strlen(params), called = strlen(call);
            snprintf(params + used, sizeof params - used, "%s%s %c", comma, is_float ? "half" : "int", name);
            snprintf(call + called, sizeof call - called, "%s%s%c", comma, is_float ? "(float)" : "", name);
            at += 1 + strcspn(at + 1, ",)");
        }
        snprintf(text, sizeof text, "%s %s(%s){return %s%s(%s);}", gives_float ? "half" : "int", e->name,
                 params, gives_float ? "(half)" : "", builtin, call);
        add(copy(text, strlen(text)));
    }
}

static int by_name(const void *a, const void *b) {
    const entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->element, y->element);
}

static int rows_by_name(const void *a, const void *b) {
    const row *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Prints a hash table over `count` sorted names: slots hold the span of equal names. */
static void print_slots(const char *what, const char *(*name)(size_t index), size_t count) {
    size_t size = 16;
    while (size < 2 * count) size *= 2;
    unsigned(*slots)[2] = calloc(size, sizeof *slots);
    if (!slots) fail("out of memory", "");
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && !strcmp(name(i), name(next));) next++;
        size_t slot = qn__hash(name(i), strlen(name(i)), 0) & (size - 1);
        while (slots[slot][1]) slot = (slot + 1) & (size - 1);
        slots[slot][0] = (unsigned)i;
        slots[slot][1] = (unsigned)(next - i);
    }
    printf("const uint32_t qn__%s_mask = %zu;\nconst front_span qn__%s_slots[] = {", what, size - 1, what);
    for (size_t i = 0; i < size; i++) printf("%s{%u, %u},", i % 8 ? " " : "\n    ", slots[i][0], slots[i][1]);
    printf("\n};\n");
    free(slots);
}

static const char *entry_name(size_t index) { return entries[index].name; }
static const char *row_name(size_t index) { return rows[index].name; }

static void print_texts(void) {
    size_t offset = 0;
    printf("static const char texts[] = {");
    for (size_t i = 0; i < num_entries; i++) {
        entries[i].offset = offset;
        size_t length = strlen(entries[i].text) + 1;
        for (size_t k = 0; k < length; k++, offset++)
            printf("%s%d,", offset % 24 ? "" : "\n    ", entries[i].text[k]);
    }
    printf("\n};\n");
    printf("const uint32_t qn__library_count = %zu;\nconst front_library_entry qn__library_entries[] = {\n",
           num_entries);
    for (size_t i = 0; i < num_entries; i++)
        printf("    {\"%s\", %s, %s, %d, texts + %zu, %zu},\n", entries[i].name, entries[i].kind,
               entries[i].element, entries[i].is_pure, entries[i].offset, strlen(entries[i].text));
    printf("};\n");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        char *text = calloc(1, MAX_FILE);
        if (!file || !text) fail("cannot read", argv[i]);
        if (fread(text, 1, MAX_FILE, file) == MAX_FILE) fail("too large", argv[i]);
        fclose(file);
        char *squeezed = squeeze(text);
        split(squeezed);
        free(squeezed);
        free(text);
    }
    add_half_forms();
    qsort(entries, num_entries, sizeof *entries, by_name);
    for (size_t i = 0; i < num_rows; i++) rows[i].index = (unsigned)i;
    qsort(rows, num_rows, sizeof *rows, rows_by_name);

    printf("#include \"front/library_index.h\"\n\n");
    print_texts();
    print_slots("library", entry_name, num_entries);
    print_slots("builtin", row_name, num_rows);
    printf("const uint16_t qn__builtin_order[] = {");
    for (size_t i = 0; i < num_rows; i++) printf("%s%u,", i % 20 ? " " : "\n    ", rows[i].index);
    printf("\n};\n");
    return 0;
}
