/* quern bench rings: the bare loop that a ring is compared with. A kernel that stays copies a message of so many words, adds one to the
   first, and says so: a flag in each direction, without queues, ids, bands, commands or counts. */
#include <stdatomic.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_rings.h"

#define LONG ((uint64_t)10000000000)

enum { LINE = 64 };

#define ENDS 0xffffffffu

static const char source[] =
    "#define SHARED memory_scope_all_svm_devices\n"
    "kernel void bare(global atomic_uint *flags, global const ulong *in, global ulong *out) {\n"
    "    local uint seen;\n"
    "    for (uint turn = 1;; turn++) {\n"
    "        if (get_local_id(0) == 0) {\n"
    "            uint flag;\n"
    "            do flag = atomic_load_explicit(&flags[0], memory_order_acquire, SHARED);\n"
    "            while (flag != turn && flag != 0xffffffff);\n"
    "            seen = flag;\n"
    "        }\n"
    "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "        if (seen == 0xffffffff) return;\n"
    "        for (uint i = get_local_id(0); i < WORDS; i += get_local_size(0)) out[i] = in[i] + (i == 0);\n"
    "        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "        if (get_local_id(0) == 0)\n"
    "            atomic_store_explicit(&flags[16], turn, memory_order_release, SHARED);\n"
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
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)b->words);
    const qn_define define = {"WORDS", number};
    const qn_program_desc program = {.source = source, .defines = &define, .num_defines = 1};
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
    return b->from[0] == (uint64_t)turn + 1;
}

int bench_rings_bare(bench_device *d, const char *what, uint32_t words, uint32_t group_size) {
    enum { MOST = 1 << 20 };
    const unsigned needed = QN_CAN_PERSIST | QN_CAN_SHARE_COHERENTLY;
    if ((d->info.capabilities & needed) != needed || d->info.loop_limit) return TOOL_OK;
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
