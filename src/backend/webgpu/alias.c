/* Buffers that are passed for several parameters, one of which the kernel writes. WebGPU refuses to bind a buffer for reading
   beside that: in a variant of the module such a binding is for writing, too. Dawn refuses to bind it twice at all: there the
   later parameters become other names of the first one's binding, in the text with buffers of one type where they are of several.
   Each still has its own offset. The same makes one binding of all parameters that share a buffer (share.c). */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

const qn__binding *qn__wg_binding_of(const qn__command *launch, uint32_t param) {
    for (uint32_t i = 0; i < launch->num_bindings; i++)
        if (launch->bindings[i].param == param) return &launch->bindings[i];
    return NULL;
}

/* What is bound to the n-th binding of a kernel; NULL: nothing that another may have, too. Null pointers share two buffers. */
static wg_object object_of(const qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                           uint32_t n) {
    const uint32_t param = kernel->bindings[2 * n + 1];
    if (param == QN__WGSL_NO_PARAM) return NULL;
    const qn__binding *binding = qn__wg_bound_of(launch, param);
    return binding ? binding->memory->buffer : gpu->nothing[qn__wg_only_reads(kernel, n)];
}

const qn__binding *qn__wg_bound_of(const qn__command *launch, uint32_t param) {
    const qn__binding *binding = qn__wg_binding_of(launch, param);
    const bool is_shared = launch->num_bindings && launch->bindings[0].memory->is_shared;
    return binding || !is_shared ? binding : &launch->bindings[0];
}

/* Of those that are bound to the same as the n-th: the first one, and whether the kernel writes to any. */
static uint32_t first_alike(const qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                            uint32_t n, bool *is_written) {
    wg_object object = object_of(gpu, launch, kernel, n);
    uint32_t first = n;
    *is_written = false;
    for (uint32_t k = 0; object && k < kernel->num_bindings / 2; k++) {
        if (object_of(gpu, launch, kernel, k) != object) continue;
        *is_written |= !qn__wg_only_reads(kernel, k);
        if (k < first) first = k;
    }
    return first;
}

void qn__wg_find_roots(const qn__gpu *gpu, const qn__command *launch, uint8_t roots[QN__WG_BINDINGS]) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    const bool is_shared = launch->num_bindings && launch->bindings[0].memory->is_shared;
    const uint32_t count = kernel->num_bindings / 2;
    bool is_written, joins = is_shared;
    for (uint32_t i = 0; i < count && gpu->dialect->refuses_aliases && !joins; i++)
        joins = first_alike(gpu, launch, kernel, i, &is_written) != i && is_written;
    for (uint32_t i = 0; i < count;
         i++) { /* where some are joined, so are those that are only read: their types may be for writing */
        const uint32_t first = first_alike(gpu, launch, kernel, i, &is_written), root = joins ? first : i;
        roots[i] = (uint8_t)(root | (is_written && qn__wg_only_reads(kernel, root) ? QN__WG_WRITES_TOO : 0));
    }
}

/* ---- the text ---- */

/* A binding's declaration in the text, of a kernel whose names have that ending: "NAME: array<TYPE>". NULL: none. Before it are
   its mode, read or read_write, and "> ". */
typedef struct declared {
    const char *at;
    size_t name, all; /* lengths */
} declared;

static declared find(const char *text, uint32_t binding, const char *ending) {
    char begin[80];
    const size_t length = strlen(ending);
    snprintf(begin, sizeof begin, "@group(0) @binding(%u) var<storage, read", (unsigned)binding);
    for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin)) {
        const char *first = strchr(at, '>'), *colon = first ? strchr(first, ':') : NULL;
        const char *end = colon ? strchr(colon, ';') : NULL;
        if (!end) break;
        first += 2;
        if ((size_t)(colon - first) >= length && memcmp(colon - length, ending, length) == 0)
            return (declared){first, (size_t)(colon - first), (size_t)(end - first)};
    }
    return (declared){NULL, 0, 0};
}

static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The old name, but where it is declared, becomes the new one; the result is the caller's to release. */
static char *renamed(const qn__allocator *allocator, const char *text, declared old, declared now) {
    const size_t size = strlen(text), most = (size / (old.name + 1) + 1) * (now.name + 1) + size + 1;
    char *out = qn__allocate(allocator, most), *to = out;
    for (const char *at = text; out && *at;) {
        const bool begins = at == text || !is_word(at[-1]);
        if (begins && at != old.at && strncmp(at, old.at, old.name) == 0 && !is_word(at[old.name])) {
            memcpy(to, now.at, now.name);
            to += now.name;
            at += old.name;
        } else {
            *to++ = *at++;
        }
    }
    if (out) *to = 0;
    return out;
}

static declared find_binding(const char *text, const qn__kernel_info *kernel, uint32_t n) {
    char ending[256];
    snprintf(ending, sizeof ending, "_of_%s", kernel->symbol);
    return find(text, qn__wg_binding_number(kernel, n), ending);
}

/* Binding n, which is for reading unless it is in the text with buffers of one type, is for writing, too. */
static qn_status widen(const qn__code *code, const qn__kernel_info *kernel, uint32_t n, char **text) {
    static const char more[] = "_write";
    const qn__allocator *allocator = code->gpu->services->allocator;
    const declared old = find_binding(*text, kernel, n);
    const size_t size = strlen(*text) + 1, before = old.at ? (size_t)(old.at - 2 - *text) : 0;
    if (before >= sizeof more && memcmp(*text + before - (sizeof more - 1), more, sizeof more - 1) == 0)
        return QN_OK;
    char *made = old.at ? qn__allocate(allocator, size + sizeof more) : NULL;
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(made, *text, before);
    memcpy(made + before, more, sizeof more - 1);
    memcpy(made + before + sizeof more - 1, *text + before, size - before);
    qn__release(allocator, *text);
    *text = made;
    return QN_OK;
}

static bool are_of_one_type(const declared *a, const declared *b) {
    const size_t type = a->all - a->name;
    return a->at && b->at && type == b->all - b->name && memcmp(a->at + a->name, b->at + b->name, type) == 0;
}

/* The text in which all that are joined are of one type: the plain one if it is so there. */
static const char *choose_text(const qn__code *code, const qn__kernel_info *kernel, const uint8_t *roots) {
    for (uint32_t i = 0; i < kernel->num_bindings / 2 && code->one_type; i++) {
        const uint32_t root = roots[i] & ~QN__WG_WRITES_TOO;
        const declared a = find_binding(code->text, kernel, i), b = find_binding(code->text, kernel, root);
        if (root != i && !are_of_one_type(&a, &b)) return code->one_type;
    }
    return code->text;
}

/* Binding n's name becomes that of its root. */
static qn_status join(const qn__code *code, const qn__kernel_info *kernel, uint32_t n, uint32_t root,
                      char **text, char *why) {
    const qn__allocator *allocator = code->gpu->services->allocator;
    const declared old = find_binding(*text, kernel, n), now = find_binding(*text, kernel, root);
    if (!are_of_one_type(&old, &now)) {
        snprintf(why, QN__WHY,
                 "kernel %.100s: parameters %u and %u are one buffer, which %s binds once, and the kernel "
                 "takes it for "
                 "two types",
                 kernel->name, (unsigned)kernel->bindings[2 * root + 1] + 1,
                 (unsigned)kernel->bindings[2 * n + 1] + 1, code->gpu->dialect->name);
        return QN_ERROR_UNSUPPORTED;
    }
    char *made = renamed(allocator, *text, old, now);
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    qn__release(allocator, *text);
    *text = made;
    return QN_OK;
}

/* ---- variants ---- */

static qn_status make(const qn__code *code, wg_variant *variant, char *why) {
    const qn__kernel_info *kernel = &code->info->kernels[variant->kernel];
    const qn__allocator *allocator = code->gpu->services->allocator;
    const char *plain = choose_text(code, kernel, variant->roots);
    const size_t size = strlen(plain) + 1;
    char message[QN__WHY], *text = qn__allocate(allocator, size);
    if (!text) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(text, plain, size);
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < kernel->num_bindings / 2 && !status; i++) {
        const uint32_t root = variant->roots[i] & ~QN__WG_WRITES_TOO;
        if (root != i)
            status = join(code, kernel, i, root, &text, why);
        else if (variant->roots[i] & QN__WG_WRITES_TOO)
            status = widen(code, kernel, i, &text);
    }
    if (!status) {
        qn__wg_scope_begin(code->gpu);
        variant->module = qn__wg_make_module(code->gpu, text, strlen(text));
        if (qn__wg_scope_end(code->gpu, message, sizeof message)) {
            snprintf(why, QN__WHY, "kernel %.100s with one buffer for several parameters: %.300s",
                     kernel->name, message);
            status = QN_ERROR_DRIVER;
        }
    }
    qn__release(allocator, text);
    return status;
}

static void free_variant(const qn__code *code, wg_variant *variant) {
    if (variant->module) code->gpu->api->wgpuShaderModuleRelease(variant->module);
    qn__release(code->gpu->services->allocator, variant);
}

qn_status qn__wg_variant(qn__code *code, uint32_t kernel, const uint8_t roots[QN__WG_BINDINGS],
                         wg_object *module, char *why) {
    bool is_plain = true;
    for (uint32_t i = 0; i < code->info->kernels[kernel].num_bindings / 2; i++) is_plain &= roots[i] == i;
    *module = code->module;
    if (is_plain) return QN_OK;
    for (wg_variant *at = code->variants; at; at = at->next) {
        *module = at->module;
        if (at->kernel == kernel && memcmp(at->roots, roots, sizeof at->roots) == 0) return QN_OK;
    }
    wg_variant *made = qn__allocate_zeroed(code->gpu->services->allocator, sizeof *made);
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    made->kernel = kernel;
    memcpy(made->roots, roots, sizeof made->roots);
    const qn_status status = make(code, made, why);
    if (status) {
        free_variant(code, made);
        return status;
    }
    *module = made->module;
    made->next = code->variants;
    code->variants = made;
    return QN_OK;
}

void qn__wg_free_variants(qn__code *code) {
    for (wg_variant *at = code->variants, *next; at; at = next) {
        next = at->next;
        free_variant(code, at);
    }
}
