/* Images and samplers (OpenCL C 6.3.1, 6.15.15). No device of quern has them, but files of kernels share headers that
   declare samplers and helpers for images. So they are parsed and checked like all else, every function that touches
   one is noted, and neither it nor its callers are lowered: a kernel among them is refused when it is created, the
   others of the file run. */
#include "front/parse/parser.h"

#include <string.h>

/* ---- who touches one ---- */

bool qn__type_is_opaque(const ast_type *type) { return type->kind == AST_OPAQUE; }

void qn__touch_image(front_parser *p, front_loc loc, const char *what) {
    ast_decl *function = p->function;
    if (!function || function->opaque_use) return;
    function->opaque_use = what;
    function->opaque_loc = loc;
}

void qn__touch_image_type(front_parser *p, const ast_type *type, front_loc loc) {
    while (type->kind == AST_ARRAY || type->kind == AST_POINTER) type = type->base;
    if (qn__type_is_opaque(type)) qn__touch_image(p, loc, qn__type_text(p, type->unqualified));
}

/* ---- kernels without them ---- */

static void refuse_kernel(front_context *context, const ast_decl *kernel) {
    front_diag *diag = context->diag;
    qn__diag_warning(
        diag, FRONT_WARN_IMAGE, kernel->loc,
        "kernel '%s' uses '%s': quern has no images or samplers, so the kernel cannot be created",
        kernel->name, kernel->opaque_use);
    qn__diag_hint(diag, "pass the pixels in a __global buffer");
    qn__diag_note(diag, kernel->opaque_loc, "it is used here");
    ast_refusal refusal = {kernel->name, kernel->opaque_use, kernel->opaque_loc};
    qn__vec_push(context->arena, &context->unit->refused, refusal);
}

void qn__refuse_images(front_context *context) {
    ast_unit *unit = context->unit;
    size_t kept = 0;
    for (size_t i = 0; i < unit->functions.len; i++) {
        ast_decl *function = unit->functions.data[i];
        if (!function->opaque_use)
            unit->functions.data[kept++] = function;
        else if (function->is_kernel)
            refuse_kernel(context, function);
    }
    unit->functions.len = kept;
}

/* ---- built-in functions ---- */

typedef enum image_result { IMAGE_READ, IMAGE_NOTHING, IMAGE_INT, IMAGE_SIZE, IMAGE_DIM } image_result;

static const struct image_row {
    const char *name;
    image_result result;
    ast_kind element; /* IMAGE_READ */
    uint8_t least, most;
} image_rows[] = {
    {"read_imagef", IMAGE_READ, AST_FLOAT, 2, 5},
    {"read_imagei", IMAGE_READ, AST_INT, 2, 5},
    {"read_imageui", IMAGE_READ, AST_UINT, 2, 5},
    {"read_imageh", IMAGE_READ, AST_HALF, 2, 5},
    {"write_imagef", IMAGE_NOTHING, AST_VOID, 3, 4},
    {"write_imagei", IMAGE_NOTHING, AST_VOID, 3, 4},
    {"write_imageui", IMAGE_NOTHING, AST_VOID, 3, 4},
    {"write_imageh", IMAGE_NOTHING, AST_VOID, 3, 4},
    {"get_image_width", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_height", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_depth", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_channel_data_type", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_channel_order", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_num_mip_levels", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_num_samples", IMAGE_INT, AST_VOID, 1, 1},
    {"get_image_array_size", IMAGE_SIZE, AST_VOID, 1, 1},
    {"get_image_dim", IMAGE_DIM, AST_VOID, 1, 1},
};

static const struct image_row *find_row(qn__str name) {
    for (size_t i = 0; i < QN__COUNT(image_rows); i++)
        if (qn__str_is(name, image_rows[i].name)) return &image_rows[i];
    return NULL;
}

static const ast_type *result_of(front_parser *p, const struct image_row *row, const ast_type *image) {
    const char *name = qn__type_text(p, image->unqualified);
    const ast_type *const *scalars = p->types->scalars;
    switch (row->result) {
    case IMAGE_READ: return qn__type_vector(p->types, scalars[row->element], strstr(name, "depth") ? 1 : 4);
    case IMAGE_INT: return scalars[AST_INT];
    case IMAGE_SIZE: return scalars[AST_ULONG];
    case IMAGE_DIM: return qn__type_vector(p->types, scalars[AST_INT], strstr(name, "3d") ? 4 : 2);
    case IMAGE_NOTHING: break;
    }
    return scalars[AST_VOID];
}

ast_expr *qn__sema_image_call(front_parser *p, qn__str name, ast_expr **args, size_t num_args,
                              front_loc loc) {
    const struct image_row *row = find_row(name);
    if (!row) return NULL;
    for (size_t i = 0; i < num_args; i++)
        if (qn__is_error(p, args[i])) return qn__expr_error(p, loc);
    if (num_args < row->least || num_args > row->most || !qn__type_is_opaque(args[0]->type)) {
        qn__diag_error(p->diag, loc, "the arguments do not fit '%s', which takes an image first", row->name);
        return qn__expr_error(p, loc);
    }
    ast_builtin *builtin = QN__NEW(p->arena, ast_builtin);
    *builtin = (ast_builtin){.name = row->name, .builtin_kind = BUILTIN_IMAGE};
    ast_expr *e = qn__expr(p, EXPR_BUILTIN, result_of(p, row, args[0]->type), loc, NULL, NULL, NULL);
    if (qn__is_error(p, e)) return e;
    e->builtin = builtin;
    for (size_t i = 0; i < num_args; i++) qn__vec_push(p->arena, &e->args, args[i]);
    qn__expr_args(p, e);
    qn__touch_image(p, loc, row->name);
    return e;
}

/* ---- constants ---- */

static const struct image_constant {
    const char *name;
    uint32_t value; /* as in the host's headers */
} image_constants[] = {
    {"CLK_ADDRESS_NONE", 0},
    {"CLK_ADDRESS_CLAMP_TO_EDGE", 2},
    {"CLK_ADDRESS_CLAMP", 4},
    {"CLK_ADDRESS_REPEAT", 6},
    {"CLK_ADDRESS_MIRRORED_REPEAT", 8},
    {"CLK_NORMALIZED_COORDS_FALSE", 0},
    {"CLK_NORMALIZED_COORDS_TRUE", 1},
    {"CLK_FILTER_NEAREST", 0x10},
    {"CLK_FILTER_LINEAR", 0x20},
    {"CLK_R", 0x10B0},
    {"CLK_A", 0x10B1},
    {"CLK_RG", 0x10B2},
    {"CLK_RA", 0x10B3},
    {"CLK_RGB", 0x10B4},
    {"CLK_RGBA", 0x10B5},
    {"CLK_BGRA", 0x10B6},
    {"CLK_ARGB", 0x10B7},
    {"CLK_INTENSITY", 0x10B8},
    {"CLK_LUMINANCE", 0x10B9},
    {"CLK_Rx", 0x10BA},
    {"CLK_RGx", 0x10BB},
    {"CLK_RGBx", 0x10BC},
    {"CLK_DEPTH", 0x10BD},
    {"CLK_DEPTH_STENCIL", 0x10BE},
    {"CLK_sRGB", 0x10BF},
    {"CLK_sRGBx", 0x10C0},
    {"CLK_sRGBA", 0x10C1},
    {"CLK_sBGRA", 0x10C2},
    {"CLK_ABGR", 0x10C3},
    {"CLK_SNORM_INT8", 0x10D0},
    {"CLK_SNORM_INT16", 0x10D1},
    {"CLK_UNORM_INT8", 0x10D2},
    {"CLK_UNORM_INT16", 0x10D3},
    {"CLK_UNORM_SHORT_565", 0x10D4},
    {"CLK_UNORM_SHORT_555", 0x10D5},
    {"CLK_UNORM_INT_101010", 0x10D6},
    {"CLK_SIGNED_INT8", 0x10D7},
    {"CLK_SIGNED_INT16", 0x10D8},
    {"CLK_SIGNED_INT32", 0x10D9},
    {"CLK_UNSIGNED_INT8", 0x10DA},
    {"CLK_UNSIGNED_INT16", 0x10DB},
    {"CLK_UNSIGNED_INT32", 0x10DC},
    {"CLK_HALF_FLOAT", 0x10DD},
    {"CLK_FLOAT", 0x10DE},
    {"CLK_UNORM_INT24", 0x10DF},
};

ast_expr *qn__sema_image_constant(front_parser *p, qn__str name, front_loc loc) {
    if (!qn__str_starts(name, "CLK_")) return NULL;
    for (size_t i = 0; i < QN__COUNT(image_constants); i++)
        if (qn__str_is(name, image_constants[i].name))
            return qn__expr_int(p, p->types->scalars[AST_INT], image_constants[i].value, loc);
    return NULL;
}

/* An int, mostly of the constants above, becomes a sampler. */
ast_expr *qn__sema_sampler(front_parser *p, ast_expr *e, const ast_type *type) {
    const bool is_sampler =
        qn__type_is_opaque(type) && !strcmp(qn__type_text(p, type->unqualified), "sampler_t");
    if (!is_sampler || !qn__type_is_integer(e->type)) return NULL;
    ast_expr *sampler = qn__expr(p, EXPR_CONVERT, type->unqualified, e->loc, e, NULL, NULL);
    if (!qn__is_error(p, sampler)) sampler->convert = CONVERT_NUMBER;
    return sampler;
}
