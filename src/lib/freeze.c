/* Build tool: compiles functions of the kernel-side library for the types that kernels call them with most, and
   writes their optimised IR to standard output as constant data in C (see src/front/frozen.h). Each row of
   builtins.def that a text makes is called by a kernel of its own, for float, int and uint of up to four lanes; the
   function it calls is then inlined into, cleaned up and packed. Rows with pointers stay texts, for their types are
   many. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/frozen.h"
#include "front/library_index.h"
#include "front/lower/lower.h"
#include "pass/pass.h"

enum { MAX_FUNCTIONS = 4000, MAX_TABLES = 100, MAX_LANES = 4 };

typedef enum { BY_LIB, BY_LIB_MAP, BY_OP, BY_SPECIAL } making;

typedef struct row {
    const char *name;
    making made;
    const char *text, *signature;
} row;

static const row rows[] = {
#define ROW(name, kind, op, special, variant, text, needs, signature) {name, BY_##kind, text, signature},
#include "front/builtins.def"
#undef ROW
};

static front_frozen functions[MAX_FUNCTIONS];
static size_t num_functions;
static ir_global tables[MAX_TABLES];
static uint32_t num_tables;
static ir_packed words;
static qn__arena kept; /* what is written at the end */
static jmp_buf no_memory;

static void fail(const char *what, const char *which) {
    fprintf(stderr, "freeze: %s: %s\n", what, which);
    exit(1);
}

/* ---- a call as text ---- */

static const struct {
    ast_kind kind;
    const char *name, *classes; /* letters of builtins.def that it belongs to */
} elements[] = {
    {AST_FLOAT, "float", "nfoac"}, {AST_INT, "int", "nikqKjacx"}, {AST_UINT, "uint", "niyqYjacXz"}};

/* The type that a letter of a signature stands for; NULL: none that is tried here. Moves on behind it. */
static const char *type_text(const char **at, const char *element, unsigned lanes, qn__arena *arena) {
    static const struct {
        char letter;
        const char *name;
    } fixed[] = {{'c', "char"}, {'i', "int"},  {'u', "uint"}, {'l', "long"}, {'z', "ulong"}, {'f', "float"},
                 {'I', "int"},  {'U', "uint"}, {'D', "int"},  {'R', "int"},  {'N', "float"}};
    const char letter = *(*at)++, *name = letter == 'T' || letter == 'S' ? element : NULL;
    for (size_t i = 0; i < QN__COUNT(fixed); i++)
        if (fixed[i].letter == letter) name = fixed[i].name;
    if (letter == 'W') name = !strcmp(element, "int") ? "long" : !strcmp(element, "uint") ? "ulong" : NULL;
    if (strchr("ciulzfS", letter)) lanes = 1;
    if (**at >= '2' && **at <= '8') lanes = (unsigned)(*(*at)++ - '0');
    if (!name || **at == 'x') return NULL;
    return lanes == 1 ? name : qn__arena_printf(arena, "%s%u", name, lanes);
}

/* A kernel that calls the row's function; NULL: it takes or gives what is not tried here. */
static const char *caller_of(const row *r, const char *element, unsigned lanes, qn__arena *arena) {
    const char *at = strchr(r->signature, ':') + 1;
    const char *result = type_text(&at, element, lanes, arena);
    qn__buf params, args;
    qn__buf_init(&params, arena);
    qn__buf_init(&args, arena);
    for (char name = 'a'; result && *at; name++) {
        const char *type = type_text(&at, element, lanes, arena);
        if (!type) return NULL;
        qn__buf_printf(&params, ", %s %c", type, name);
        qn__buf_printf(&args, "%s%c", name == 'a' ? "" : ", ", name);
    }
    if (!result || !args.len) return NULL;
    return qn__arena_printf(arena, "kernel void caller(global %s *result%s) { *result = %s(%s); }", result,
                            params.data, r->name, args.data);
}

/* ---- compiling it ---- */

static ir_module *compile(qn__arena *arena, const char *text) {
    front_sources sources = {0};
    front_diag diag = {0};
    front_names names = {0};
    front_options options = {0};
    if (qn__options_parse(arena, NULL, &options)) return NULL;
    qn__sources_init(&sources, arena, NULL, NULL);
    qn__diag_init(&diag, arena, &sources);
    qn__names_init(&names, arena);
    front_pp_config pp = {
        .arena = arena, .sources = &sources, .diag = &diag, .names = &names, .options = &options};
    front_context context = {.arena = arena, .sources = &sources, .diag = &diag, .options = &options};
    lower_config lowering = {.arena = arena, .sources = &sources, .diag = &diag, .options = &options};
    front_tokens tokens = qn__pp_run(&pp, qn__source_add(&sources, "caller.cl", qn__str_of(text)));
    qn__front_context_init(&context);
    ast_unit *unit = qn__parse(&context, tokens);
    ir_module *module = diag.errors ? NULL : qn__lower(&lowering, unit);
    return diag.errors ? NULL : module;
}

static void run_passes(ir_module *module, const char *const *names) {
    const qn__pass_options options = {.level = 2};
    const char *error = NULL;
    for (; *names && !error; names++)
        if (!qn__pass_run_one(module, *names, &options, &error)) error = "no such pass";
    if (error) fail("passes", error);
}

/* The function takes the kernel's place, so that the inliner keeps it and nothing else. */
static void optimise(ir_module *module, ir_function *function) {
    static const char *const before[] = {"mem2reg", "simplify", "flow",   "ifconvert",
                                         "cse",     "dce",      "inline", NULL};
    static const char *const behind[] = {"sroa",      "mem2reg", "simplify", "flow",
                                         "ifconvert", "cse",     "dce",      NULL};
    enum { ROUNDS = 3 };
    for (size_t i = 0; i < module->functions.len; i++)
        module->functions.data[i]->is_kernel = module->functions.data[i] == function;
    run_passes(module, before);
    for (unsigned round = 0; round < ROUNDS; round++) run_passes(module, behind);
    function->is_kernel = false;
    const char *broken = qn__ir_verify(module->arena, module);
    if (broken) fail(function->name, broken);
}

/* ---- keeping it ---- */

static uint32_t table_of(const ir_global *global) {
    for (uint32_t i = 0; i < num_tables; i++)
        if (!strcmp(tables[i].name, global->name)) return i;
    if (num_tables == MAX_TABLES) fail("too many tables", global->name);
    if (global->relocations.len || global->size > UINT32_MAX) fail("table", global->name);
    tables[num_tables] = *global;
    tables[num_tables].name = qn__arena_strdup(&kept, global->name);
    tables[num_tables].data = qn__arena_copy(&kept, global->data, (size_t)global->size);
    return num_tables++;
}

/* Tables are shared by all functions; their index is that of the library's list from now on. */
static void rename_table(ir_instr *instr, void *user) {
    const ir_module *module = user;
    if (instr->op == IR_GLOBAL) instr->attr.index = table_of(&module->globals.data[instr->attr.index]);
}

static bool is_known(front_frozen wanted) {
    for (size_t i = 0; i < num_functions; i++)
        if (functions[i].entry == wanted.entry && functions[i].element == wanted.element &&
            functions[i].lanes == wanted.lanes)
            return true;
    return false;
}

static void freeze(qn__arena *arena, const row *r, ast_kind element, const char *name, unsigned lanes) {
    const front_library_entry *entry = qn__library_find(qn__str_of(r->text), element);
    const char *text = caller_of(r, name, lanes, arena);
    if (!entry || !text) return;
    front_frozen function = {.entry = (uint16_t)(entry - qn__library_entries),
                             .element = (uint8_t)element,
                             .lanes = (uint8_t)lanes,
                             .first = (uint32_t)words.len};
    if (is_known(function)) return;
    ir_module *module = compile(arena, text);
    ir_function *callee = module ? qn__ir_function_find(module, qn__str_of(entry->name)) : NULL;
    if (!callee || callee->is_kernel) return;
    optimise(module, callee);
    qn__ir_walk(callee->body, rename_table, module);
    const size_t before = words.len;
    if (!qn__ir_pack(&kept, callee, &words)) {
        words.len = before;
        return;
    }
    if (num_functions == MAX_FUNCTIONS) fail("too many functions", r->name);
    functions[num_functions++] = function;
}

static void freeze_row(const row *r) {
    qn__arena arena;
    const char class_letter = r->signature[0], lanes_letter = r->signature[1];
    const char *params = strchr(r->signature, ':') + 1;
    if (!r->text || strpbrk(params, "*&%$@.mMvbhde")) return;
    for (size_t e = 0; e < QN__COUNT(elements); e++)
        for (unsigned lanes = 1; lanes <= MAX_LANES; lanes++) {
            const bool is_generic = class_letter != '-';
            if (is_generic ? !strchr(elements[e].classes, class_letter) : e || lanes > 1) continue;
            if ((r->made == BY_LIB_MAP || lanes_letter == 's') && lanes > 1) continue;
            if (lanes_letter == 'v' && lanes == 1) continue;
            if (lanes_letter >= '1' && lanes_letter <= '8' && lanes != (unsigned)(lanes_letter - '0'))
                continue;
            if (is_generic && !strchr(params + 1, 'T') && !strchr(params + 1, 'S')) continue;
            qn__arena_init(&arena, NULL, 0);
            arena.escape = &no_memory;
            freeze(&arena, r, is_generic ? elements[e].kind : AST_VOID, elements[e].name, lanes);
            qn__arena_free(&arena);
        }
}

/* ---- writing ---- */

static int by_key(const void *a, const void *b) {
    const front_frozen *x = a, *y = b;
    if (x->entry != y->entry) return x->entry < y->entry ? -1 : 1;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x->lanes > y->lanes) - (x->lanes < y->lanes);
}

static void print_tables(void) {
    for (uint32_t i = 0; i < num_tables; i++) {
        printf("static const uint8_t table%u[] = {", (unsigned)i);
        for (uint64_t k = 0; k < tables[i].size; k++)
            printf("%s%u,", k % 24 ? "" : "\n    ", (unsigned)tables[i].data[k]);
        printf("\n};\n");
    }
    printf("static const front_frozen_table tables[] = {\n");
    for (uint32_t i = 0; i < num_tables; i++)
        printf("    {\"%s\", table%u, %u, %u, {%u, %u, %u}},\n", tables[i].name, (unsigned)i,
               (unsigned)tables[i].size, (unsigned)tables[i].align, tables[i].element.kind,
               tables[i].element.lanes, tables[i].element.space);
    printf("    {0}};\n");
}

static void print_all(void) {
    printf("#include \"front/frozen.h\"\n\nstatic const uint16_t words[] = {");
    for (size_t i = 0; i < words.len; i++) printf("%s%u,", i % 20 ? "" : "\n    ", words.data[i]);
    printf("\n};\nstatic const front_frozen functions[] = {\n");
    for (size_t i = 0; i < num_functions; i++)
        printf("    {%u, %u, %u, %u},\n", functions[i].entry, functions[i].element, functions[i].lanes,
               (unsigned)functions[i].first);
    printf("};\n");
    print_tables();
    printf("const front_frozen_library qn__frozen_library = {functions, %zu, words, tables, %u};\n",
           num_functions, (unsigned)num_tables);
}

int main(void) {
    qn__arena_init(&kept, NULL, 0);
    kept.escape = &no_memory;
    if (setjmp(no_memory)) fail("out of memory", "");
    for (size_t i = 0; i < QN__COUNT(rows); i++) freeze_row(&rows[i]);
    qsort(functions, num_functions, sizeof *functions, by_key);
    print_all();
    qn__arena_free(&kept);
    return 0;
}
