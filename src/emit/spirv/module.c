/* A SPIR-V module under construction: its sections as words, types and constants that exist once, capabilities,
   and putting it all together. Layout and uniqueness rules: SPIR-V specification 2.3, 2.4 and 2.8. */
#include <string.h>

#include "emit/spirv/internal.h"

/* ---- capabilities ---- */

static const struct {
    uint32_t number;
    qn__trait lacks;
    const char *what, *extension;
} capabilities[CAP_COUNT] = {
    [CAP_INT8] = {39, QN__TRAIT(lacks_i8), "8-bit integer arithmetic", NULL},
    [CAP_INT16] = {22, QN__TRAIT(lacks_i16), "16-bit integer arithmetic", NULL},
    [CAP_INT64] = {11, QN__TRAIT(lacks_i64), "64-bit integers", NULL},
    [CAP_FLOAT16] = {9, QN__TRAIT(lacks_f16), "16-bit floating point", NULL},
    [CAP_FLOAT64] = {10, QN__TRAIT(lacks_f64), "64-bit floating point", NULL},
    [CAP_STORAGE_8] = {4448, QN__TRAIT(lacks_storage_8), "8-bit access to buffers", NULL},
    [CAP_STORAGE_16] = {4433, QN__TRAIT(lacks_storage_16), "16-bit access to buffers", NULL},
    [CAP_INT64_ATOMICS] = {12, QN__TRAIT(lacks_i64_atomics), "64-bit atomics", NULL},
    [CAP_FLOAT_ATOMIC_ADD] = {6033, 0, NULL, "SPV_EXT_shader_atomic_float_add"},
    [CAP_DOUBLE_ATOMIC_ADD] = {6034, 0, NULL, "SPV_EXT_shader_atomic_float_add"},
    [CAP_DEVICE_SCOPE] = {5346, 0, NULL, NULL},
    [CAP_FLOAT_CONTROLS] = {4466, 0, NULL, NULL},
    [CAP_DENORM_PRESERVE] = {4464, 0, NULL, NULL},
    [CAP_ROUNDING_RTE] = {4467, 0, NULL, NULL},
    [CAP_GROUP] = {61, QN__TRAIT(lacks_sub_groups), "sub-groups", NULL},
    [CAP_GROUP_VOTE] = {62, QN__TRAIT(lacks_sub_groups), "sub-group votes", NULL},
    [CAP_GROUP_ARITHMETIC] = {63, QN__TRAIT(lacks_sub_groups), "sub-group arithmetic", NULL},
    [CAP_GROUP_BALLOT] = {64, QN__TRAIT(lacks_sub_group_shuffle), "sub-group ballot", NULL},
    [CAP_GROUP_SHUFFLE] = {65, QN__TRAIT(lacks_sub_group_shuffle), "sub-group shuffle", NULL},
    [CAP_DOT] = {6019, 0, NULL, "SPV_KHR_integer_dot_product"},
    [CAP_DOT_PACKED] = {6018, 0, NULL, "SPV_KHR_integer_dot_product"},
    [CAP_MATRIX] = {6022, 0, NULL, "SPV_KHR_cooperative_matrix"},
    [CAP_BF16] = {5116, 0, NULL, "SPV_KHR_bfloat16"},
    [CAP_BF16_MATRIX] = {5118, 0, NULL, "SPV_KHR_bfloat16"},
    [CAP_FLOAT8] = {4212, 0, NULL, "SPV_EXT_float8"},
    [CAP_FLOAT8_MATRIX] = {4213, 0, NULL, "SPV_EXT_float8"},
};

enum {
    CAP_SHADER_NUMBER = 1,
    CAP_MEMORY_MODEL_NUMBER = 5345,
    CAP_ADDRESSES_NUMBER = 5347,
    GENERATOR = 0 /* none registered */
};

void qn__spv_fail(spv *e, const char *message) {
    e->result->error = message;
    e->result->error_loc = e->loc;
    longjmp(e->give_up, 1);
}

void qn__spv_need(spv *e, spv_cap cap) {
    if (e->caps & 1u << cap) return;
    if (qn__has_trait(&e->options->target, capabilities[cap].lacks))
        qn__spv_fail(e, qn__arena_printf(e->arena, "the device has no %s", capabilities[cap].what));
    e->caps |= 1u << cap;
}

/* ---- words ---- */

/* There are three at most, mostly; a call would need a frame. */
static inline uint32_t *put(uint32_t *at, const uint32_t *words, unsigned count) {
    if (count > 0) at[0] = words[0];
    if (count > 1) at[1] = words[1];
    if (count > 2) at[2] = words[2];
    for (unsigned i = 3; i < count; i++) at[i] = words[i];
    return at + count;
}

void qn__spv_words(spv *e, spv_words *section, unsigned op, const uint32_t *args, unsigned count) {
    qn__vec_reserve(e->arena, section, section->len + count + 1);
    uint32_t *at = section->data + section->len;
    *at++ = (count + 1) << 16 | op;
    section->len = (size_t)(put(at, args, count) - section->data);
}

void qn__spv_append(spv *e, spv_words *to, const spv_words *from) {
    if (!from->len) return;
    qn__vec_reserve(e->arena, to, to->len + from->len);
    memcpy(to->data + to->len, from->data, from->len * sizeof *from->data);
    to->len += from->len;
}

void qn__spv_do(spv *e, unsigned op, const uint32_t *args, unsigned count) {
    qn__spv_words(e, &e->code, op, args, count);
}

static uint32_t with_more_room(spv *e, spv_words *section, unsigned op, uint32_t type, const uint32_t *args,
                               unsigned count);

/* What is seldom done is a function's last call, so that the rest needs no frame. */
static inline uint32_t with_result(spv *e, spv_words *section, unsigned op, uint32_t type,
                                   const uint32_t *args, unsigned count) {
    const unsigned head = type ? 2 : 1;
    if (section->cap - section->len < count + head + 1)
        return with_more_room(e, section, op, type, args, count);
    const uint32_t id = qn__spv_id(e);
    uint32_t *at = section->data + section->len;
    *at++ = (count + head + 1) << 16 | op;
    if (type) *at++ = type;
    *at++ = id;
    section->len = (size_t)(put(at, args, count) - section->data);
    return id;
}

static uint32_t with_more_room(spv *e, spv_words *section, unsigned op, uint32_t type, const uint32_t *args,
                               unsigned count) {
    qn__vec_reserve(e->arena, section, section->len + count + 3);
    return with_result(e, section, op, type, args, count);
}

uint32_t qn__spv_emit(spv *e, unsigned op, uint32_t type, const uint32_t *args, unsigned count) {
    return with_result(e, &e->code, op, type, args, count);
}

void qn__spv_text(spv *e, spv_words *section, unsigned op, const uint32_t *args, unsigned count,
                  const char *text, const uint32_t *after, unsigned num_after) {
    size_t words = strlen(text) / 4 + 1;
    if (words > 0x3fff) words = 0x3fff;
    qn__vec_reserve(e->arena, section, section->len + count + words + num_after + 1);
    section->data[section->len++] = (uint32_t)(count + words + num_after + 1) << 16 | op;
    if (count) memcpy(section->data + section->len, args, count * sizeof *args);
    section->len += count;
    memset(section->data + section->len, 0, words * 4);
    size_t length = strlen(text);
    memcpy(section->data + section->len, text, length < words * 4 ? length : words * 4 - 1);
    section->len += words;
    if (num_after) memcpy(section->data + section->len, after, num_after * sizeof *after);
    section->len += num_after;
}

void qn__spv_decorate(spv *e, uint32_t id, uint32_t decoration) {
    SPV_INTO(e, &e->annotations, SP_DECORATE, id, decoration);
}

/* ---- once ---- */

typedef struct interned {
    struct interned *next; /* of the same hash */
    uint32_t op, type, salt, count, id;
    uint32_t args[];
} interned;

static uint64_t hash_words(uint64_t hash, const uint32_t *words, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* `salt` tells apart specialisation constants of one value and arrays of one type. */
static uint32_t intern(spv *e, unsigned op, uint32_t type, const uint32_t *args, unsigned count,
                       uint32_t salt) {
    uint64_t key = hash_words(op * 31u + salt, args, count) + type * (uint64_t)0x100000001b3u;
    interned *first = qn__map64_get(&e->interned, key);
    for (interned *at = first; at; at = at->next)
        if (at->op == op && at->type == type && at->salt == salt && at->count == count &&
            (count == 0 || !memcmp(at->args, args, count * sizeof *args)))
            return at->id;
    interned *made = qn__arena_alloc(e->arena, sizeof *made + count * sizeof *args);
    made->next = first;
    made->op = op;
    made->type = type;
    made->salt = salt;
    made->count = count;
    if (count) memcpy(made->args, args, count * sizeof *args);
    made->id = with_result(e, &e->globals, op, type, args, count);
    qn__map64_set(e->arena, &e->interned, key, made);
    return made->id;
}

uint32_t qn__spv_intern(spv *e, unsigned op, uint32_t type, const uint32_t *args, unsigned count) {
    return intern(e, op, type, args, count, 0);
}

/* ---- types ---- */

/* Words in a block have a layout, which an array of as many words in other memory must not have. */
uint32_t qn__spv_block_array(spv *e, uint32_t words) {
    const uint32_t args[] = {qn__spv_u32t(e), qn__spv_u32(e, words)};
    uint32_t before = e->next_id, array = intern(e, SP_TYPE_ARRAY, 0, args, 2, 1);
    if (array >= before) SPV_INTO(e, &e->annotations, SP_DECORATE, array, SP_ARRAY_STRIDE, 4);
    return array;
}

uint32_t qn__spv_void(spv *e) { return intern(e, SP_TYPE_VOID, 0, NULL, 0, 0); }
uint32_t qn__spv_uint(spv *e, unsigned bits) { return SPV_ONCE(e, SP_TYPE_INT, 0, bits, 0); }

uint32_t qn__spv_vector(spv *e, uint32_t scalar, unsigned lanes) {
    return lanes == 1 ? scalar : SPV_ONCE(e, SP_TYPE_VECTOR, 0, scalar, lanes);
}

/* A type that is not only in buffers asks for arithmetic on it. */
static uint32_t narrow_scalar(spv *e, ir_kind kind) {
    bool is_byte = kind == IR_I8;
    spv_cap storage = is_byte ? CAP_STORAGE_8 : CAP_STORAGE_16;
    if (!(e->caps & 1u << storage))
        qn__spv_need(e, is_byte ? CAP_INT8 : kind == IR_I16 ? CAP_INT16 : CAP_FLOAT16);
    if (kind == IR_F16) return SPV_ONCE(e, SP_TYPE_FLOAT, 0, 16);
    return qn__spv_uint(e, is_byte ? 8 : 16);
}

uint32_t qn__spv_held(spv *e, ir_type type, uint32_t words) {
    uint32_t mask = type.kind == IR_I8 ? 0xff : 0xffff;
    if (type.lanes == 1) return qn__spv_and(e, words, mask);
    ir_type like = qn__ir_type(IR_I32, type.lanes);
    return SPV(e, SP_BITWISE_AND, qn__spv_type(e, like), words, qn__spv_int(e, like, mask));
}

uint32_t qn__spv_stored_type(spv *e, ir_type type) {
    const unsigned kind = type.kind;
    if (!qn__spv_is_held(e, kind)) return qn__spv_memory_type(e, type);
    return qn__spv_vector(e, narrow_scalar(e, kind == IR_I8 ? IR_I8 : IR_I16), type.lanes);
}

static uint32_t make_scalar(spv *e, ir_kind kind) {
    if (qn__spv_is_held(e, kind)) return qn__spv_u32t(e);
    switch (kind) {
    case IR_BOOL: return intern(e, SP_TYPE_BOOL, 0, NULL, 0, 0);
    case IR_I8:
    case IR_I16:
    case IR_F16: return narrow_scalar(e, kind);
    case IR_F32: return SPV_ONCE(e, SP_TYPE_FLOAT, 0, 32);
    case IR_F64: qn__spv_need(e, CAP_FLOAT64); return SPV_ONCE(e, SP_TYPE_FLOAT, 0, 64);
    case IR_I64:
    case IR_PTR: return e->native ? qn__spv_uint(e, 64) : qn__spv_pair(e);
    default: return qn__spv_uint(e, 32);
    }
}

uint32_t qn__spv_make_type(spv *e, ir_type type) {
    const ir_kind kind = (ir_kind)type.kind;
    const uint32_t id =
        type.lanes == 1 ? make_scalar(e, kind) : qn__spv_vector(e, qn__spv_scalar(e, kind), type.lanes);
    return e->types[kind][type.lanes] = id;
}

uint32_t qn__spv_type(spv *e, ir_type type) {
    if (qn__spv_is_held(e, type.kind)) return qn__spv_memory_type(e, type);
    e->kinds |= 1u << type.kind;
    switch (type.kind) {
    case IR_I8: qn__spv_need(e, CAP_INT8); break;
    case IR_I16: qn__spv_need(e, CAP_INT16); break;
    case IR_F16: qn__spv_need(e, CAP_FLOAT16); break;
    case IR_PTR:
        if (!qn__spv_is_wide(type)) return qn__spv_u32t(e);
        break;
    default: break;
    }
    return qn__spv_memory_type(e, type);
}

uint32_t qn__spv_pointer(spv *e, unsigned storage, uint32_t type) {
    return SPV_ONCE(e, SP_TYPE_POINTER, 0, storage, type);
}

/* ---- constants ---- */

uint32_t qn__spv_u32(spv *e, uint32_t value) {
    uint32_t before = e->next_id;
    uint32_t id = SPV_ONCE(e, SP_CONSTANT, qn__spv_u32t(e), value);
    if (id >= before) qn__map64_set(e->arena, &e->small, id, (void *)((uintptr_t)value + 1));
    return id;
}

uint32_t qn__spv_spec(spv *e, uint32_t number, uint32_t value) {
    uint32_t before = e->next_id;
    uint32_t id = intern(e, SP_SPEC_CONSTANT, qn__spv_u32t(e), &value, 1, number + 1);
    if (id >= before) SPV_INTO(e, &e->annotations, SP_DECORATE, id, SP_SPEC_ID, number);
    return id;
}

bool qn__spv_u32_value(spv *e, uint32_t id, uint32_t *value) {
    uintptr_t entry = (uintptr_t)qn__map64_get(&e->small, id);
    *value = (uint32_t)(entry - 1);
    return entry != 0;
}

uint32_t qn__spv_u64(spv *e, uint64_t value) {
    uint32_t lo = (uint32_t)value, hi = (uint32_t)(value >> 32);
    if (e->native) return SPV_ONCE(e, SP_CONSTANT, qn__spv_uint(e, 64), lo, hi);
    lo = qn__spv_u32(e, lo), hi = qn__spv_u32(e, hi);
    return SPV_ONCE(e, SP_CONSTANT_COMPOSITE, qn__spv_pair(e), lo, hi);
}

uint32_t qn__spv_f32(spv *e, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return SPV_ONCE(e, SP_CONSTANT, qn__spv_scalar(e, IR_F32), bits);
}

static uint32_t splat(spv *e, ir_type type, uint32_t scalar) {
    if (type.lanes == 1) return scalar;
    uint32_t parts[16];
    for (unsigned i = 0; i < type.lanes; i++) parts[i] = scalar;
    return qn__spv_intern(e, SP_CONSTANT_COMPOSITE, qn__spv_type(e, type), parts, type.lanes);
}

uint32_t qn__spv_int(spv *e, ir_type type, uint64_t value) {
    ir_type element = qn__ir_element(type);
    if (type.kind == IR_BOOL)
        return splat(
            e, type,
            qn__spv_intern(e, value & 1 ? SP_CONSTANT_TRUE : SP_CONSTANT_FALSE, qn__spv_bool(e), NULL, 0));
    if (qn__ir_bits(element) == 64) return splat(e, type, qn__spv_u64(e, value));
    unsigned bits = qn__ir_bits(element);
    uint32_t word = bits >= 32 ? (uint32_t)value : (uint32_t)value & ((1u << bits) - 1);
    return splat(e, type, SPV_ONCE(e, SP_CONSTANT, qn__spv_type(e, element), word));
}

uint32_t qn__spv_float(spv *e, ir_type type, double value) {
    uint32_t scalar;
    if (type.kind == IR_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        scalar = SPV_ONCE(e, SP_CONSTANT, qn__spv_scalar(e, IR_F64), (uint32_t)bits, (uint32_t)(bits >> 32));
    } else if (type.kind == IR_F16) {
        scalar = SPV_ONCE(e, SP_CONSTANT, qn__spv_type(e, qn__ir_element(type)), qn__f16_from_double(value));
    } else {
        scalar = qn__spv_f32(e, (float)value);
    }
    return splat(e, type, scalar);
}

uint32_t qn__spv_undef(spv *e, uint32_t type) { return intern(e, SP_UNDEF, type, NULL, 0, 0); }

uint32_t qn__spv_glsl(spv *e) { return e->glsl ? e->glsl : (e->glsl = qn__spv_id(e)); }

/* ---- all of it ---- */

static void put_capabilities(spv *e, spv_words *out) {
    SPV_INTO(e, out, SP_CAPABILITY, CAP_SHADER_NUMBER);
    if (qn__spv_is_vulkan(e)) SPV_INTO(e, out, SP_CAPABILITY, CAP_MEMORY_MODEL_NUMBER);
    SPV_INTO(e, out, SP_CAPABILITY, CAP_ADDRESSES_NUMBER);
    for (unsigned i = 0; i < CAP_COUNT; i++)
        if (e->caps & 1u << i) SPV_INTO(e, out, SP_CAPABILITY, capabilities[i].number);
    const char *last = NULL;
    for (unsigned i = 0; i < CAP_COUNT; i++) {
        const char *extension = capabilities[i].extension;
        if (!(e->caps & 1u << i) || !extension || extension == last) continue;
        if (!last || strcmp(last, extension) != 0)
            qn__spv_text(e, out, SP_EXTENSION, NULL, 0, extension, NULL, 0);
        last = extension;
    }
}

void qn__spv_finish(spv *e) {
    spv_words out = {0};
    qn__vec_reserve(e->arena, &out,
                    64 + e->entries.len + e->strings.len + e->names.len + e->annotations.len +
                        e->globals.len + e->code.len);
    const uint32_t head[] = {SP_MAGIC, SP_VERSION_1_5, GENERATOR, e->next_id, 0};
    memcpy(out.data, head, sizeof head);
    out.len = QN__COUNT(head);
    put_capabilities(e, &out);
    if (e->glsl) qn__spv_text(e, &out, SP_IMPORT, &e->glsl, 1, "GLSL.std.450", NULL, 0);
    SPV_INTO(e, &out, SP_MEMORY_MODEL, SP_ADDRESSING_PHYSICAL_STORAGE_64,
             qn__spv_is_vulkan(e) ? SP_MEMORY_MODEL_VULKAN : SP_MEMORY_MODEL_GLSL);
    qn__spv_append(e, &out, &e->entries);
    qn__spv_append(e, &out, &e->modes);
    qn__spv_append(e, &out, &e->strings);
    qn__spv_append(e, &out, &e->names);
    qn__spv_append(e, &out, &e->annotations);
    qn__spv_append(e, &out, &e->globals);
    qn__spv_append(e, &out, &e->code);
    e->result->text = (const char *)out.data;
    e->result->size = out.len * sizeof *out.data;
}
