/* Connectionist temporal classification (Graves, Fernandez, Gomez and Schmidhuber, 2006): minus the logarithm of the probability of all ways in which a
   sequence of classes and blanks reads as the target. The logarithms of the probabilities of all beginnings are carried from element to
   element; what is impossible has the logarithm NEVER, which is finite, so that gradients are. */
#include <math.h>

#include "nn/nn.h"

#define NEVER (-1e30)

typedef struct problem {
    qn_tensor *logs;                     /* [length, batches, classes] */
    qn_tensor *targets;                  /* [batches, room] */
    qn_tensor *lengths, *target_lengths; /* [batches, 1]; NULL: all are whole */
    uint64_t length, batches, room;
    int64_t blank;
} problem;

/* [batches, 2 room + 1]: the target with a blank before, between and behind. */
static qn_tensor *with_blanks(const problem *p) {
    qn_tensors *t = qn_tensor_owner(p->logs);
    qn_tensor *blank = qn_full(t, QN_I64, QN_SHAPE(p->batches, 1), p->blank);
    if (!p->room) return blank;
    qn_tensor *pairs[] = {qn_broadcast_to(blank, QN_SHAPE(p->batches, p->room)), qn_cast(p->targets, QN_I64)};
    qn_tensor *ends[] = {qn_flatten(qn_stack(pairs, 2, 2), 1, 2), blank};
    return qn_concat(ends, 2, 1);
}

/* Moved by so many places along the last dimension. */
static qn_tensor *moved(qn_tensor *x, uint64_t by, double fill) {
    const uint64_t size = qn_tensor_shape(x).sizes[1];
    if (by >= size) return qn_full_like(x, fill);
    return qn_pad(qn_slice(x, 1, 0, (int64_t)(size - by), 1), 1, by, 0, fill);
}

/* The logarithms of the probabilities of the targets, [batches]. */
static qn_tensor *log_likelihood(const problem *p) {
    qn_tensors *t = qn_tensor_owner(p->logs);
    const qn_element type = qn_tensor_type(p->logs) == QN_F64 ? QN_F64 : QN_F32;
    qn_tensor *labels = with_blanks(p);
    qn_tensor *given = qn_take_along_axis(qn_cast(p->logs, type), qn_unsqueeze(labels, 0), 2);
    given = qn_maximum(given, NEVER);
    /* A blank cannot be left out, nor can one between equal labels. */
    qn_tensor *skips =
        qn_logical_and(qn_not_equal(labels, p->blank), qn_not_equal(labels, moved(labels, 2, -1)));
    qn_tensor *place = qn_arange(t, QN_I64, 0, (double)(2 * p->room + 1), 1);
    qn_tensor *ways = NULL;
    for (uint64_t i = 0; i < p->length; i++) {
        qn_tensor *element = qn_squeeze(qn_slice(given, 0, (int64_t)i, (int64_t)i + 1, 1), QN_AXES(0));
        qn_tensor *next;
        if (ways) {
            qn_tensor *near = qn_log_add_exp(ways, moved(ways, 1, NEVER));
            qn_tensor *all = qn_log_add_exp(near, qn_where(skips, moved(ways, 2, NEVER), NEVER));
            next = qn_add(all, element);
            if (p->lengths) next = qn_where(qn_greater(p->lengths, i), next, ways);
        } else {
            next = qn_where(qn_less(place, 2), element, NEVER);
        }
        ways = next;
    }
    if (!ways)
        ways =
            qn_broadcast_to(qn_where(qn_equal(place, 0), 0.0, NEVER), QN_SHAPE(p->batches, 2 * p->room + 1));
    qn_tensor *end = p->target_lengths ? qn_multiply(qn_cast(p->target_lengths, QN_I64), 2)
                                       : qn_full(t, QN_I64, QN_SHAPE(1, 1), 2 * p->room);
    qn_tensor *is_end = qn_logical_or(qn_equal(place, end), qn_equal(place, qn_subtract(end, 1)));
    return qn_log_sum_exp(qn_where(is_end, ways, NEVER), QN_AXES(1), false);
}

static qn_tensor *check(qn_tensor *logs, qn_tensor *targets, qn_tensor *lengths, qn_tensor *target_lengths) {
    qn_tensor *const given[] = {logs, targets, lengths, target_lengths};
    for (uint32_t i = 0; i < 4; i++)
        if ((i < 2 || given[i]) && qn_tensor_status(given[i])) {
            if (given[i]) return given[i];
            return qn_tensor_fail(qn_tensor_owner(logs), QN_ERROR_NULL, "qn_ctc_loss: x or targets is NULL");
        }
    const qn_shape x = qn_tensor_shape(logs), y = qn_tensor_shape(targets);
    bool fits = x.rank == 3 && y.rank == 2 && x.sizes[1] == y.sizes[0];
    for (uint32_t i = 2; i < 4 && fits; i++)
        fits = !given[i] || (qn_tensor_shape(given[i]).rank == 1 && qn_tensor_count(given[i]) == x.sizes[1]);
    if (fits) return NULL;
    return qn_tensor_fail(
        qn_tensor_owner(logs), QN_ERROR_ARGUMENT,
        "qn_ctc_loss: x is [length, batches, classes], targets are [batches, room], lengths [batches]");
}

qn_tensor *qn_ctc_loss(qn_tensor *x, qn_tensor *targets, const qn_ctc_desc *desc) {
    static const qn_ctc_desc defaults;
    const qn_ctc_desc *d = desc ? desc : &defaults;
    qn_tensor *wrong = check(x, targets, d->lengths, d->target_lengths);
    if (wrong) return wrong;
    const qn_shape shape = qn_tensor_shape(x);
    problem p = {.logs = x,
                 .targets = targets,
                 .lengths = d->lengths ? qn_unsqueeze(d->lengths, 1) : NULL,
                 .target_lengths = d->target_lengths ? qn_unsqueeze(d->target_lengths, 1) : NULL,
                 .length = shape.sizes[0],
                 .batches = shape.sizes[1],
                 .room = qn_tensor_shape(targets).sizes[1],
                 .blank = d->blank};
    qn_tensor *log = log_likelihood(&p);
    qn_tensor *losses =
        qn_where(qn_less(log, NEVER / 10), d->zero_impossible ? 0.0 : INFINITY, qn_negate(log));
    losses = qn_cast(losses, qn_tensor_type(x));
    if (d->result != QN_LOSS_MEAN) return qn__nn_reduced(losses, d->result);
    if (!d->target_lengths) return qn__nn_reduced(qn_divide(losses, p.room ? (double)p.room : 1), d->result);
    return qn__nn_reduced(qn_divide(losses, qn_maximum(d->target_lengths, 1)), d->result);
}
