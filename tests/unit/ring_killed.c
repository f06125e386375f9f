/* Processes that are killed with a ring that runs, at full load and in a handler without an end: the next one has the device at once, and its
   memory. */
#include "ring_support.h"

#include <signal.h>
#include <sys/socket.h>

static const char text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "void twice(qn_ring *ring, local const numbers *in, global volatile int *state) {\n"
    "    numbers out = {{2 * in->x[0]}};\n"
    "    if (in->x[0] < 0) while (state[0] == 0) state[1]++;\n"
    "    qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n";

static rig begin(void) {
    static const int zeros[2];
    rig r = {.context = make_context(NULL)};
    r.device = get_device(r.context, test_device());
    r.state = make_buffer(r.device, sizeof zeros, zeros);
    const qn_ring_desc desc = {.program = {.source = text},
                               .handler = "twice",
                               .message_type = "numbers",
                               .message_size = sizeof(numbers),
                               .reply_size = sizeof(numbers),
                               .state = r.state,
                               .state_type = "volatile int"};
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    return r;
}

/* A good part of a GPU's memory: what four of them keep is more than there is. */
static qn_buffer *take_memory(const rig *r) {
    qn_device_info info;
    assert_ok(r->context, qn_device_get_info(r->device, &info));
    const uint64_t part = info.memory / 100 * 26, most = info.max_buffer < part ? info.max_buffer : part;
    return make_buffer(r->device, testing("cuda") ? most : 1 << 20, NULL);
}

/* ---- who is killed ---- */

enum { VICTIMS = 4 };

static struct {
    pid_t process;
    int line;
} victims[VICTIMS];

static void exchange(const rig *r, int from, int count) {
    for (int i = from; i < from + count; i++) {
        const numbers in = {{i}};
        assert_ok(r->context, qn_ring_send(r->ring, NULL, &in, sizeof in, SECONDS(60)));
    }
    for (int i = from; i < from + count; i++) {
        numbers out;
        assert_ok(r->context, qn_ring_receive(r->ring, NULL, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 2 * i);
    }
}

/* Says that it runs, and does so until it is killed. */
static void run_victim(int line, bool hangs) {
    const rig r = begin();
    qn_buffer *memory = take_memory(&r);
    qn_ring_info info;
    assert_ok(r.context, qn_ring_get_info(r.ring, &info));
    assert_non_null(memory);
    exchange(&r, 0, 32);
    if (hangs && info.mode == QN_RING_RESIDENT) {
        qn_ring_stats stats = {.depth = 1};
        const numbers in = {{-1}};
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        for (int i = 0; i < 60000 && stats.depth; i++) {
            pause_ms(1);
            assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
        }
        assert_int_equal(write(line, "r", 1), 1);
        for (;;) pause();
    }
    for (int i = 0;; i++) {
        exchange(&r, i, 32);
        if (i == 10) assert_int_equal(write(line, "r", 1), 1);
    }
}

/* Before this process has a context: drivers do not survive a fork. */
static bool make_victims(void) {
    for (int i = 0; i < VICTIMS; i++) {
        int ends[2];
        char go;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return false;
        victims[i].line = ends[0];
        victims[i].process = fork();
        if (victims[i].process < 0) return false;
        if (victims[i].process) {
            close(ends[1]);
            continue;
        }
        for (int k = 0; k <= i; k++) close(victims[k].line);
        if (read(ends[1], &go, 1) == 1) run_victim(ends[1], i % 2);
        _exit(0);
    }
    return true;
}

/* ---- who comes after ---- */

static void kill_one(int i) {
    char byte = 'g';
    int status;
    assert_int_equal(write(victims[i].line, &byte, 1), 1);
    assert_int_equal(read(victims[i].line, &byte, 1), 1);
    assert_int_equal(kill(victims[i].process, SIGKILL), 0);
    assert_int_equal(waitpid(victims[i].process, &status, 0), victims[i].process);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void the_next_one_has_the_device(void **state) {
    (void)state;
    for (int i = 0; i < VICTIMS; i++) {
        kill_one(i);
        const double start = test_seconds();
        rig r = begin();
        const double ring = test_seconds() - start;
        exchange(&r, 1000, 200);
        qn_buffer_destroy(take_memory(&r));
        printf("killed %s: a ring after %.0f ms, its messages and the memory after %.0f ms\n",
               i % 2 ? "in a handler" : "at full load", 1e3 * ring, 1e3 * (test_seconds() - start));
        finish(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_next_one_has_the_device)};
    signal(SIGPIPE, SIG_IGN);
    if (!make_victims()) return 1;
    return run_device_tests(tests);
}
