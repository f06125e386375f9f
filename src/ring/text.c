/* A ring's program: the library's texts as headers, the caller's text as one more, and around the handler a kernel with the
   loop. Sizes are macros, so that the kernel is made for this ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/internal.h"
#include "ring/texts.h"

typedef struct define {
    char name[32], value[16];
} define;

enum {
    NUM_SIZES = 24,
    NUM_LISTS = 2,
    NUM_DEFINES = NUM_SIZES + NUM_LISTS + 1, /* and the kernel's name */
    NUM_TEXTS = 10
}; /* texts: the loop and the library's */

/* Whether the queues are a bus away, and 16 bytes with a slot's number may be stored at once. Under the checker that would race with
   whoever loads the number. */
static bool is_far(const qn_ring *ring) {
    const qn_device_info *info = &ring->device_info;
    return !ring->mirror && !(info->capabilities & QN_CAN_SHARE_MEMORY) && info->kind != QN_DEVICE_CHECK;
}

static void list_sizes(const qn_ring *ring, define sizes[NUM_SIZES]) {
    const struct {
        const char *name;
        uint32_t value;
    } rows[NUM_SIZES] = {
        {"QN_RING_IN_SLOT", ring->in.slot_size},
        {"QN_RING_OUT_SLOT", ring->out.slot_size},
        {"QN__RING_IN_STRIDE", ring->in.stride},
        {"QN__RING_OUT_STRIDE", ring->out.stride},
        {"QN__RING_IN_PIECES", ring->in.pieces},
        {"QN__RING_OUT_PIECES", ring->out.pieces},
        {"QN__RING_FEW_PIECES", QN__PIECES_FEW},
        {"QN_RING_IN_CAPACITY", ring->in.capacity},
        {"QN_RING_OUT_CAPACITY", ring->out.capacity},
        {"QN__RING_ITEMS", ring->items},
        {"QN__RING_BATCHES", ring->batches},
        {"QN_RING_PER_ITEM", ring->desc.per_item},
        {"QN__RING_IS_FAR", is_far(ring)},
        {"QN_RING_BANDS", ring->desc.bands},
        {"QN_RING_GROUPS", ring->desc.groups},
        {"QN_RING_GROUP_SIZE", ring->desc.group_size},
        {"QN_RING_SENDS", ring->desc.sends},
        {"QN_RING_REVOKES", ring->desc.policy == QN_RING_DROP_OLDEST},
        {"QN_RING_STAYS", ring->desc.mode == QN_RING_RESIDENT},
        {"QN_RING_MAIL", ring->desc.mail_capacity},
        {"QN_RING_LINKS", ring->desc.links},
        {"QN_RING_BLOCKS", ring->desc.blocks},
        {"QN_RING_BLOCK_SIZE", ring->desc.block_size},
        {"QN__RING_HAS_STATE", ring->desc.state != NULL},
    };
    for (int i = 0; i < NUM_SIZES; i++) {
        snprintf(sizes[i].name, sizeof sizes[i].name, "%s", rows[i].name);
        snprintf(sizes[i].value, sizeof sizes[i].value, "%u", (unsigned)rows[i].value);
    }
}

/* The kernel's parameters for other rings: with their types, or their names alone. */
static void list_links(const qn_ring *ring, char *text, size_t size, bool with_types) {
    const char *type = with_types ? ", global uchar *" : "";
    const char *between = with_types ? type : ", ";
    size_t length = (size_t)snprintf(text, size, "%sqn__mail", type);
    for (uint32_t i = 0; i < ring->desc.links; i++)
        length += (size_t)snprintf(text + length, size - length, "%sqn__link%u", between, (unsigned)i);
}

#define LOOP_NAME "quern/ring_loop.cl"

/* The kernel that calls the handler, as a header in front of the caller's text, whose macros do not reach it. Its loop, and those of
   ring.cl, have no part in a budget of iterations. The state is bytes until the caller's types are known. */
static const char loop_text[] =
    "#pragma once\n"
    "static void qn__ring_handle(qn_ring *ring, local const void *message, global uchar *state);\n"
    "#if QN__RING_HAS_STATE\n"
    "#define QN__RING_STATE_PARAMETER , global uchar *qn_state\n"
    "#else\n"
    "#define QN__RING_STATE_PARAMETER\n"
    "#define qn_state 0\n"
    "#endif\n"
    "kernel __attribute__((reqd_work_group_size(QN__RING_ITEMS, 1, 1)))\n"
    "void QN__RING_KERNEL(QN_RING_PARAMETERS QN__RING_STATE_PARAMETER) {\n"
    "    QN_RING(ring);\n"
    "    while (qn_ring_receive(&ring)) {\n"
    "#if QN__RING_BATCHES\n"
    "        for (; qn__ring_select(&ring); ring.turn += qn__ring_step())\n"
    "#endif\n"
    "            qn__ring_handle(&ring, qn_ring_payload(&ring), qn_state);\n"
    "    }\n"
    "}\n"
    "#undef qn_state\n"
    "#if QN__RING_BATCHES\n"
    "#include \"ring_apart.cl\"\n"
    "#endif\n";

/* The caller's text between the library's, or with a kernel by hand. */
static int write_program(const qn_ring_desc *desc, uint32_t message_size, const char *path, char *text,
                         size_t size) {
    const int head = snprintf(text, size, "#include \"quern/ring.cl\"\n%s#include \"%s\"\n",
                              desc->loop ? "" : "#include \"" LOOP_NAME "\"\n", path);
    if (desc->loop || head < 0 || (size_t)head >= size) return head;
    const char *message = desc->message_type ? desc->message_type : "void";
    const char *state = desc->state_type ? desc->state_type : "void";
    char check[512] = "", state_check[512] = "", state_argument[256] = "";
    if (desc->message_type)
        snprintf(check, sizeof check,
                 "_Static_assert(sizeof(%.200s) == %u, \"the ring's message_size is not the size of its "
                 "message_type\");\n",
                 message, (unsigned)message_size);
    if (desc->state) {
        const int length = snprintf(state_argument, sizeof state_argument, ", (global %s *)state", state);
        if (length < 0 || (size_t)length >= sizeof state_argument) return -1;
    }
    if (desc->state_type)
        snprintf(
            state_check, sizeof state_check,
            "_Static_assert(sizeof(%.200s) <= %llu, \"the ring's state is smaller than its state_type\");\n",
            state, (unsigned long long)qn_buffer_size(desc->state));
    const int handle = snprintf(
        text + head, size - (size_t)head,
        "%s%s"
        "static void qn__ring_handle(qn_ring *ring, local const void *message, global uchar *state) {\n"
        "    %s(ring, (local const %s *)message%s);\n"
        "}\n",
        check, state_check, desc->handler, message, state_argument);
    return handle < 0 ? handle : head + handle;
}

/* Registers of a work-item; 0: as the compiler sees fit. PTX's assembler keeps some for as many groups as a multiprocessor could have, and
   with a group of 256 has 48 for each work-item; of a ring it has a few, and one more may come beside them. */
static uint32_t count_registers(const qn_ring *ring) {
    enum { ALL = 65536, MOST = 255, FEW = 64, UNIT = 8 };
    const uint32_t units = ring->device_info.compute_units;
    if (ring->items == 1) return MOST;
    if (ring->batches || !units) return 0;
    const uint32_t beside = (ring->desc.groups + units - 1) / units + 1;
    const uint32_t registers = ALL / (ring->items * beside) / UNIT * UNIT;
    return registers <= FEW ? 0 : registers < MOST ? registers : MOST;
}

/* The caller's options come behind it, and may say less. */
#define REGISTERS "-cl-nv-maxrregcount="

static qn_status compile(qn_ring *ring, const qn_ring_desc *desc, const char *options, qn_header *headers,
                         qn_define *defines) {
    define sizes[NUM_SIZES];
    char parameters[512], names[256], kernel[256];
    char text[2048];
    const char *path = desc->program.path ? desc->program.path : "ring_text.cl";
    const int length = write_program(desc, ring->desc.message_size, path, text, sizeof text);
    if (length < 0 || (size_t)length >= sizeof text)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_create: the names of the handler and its types are too long");
    /* Messages name the kernel, which a person knows by its handler. */
    if (!desc->loop) snprintf(kernel, sizeof kernel, "qn_handler_%s", desc->handler);
    size_t num_headers = 0;
    headers[num_headers++] = (qn_header){LOOP_NAME, loop_text};
    for (; num_headers < NUM_TEXTS; num_headers++) headers[num_headers] = qn__ring_texts[num_headers - 1];
    if (desc->program.source) headers[num_headers++] = (qn_header){path, desc->program.source};
    if (desc->program.num_headers)
        memcpy(headers + num_headers, desc->program.headers, desc->program.num_headers * sizeof *headers);
    list_sizes(ring, sizes);
    int num_defines = 0;
    for (; num_defines < NUM_SIZES; num_defines++)
        defines[num_defines] = (qn_define){sizes[num_defines].name, sizes[num_defines].value};
    defines[num_defines++] = (qn_define){"QN__RING_KERNEL", desc->loop ? desc->loop : kernel};
    if (ring->mail) {
        list_links(ring, parameters, sizeof parameters, true);
        list_links(ring, names, sizeof names, false);
        defines[num_defines++] = (qn_define){"QN__RING_MORE_PARAMETERS", parameters};
        defines[num_defines++] = (qn_define){"QN__RING_MORE", names};
    }
    if (desc->program.num_defines)
        memcpy(defines + num_defines, desc->program.defines, desc->program.num_defines * sizeof *defines);
    qn_program_desc program = desc->program;
    program.source = text;
    program.source_size = 0;
    program.path = "ring_handle.cl";
    program.headers = headers;
    program.num_headers += num_headers;
    program.num_uncounted_headers = NUM_TEXTS;
    program.defines = defines;
    program.num_defines += (size_t)num_defines;
    program.options = options;
    ring->is_safe = program.safe;
    qn_status status = qn_program_create(ring->device, &program, &ring->program);
    /* A kernel that stays would be interpreted for ever. */
    if (!status) status = qn_program_wait(ring->program, QN_FOREVER);
    if (!status) status = qn_kernel_create(ring->program, desc->loop ? desc->loop : kernel, &ring->kernel);
    return status;
}

/* A loop by hand has the ring's parameters and no others. */
static qn_status check_kernel(const qn_ring *ring, const qn_ring_desc *desc) {
    const uint32_t others = ring->mail ? 1 + ring->desc.links : 0;
    const uint32_t wanted = 5 + others + (ring->blocks ? 1 : 0) + (desc->state ? 1 : 0);
    qn_kernel_info info;
    const qn_status status = qn_kernel_get_info(ring->kernel, &info);
    if (!status && info.num_params != wanted)
        return qn__ring_fail(
            ring, QN_ERROR_ARGUMENT,
            "qn_ring_create: kernel '%s' has %u parameters, which are not QN_RING_PARAMETERS", desc->loop,
            (unsigned)info.num_params);
    return status;
}

qn_status qn__ring_compile(qn_ring *ring, const qn_ring_desc *desc) {
    const qn_program_desc *program = &desc->program;
    if (program->binary || program->num_sources || (!program->source && !program->path))
        return qn__ring_fail(
            ring, QN_ERROR_ARGUMENT,
            "qn_ring_create: program needs `source` or `path`, and takes no `binary` or `sources`");
    const size_t room = program->num_headers + program->num_defines + NUM_DEFINES + NUM_TEXTS + 1;
    void *user = ring->allocator.user;
    qn_header *headers = ring->allocator.allocate(user, room * sizeof *headers);
    qn_define *defines = ring->allocator.allocate(user, room * sizeof *defines);
    const char *given = program->options ? program->options : "";
    const size_t size = strlen(given) + sizeof REGISTERS + 16;
    const uint32_t registers = count_registers(ring);
    char *options = ring->allocator.allocate(user, size);
    if (options && registers) snprintf(options, size, REGISTERS "%u %s", (unsigned)registers, given);
    if (options && !registers) snprintf(options, size, "%s", given);
    qn_status status = headers && defines && options ? compile(ring, desc, options, headers, defines)
                                                     : qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY,
                                                                     "qn_ring_create: out of host memory");
    if (!status) status = check_kernel(ring, desc);
    if (headers) ring->allocator.release(user, headers);
    if (defines) ring->allocator.release(user, defines);
    if (options) ring->allocator.release(user, options);
    return status;
}
