/* quern bench rings: the bare loop that a ring is compared with. A kernel that stays copies a message of so many words, an even number, adds one to the
   first, and says so: a flag in each direction, without queues, ids, bands, commands or counts. */
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_rings.h"

#define LONG ((uint64_t)10000000000)

enum { LINE = 64 };

#define ENDS 0xffffffffu

/* A work-item loads all that is its part before it stores any: a load takes a trip over the bus. */
static const char source[] =
    "#define SHARED memory_scope_all_svm_devices\n"
    "#define EACH   ((PAIRS + ITEMS - 1) / ITEMS)\n"
    "kernel void bare(global atomic_uint *flags, global const ulong2 *in, global ulong2 *out) {\n"
    "    const uint item = ITEMS == 1 ? 0 : get_local_id(0);\n"
    "    for (uint turn = 1;; turn++) {\n"
    "        uint flag;\n"
    "        do flag = atomic_load_explicit(&flags[0], memory_order_acquire, SHARED);\n"
    "        while (flag != turn && flag != 0xffffffff);\n"
    "        if (flag == 0xffffffff) return;\n"
    "#if EACH <= 4\n"
    "        ulong2 mine[EACH];\n"
    "        for (uint i = 0; i < EACH; i++)\n"
    "            if (item + i * ITEMS < PAIRS) mine[i] = in[item + i * ITEMS];\n"
    "        mine[0].x += item == 0;\n"
    "        for (uint i = 0; i < EACH; i++)\n"
    "            if (item + i * ITEMS < PAIRS) out[item + i * ITEMS] = mine[i];\n"
    "#else\n"
    "        for (uint i = item; i < PAIRS; i += ITEMS) out[i] = in[i] + (ulong2)(i == 0, 0);\n"
    "#endif\n"
    "        if (ITEMS > 1) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "        if (item == 0) atomic_store_explicit(&flags[16], turn, memory_order_release, SHARED);\n"
    "    }\n"
    "}\n";

typedef struct bare {
    uint32_t words;
    qn_program *program;
    qn_kernel *kernel;
    qn_stream *stream;
    qn_buffer *flags, *in, *out;
    _Atomic uint32_t *asked, *answered;
    uint64_t *to, *from;
} bare;

static qn_status make_memory(const bench_device *d, bare *b) {
    const qn_buffer_desc flags = {.size = 2 * LINE, .memory = QN_MEMORY_SHARED};
    const qn_buffer_desc words = {.size = b->words * sizeof(uint64_t), .memory = QN_MEMORY_SHARED};
    qn_status status = qn_buffer_create(d->device, &flags, &b->flags);
    if (!status) status = qn_buffer_create(d->device, &words, &b->in);
    if (!status) status = qn_buffer_create(d->device, &words, &b->out);
    if (status) return status;
    b->asked = qn_buffer_host(b->flags);
    b->answered = b->asked + LINE / sizeof *b->asked;
    b->to = qn_buffer_host(b->in);
    b->from = qn_buffer_host(b->out);
    atomic_store(b->asked, 0);
    atomic_store(b->answered, 0);
    return QN_OK;
}

static qn_status start(const bench_device *d, bare *b, uint32_t group_size) {
    char pairs[16], items[16];
    snprintf(pairs, sizeof pairs, "%u", (unsigned)b->words / 2);
    snprintf(items, sizeof items, "%u", (unsigned)group_size);
    const qn_define defines[] = {{"PAIRS", pairs}, {"ITEMS", items}};
    const qn_program_desc program = {.source = source, .defines = defines, .num_defines = 2};
    const qn_range range = {.global = {group_size}, .local = {group_size}};
    qn_status status = qn_program_create(d->device, &program, &b->program);
    if (!status) status = qn_program_wait(b->program, QN_FOREVER);
    if (!status) status = qn_kernel_create(b->program, "bare", &b->kernel);
    if (!status) status = make_memory(d, b);
    if (!status) status = qn_stream_create(d->device, &b->stream);
    if (!status) status = qn_stream_set_persistent(b->stream, true);
    if (status) return status;
    const qn_arg args[] = {qn_arg_buffer(b->flags), qn_arg_buffer(b->in), qn_arg_buffer(b->out)};
    return qn_launch(b->stream, b->kernel, &range, args, 3);
}

static void end(bare *b) {
    if (b->asked) atomic_store(b->asked, ENDS);
    if (b->stream) qn_stream_close(b->stream, LONG);
    qn_kernel_destroy(b->kernel);
    qn_program_destroy(b->program);
    qn_buffer_destroy(b->flags);
    qn_buffer_destroy(b->in);
    qn_buffer_destroy(b->out);
}

/* false: no answer came, or a wrong one. */
static bool ask(bare *b, uint32_t turn) {
    const int64_t until = bench_now() + (int64_t)LONG;
    for (uint32_t i = 0; i < b->words; i++) b->to[i] = turn;
    atomic_store_explicit(b->asked, turn, memory_order_release);
    for (uint32_t looks = 1; atomic_load_explicit(b->answered, memory_order_acquire) != turn; looks++)
        if (looks % 1024 == 0 && bench_now() > until) return false;
    bool right = true;
    for (uint32_t i = 0; i < b->words; i++) right &= b->from[i] == (uint64_t)turn + (i == 0);
    return right;
}

int bench_rings_bare(bench_device *d, const char *what, uint32_t words) {
    enum { MOST = 1 << 20 };
    const unsigned needed = QN_CAN_PERSIST | QN_CAN_SHARE_COHERENTLY;
    if ((d->info.capabilities & needed) != needed || d->info.loop_limit) return TOOL_OK;
    const uint32_t group_size = d->info.kind != QN_DEVICE_CUDA ? 1 : words > 64 ? 128 : 32;
    bare b = {.words = words};
    double *times = malloc(MOST * sizeof *times);
    if (!times) return tool_fail(TOOL_RUN_FAILED, "out of memory");
    size_t count = 0;
    bool right = true;
    const qn_status status = start(d, &b, group_size);
    const int64_t until = bench_now() + (int64_t)(d->options->seconds * 1e9);
    while (!status && right && count < MOST && (count < 100 || bench_now() < until)) {
        const int64_t begin = bench_now();
        right = ask(&b, (uint32_t)count + 1);
        times[count++] = (double)(bench_now() - begin);
    }
    const int result = status   ? tool_fail_status(d->context, status)
                       : !right ? tool_fail(TOOL_DIFFERENT, "%s: the bare loop does not answer", d->info.name)
                                : TOOL_OK;
    end(&b);
    if (!result) bench_rings_print(d, what, "a bare loop", times, count);
    free(times);
    return result;
}
