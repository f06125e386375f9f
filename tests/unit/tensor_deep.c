/* Gradients through chains of 10^5 ops, on a thread with a small stack: nothing goes into what it depends on by calling itself.
   Usage: unit_tensor_deep [OPS...]: with numbers it prints the processor's time for each op. */
#include "tensor_common.h"

#include <pthread.h>

enum { OPS = 100000, STACK = 256 << 10 };

typedef struct deep {
    tensor_fixture *f;
    uint32_t ops;
    double seconds[4]; /* of making the chain, its gradients, computing these, and letting all go */
    float gradients[3];
    uint64_t nodes;
    qn_status status;
} deep;

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* x becomes x (1 - 2^-17) + 1/4, again and again. */
static void *go(void *user) {
    deep *d = user;
    qn_tensors *t = d->f->t;
    qn_tensors_stats stats = {.nodes = 0};
    qn_tensor *gradient = NULL;
    double at[5] = {processor_seconds()};
    d->status = qn_scope_begin(t);
    qn_tensor *x = qn_tensor_require_gradient(qn_from_data(t, QN_F32, QN_SHAPE(3), (float[]){1, 2, 3}), true);
    qn_tensor *y = x;
    for (uint32_t i = 0; i < d->ops / 2; i++) y = qn_add(qn_multiply(y, 1 - 0x1p-17), 0.25);
    at[1] = processor_seconds();
    if (!d->status) d->status = qn_gradients(y, &x, 1, &gradient);
    if (!d->status) d->status = qn_tensors_get_stats(t, &stats);
    at[2] = processor_seconds();
    if (!d->status) d->status = qn_tensor_read(gradient, d->gradients, sizeof d->gradients);
    at[3] = processor_seconds();
    if (!d->status) d->status = qn_scope_end(t);
    at[4] = processor_seconds();
    for (int i = 0; i < 4; i++) d->seconds[i] = at[i + 1] - at[i];
    d->nodes = stats.nodes;
    return NULL;
}

static deep run(tensor_fixture *f, uint32_t ops) {
    deep d = {.f = f, .ops = ops};
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, go, &d), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    assert_ok(f->context, d.status);
    return d;
}

static void gradients_through_a_deep_chain(void **state) {
    const deep d = run(fixture_of(state), OPS);
    const double wanted = pow(1 - 0x1p-17, OPS / 2);
    for (int i = 0; i < 3; i++)
        if (fabs(d.gradients[i] - wanted) > 1e-3) fail_msg("%g is not %g", (double)d.gradients[i], wanted);
    assert_true(d.nodes <= (uint64_t)4 * OPS); /* a note for each op, its number, and one for its gradient */
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients_through_a_deep_chain)};
    if (argc < 2) return run_tensor_tests(tests, NULL);
    tensor_fixture f = make_tensors(NULL);
    for (int i = 1; i < argc; i++) {
        const uint32_t ops = (uint32_t)strtoul(argv[i], NULL, 10);
        const deep d = run(&f, ops);
        const double each = 1e6 / ops;
        printf("%u ops: us of the processor for each: made %.2f, gradients %.2f, computed %.2f, gone %.2f\n",
               (unsigned)ops, d.seconds[0] * each, d.seconds[1] * each, d.seconds[2] * each,
               d.seconds[3] * each);
    }
    end_tensors(&f);
    return 0;
}
