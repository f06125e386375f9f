/* Overload resolution of the built-in functions: which form a call means, what its arguments become, and what
   is said when none fits. */
#include "front_help.h"

#include "front/library.h"

/* Types of the arguments, diverged by spaces; g, l, p, c in front of a colon: a pointer to that space. The form
   as "KIND result: parameters", or the message. */
static const struct call {
    const char *name, *args, *form;
} calls[] = {
    {"exp", "float", "MAP float: float"},
    {"exp", "half8", "MAP half8: half8"},
    {"exp", "int", "MAP float: float"},
    {"pow", "float4 float", "MAP float4: float4 float4"},
    {"pow", "float double", "MAP double: double double"},
    {"pow", "double3 int", "MAP double3: double3 double3"},
    {"pown", "float2 int2", "MAP float2: float2 int2"},
    {"ldexp", "double4 int", "MAP double4: double4 int4"},
    {"fma", "float16 float16 float16", "OP float16: float16 float16 float16"},
    {"floor", "double", "OP double: double"},
    {"fract", "float2 l:float2", "LIB float2: float2 l:float2"},
    {"frexp", "double g:int", "LIB double: double g:int"},
    {"nan", "ulong2", "LIB double2: ulong2"},
    {"max", "int uint", "OP uint: uint uint"},
    {"max", "uchar int", "OP int: int int"},
    {"max", "float int", "LIB float: float float"},
    {"max", "short4 short4", "OP short4: short4 short4"},
    {"min", "ulong int", "OP ulong: ulong ulong"},
    {"clamp", "float4 float float", "LIB float4: float4 float4 float4"},
    {"abs", "char3", "LIB uchar3: char3"},
    {"abs", "uint", "LIB uint: uint"},
    {"upsample", "short2 ushort2", "LIB int2: short2 ushort2"},
    {"upsample", "uint uint", "LIB ulong: uint uint"},
    {"isequal", "double2 double2", "LIB long2: double2 double2"},
    {"isequal", "double double", "LIB int: double double"},
    {"any", "short16", "LIB int: short16"},
    {"select", "float4 float4 uint4", "SPECIAL float4: float4 float4 uint4"},
    {"select", "double double int", "SPECIAL double: double double long"},
    {"dot", "float3 float3", "LIB float: float3 float3"},
    {"cross", "double4 double4", "LIB double4: double4 double4"},
    {"shuffle", "uchar16 uchar4", "SPECIAL uchar4: uchar16 uchar4"},
    {"shuffle2", "float2 float2 uint8", "SPECIAL float8: float2 float2 uint8"},
    {"vload4", "int g:float", "SPECIAL float4: ulong g:float"},
    {"vload3", "ulong c:uchar", "SPECIAL uchar3: ulong c:uchar"},
    {"vstore16", "int16 uint l:int", "SPECIAL void: int16 ulong l:int"},
    {"vstore_half2", "double2 int g:half", "SPECIAL void: double2 ulong g:half"},
    {"get_global_id", "int", "SPECIAL ulong: uint"},
    {"atomic_add", "l:uint int", "SPECIAL uint: l:uint uint"},
    {"atomic_xchg", "g:float int", "SPECIAL float: g:float float"},
    {"atomic_fetch_add_explicit", "g:ulong int int int", "SPECIAL ulong: g:ulong ulong int int"},
    {"work_group_reduce_add", "half", "SPECIAL half: half"},
    {"sub_group_shuffle_xor", "float4 int", "SPECIAL float4: float4 uint"},
    {"async_work_group_copy", "l:float4 g:float4 int int", "LIB event_t: l:float4 g:float4 ulong event_t"},

    {"exp", "float float", "'exp' takes 1 argument, not 2"},
    {"shuffle", "float4", "'shuffle' takes 2 arguments, not 1"},
    {"exp", "g:float", "argument 1 of 'exp' is of type '__global float*', but 'float' is needed"},
    {"pow", "float4 float3", "no form of 'pow' takes (float4, float3)"},
    {"pow", "float4 int4", "no form of 'pow' takes (float4, int4)"},
    {"rotate", "float float", "no form of 'rotate' takes (float, float)"},
    {"cross", "float2 float2", "no form of 'cross' takes (float2, float2)"},
    {"atomic_add", "p:int int",
     "argument 1 of 'atomic_add' is of type 'int*', but a pointer to 'int' in __global or __local memory is "
     "needed"},
    {"vload4", "int g:float4", "no form of 'vload4' takes (int, __global float4*)"},
};

static const ast_type *read_type(front_context *context, const char **text) {
    const char *at = *text;
    size_t length = strcspn(at, " ");
    *text = at + length + strspn(at + length, " ");
    const char *const spaces = "pgcl"; /* in the order of ir_space */
    unsigned space = at[1] == ':' ? (unsigned)(strchr(spaces, at[0]) - spaces) : 0;
    bool is_pointer = at[1] == ':', is_unsupported;
    if (is_pointer) at += 2, length -= 2;
    const ast_type *type = qn__type_by_name(&context->types, (qn__str){at, length}, &is_unsupported);
    assert_non_null(type);
    if (!is_pointer) return type;
    return qn__type_pointer(&context->types, qn__type_qualified(&context->types, type, 0, space));
}

static void print_type(qn__buf *out, qn__arena *arena, const ast_type *type) {
    if (type->kind == AST_POINTER) {
        qn__buf_printf(out, " %c:", "pgcl"[type->base->space]);
        qn__buf_puts(out, qn__type_name(arena, type->base->unqualified));
    } else {
        qn__buf_printf(out, " %s", qn__type_name(arena, type));
    }
}

static const char *form_of(front_context *context, const struct call *call) {
    const ast_type *args[8];
    uint32_t count = 0;
    for (const char *at = call->args; *at;) args[count++] = read_type(context, &at);
    front_resolved r;
    const char *message = NULL, *hint = NULL;
    front_resolution found =
        qn__builtin_resolve(context, qn__str_of(call->name), args, count, &r, &message, &hint);
    if (found == RESOLUTION_FAIL) {
        assert_non_null(hint);
        return message;
    }
    assert_int_equal(found, RESOLUTION_OK);
    static const char *const kinds[] = {"OP", "LIB", "MAP", "SPECIAL"};
    unsigned kind = r.builtin.builtin_kind;
    bool is_library = kind == BUILTIN_LIB || kind == BUILTIN_LIB_MAP;
    assert_true(is_library == (r.library != NULL) && is_library == (r.num_bindings > 0));
    qn__buf out;
    qn__buf_init(&out, context->arena);
    qn__buf_puts(&out, kinds[kind]);
    print_type(&out, context->arena, r.result);
    qn__buf_putc(&out, ':');
    for (uint32_t i = 0; i < r.num_params; i++) print_type(&out, context->arena, r.params[i]);
    return out.data;
}

static void test_calls(void **state) {
    (void)state;
    help h;
    help_start(&h);
    front_context context = {.arena = &h.arena, .sources = &h.sources, .diag = &h.diag, .target = h.target};
    qn__front_context_init(&context);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_string_equal(form_of(&context, &calls[i]), calls[i].form);
    help_stop(&h);
}

static void test_names(void **state) {
    (void)state;
    assert_true(qn__builtin_exists(QN__STR("smoothstep")));
    assert_false(qn__builtin_exists(QN__STR("smoothest")));
    assert_false(qn__builtin_exists(QN__STR("")));
    assert_string_equal(qn__builtin_suggest(QN__STR("get_globl_id")), "get_global_id");
    assert_string_equal(qn__builtin_suggest(QN__STR("sqr")), "sqrt");
    assert_null(qn__builtin_suggest(QN__STR("something_else_entirely")));
}

/* The form for an element type comes before the generic one, which comes before none. */
static void test_library(void **state) {
    (void)state;
    assert_int_equal(qn__library_find(QN__STR("exp"), AST_DOUBLE)->element, AST_DOUBLE);
    assert_int_equal(qn__library_find(QN__STR("exp"), AST_HALF)->element, AST_HALF);
    assert_int_equal(qn__library_find(QN__STR("mix"), AST_HALF)->element, AST_VOID);
    assert_null(qn__library_find(QN__STR("exp"), AST_INT));
    assert_null(qn__library_find(QN__STR("no_such_text"), AST_VOID));
    assert_int_equal(qn__library_find(QN__STR("two_over_pi"), AST_VOID)->library_kind, LIBRARY_DATA);
    assert_true(qn__library_find(QN__STR("exp"), AST_FLOAT)->is_pure);
    assert_false(qn__library_find(QN__STR("wait_group_events"), AST_VOID)->is_pure);
}

int main(void) {
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_names),
                                              cmocka_unit_test(test_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
