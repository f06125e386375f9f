/* Messages in the trace: an event of the thread that sends or receives one, and an arrow from a message to its answer, whose ends know each
   other by the message's time and number. */
#include <quern/history.h>
#include <stdio.h>

#include "ring/internal.h"

static void add(const qn_ring *ring, const char *what, qn_trace_event *event) {
    char name[96];
    snprintf(name, sizeof name, "%s %s", what, ring->label);
    event->name = name;
    qn_trace_add(ring->context, event);
}

void qn__ring_trace_sent(const qn_ring *ring, const qn_ring_message *first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        qn_trace_event event = {.begin_ns = first->time_ns, .flow = {first->time_ns, first->id + i}};
        event.end_ns = qn__ring_now();
        add(ring, "to", &event);
    }
}

void qn__ring_trace_got(const qn_ring *ring, const qn_ring_message *message) {
    qn_trace_event event = {.begin_ns = qn__ring_now(), .ends = true};
    if (message->correlation) {
        event.flow[0] = message->time_ns;
        event.flow[1] = message->correlation;
    }
    event.end_ns = qn__ring_now();
    add(ring, "from", &event);
}
