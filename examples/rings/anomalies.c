/* A detector of anomalies: readings of sensors come in batches at low priority, and the detector keeps their means and
   variances on the device; questions of an operator come at the highest, and do not wait behind the readings.
   Usage: quern_ring_anomalies [PICTURE.svg] */
#include <string.h>

#include "shared.h"

enum { SENSORS = 16, BATCH = 200, BATCHES = 100, EVERY = 997, QUESTION = 1, URGENT = 255 };

typedef struct reading {
    uint32_t sensor, number;
    float value;
} reading;

/* Answers are for questions, and for readings that are six deviations from their sensor's mean. */
static const char source[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct reading { uint sensor, number; float value; } reading;\n"
    "typedef struct sensor { float count, mean, squares; } sensor;\n"
    "void detect(qn_ring *ring, local const reading *in, global sensor *sensors) {\n"
    "    global sensor *s = &sensors[in->sensor];\n"
    "    reading out = *in;\n"
    "    if (qn_ring_current(ring)->type == 1) {\n"
    "        out.number = (uint)s->count;\n"
    "        out.value = s->mean;\n"
    "        qn_ring_reply(ring, &out, sizeof out);\n"
    "        return;\n"
    "    }\n"
    "    const float away = in->value - s->mean, variance = s->squares / fmax(s->count, 1.0f);\n"
    "    if (s->count > 30 && away * away > 36 * variance) {\n"
    "        qn_ring_reply(ring, &out, sizeof out);\n"
    "        return;\n"
    "    }\n"
    "    s->count += 1;\n" /* B. Welford's way to a variance */
    "    s->mean += away / s->count;\n"
    "    s->squares += away * (in->value - s->mean);\n"
    "}\n";

static bool is_odd_one(uint32_t number) { return number > SENSORS * 40 && number % EVERY == 0; }

static reading make_reading(uint32_t number) {
    const uint32_t noise = number * 2654435761u >> 16;
    const float value = (float)(number % SENSORS) + (float)noise / 65536;
    return (reading){number % SENSORS, number, is_odd_one(number) ? value + 50 : value};
}

typedef struct tally {
    uint32_t found, wrong, questions;
} tally;

/* Takes all answers that are there; a question's is waited for. */
static qn_status take_answers(qn_ring *ring, bool asked, tally *t) {
    for (;;) {
        qn_ring_message message;
        reading answer;
        const qn_status status =
            qn_ring_receive(ring, &message, &answer, sizeof answer, asked ? 10 * SECOND : 0);
        if (status == QN_ERROR_TIMEOUT && !asked) return QN_OK;
        if (status) return status;
        if (message.priority == URGENT) {
            asked = false;
            t->questions++;
        } else if (is_odd_one(answer.number)) {
            t->found++;
        } else {
            t->wrong++;
        }
    }
}

static qn_status ask(qn_ring *ring, uint32_t sensor, tally *t) {
    const reading question = {sensor, 0, 0};
    qn_ring_message message = {.priority = URGENT, .type = QUESTION};
    const qn_status status = qn_ring_send(ring, &message, &question, sizeof question, 10 * SECOND);
    return status ? status : take_answers(ring, true, t);
}

static qn_status run(qn_ring *ring, tally *t) {
    static reading readings[BATCH];
    const qn_ring_batch batch = {
        .payloads = readings, .size = sizeof *readings, .stride = sizeof *readings, .count = BATCH};
    qn_status status = QN_OK;
    for (uint32_t b = 0; b < BATCHES && !status; b++) {
        for (uint32_t i = 0; i < BATCH; i++) readings[i] = make_reading(b * BATCH + i);
        uint32_t sent;
        status = qn_ring_send_batch(ring, &batch, &sent, 10 * SECOND);
        if (!status) status = ask(ring, b % SENSORS, t);
    }
    if (!status) status = qn_ring_stop(ring, QN_RING_DRAIN, 10 * SECOND);
    if (status) return status;
    status = take_answers(ring, false, t);
    return status == QN_ERROR_STATE ? QN_OK : status; /* nothing is left */
}

int main(int argc, char **argv) {
    float zeros[3 * SENSORS];
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_buffer *state = NULL;
    qn_ring *ring = NULL;
    tally t = {0};
    uint32_t planted = 0;
    memset(zeros, 0, sizeof zeros);
    for (uint32_t i = 0; i < BATCH * BATCHES; i++) planted += is_odd_one(i);
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = sizeof zeros}, &state);
    if (!status) status = qn_buffer_write(state, 0, zeros, sizeof zeros);
    const qn_ring_desc desc = {.program = {.source = source},
                               .handler = "detect",
                               .message_type = "reading",
                               .message_size = sizeof(reading),
                               .reply_size = sizeof(reading),
                               .state = state,
                               .state_type = "sensor",
                               .capacity = 1024,
                               .bands = 2};
    if (!status) status = start_ring(device, &desc, &ring);
    if (!status) status = run(ring, &t);
    if (!status) report_ring(ring, "answers of a detector under load", argc > 1 ? argv[1] : NULL);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    printf("%u of %u anomalies found, %u false alarms, %u questions answered\n", t.found, planted, t.wrong,
           t.questions);
    qn_ring_destroy(ring);
    qn_buffer_destroy(state);
    qn_context_destroy(context);
    return status || t.wrong || t.found != planted;
}
