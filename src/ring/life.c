/* A ring's life: which call leads from which state to which, and launching its kernel.

   The kernel ends by itself where it finds nothing to do for long (or at once). It says so first, by the number of its launch in
   `parked`, and then looks at the queue once more. A host that has put a message in looks at `parked` afterwards, and launches the
   kernel again where that is the number of the newest launch. So one of the two sees the message. Both a store and then a load of
   another word: what keeps these in order is a sequentially consistent fence on either side. */
#include <stdio.h>

#include "ring/internal.h"

#define SECOND ((uint64_t)1000000000)

typedef enum verb { LAUNCH, ACTIVATE, PAUSE, RESUME, STOP, NUM_VERBS } verb;

#define STATE_BIT(state) (1u << (state))

/* What each call needs, and where it leads. */
static const struct {
    const char *function;
    unsigned from;
    qn_ring_state to;
    uint32_t command;
} verbs[NUM_VERBS] = {
    [LAUNCH] = {"qn_ring_launch", STATE_BIT(QN_RING_CREATED) | STATE_BIT(QN_RING_STOPPED), QN_RING_LAUNCHED,
                QN__RING_PAUSE},
    [ACTIVATE] = {"qn_ring_activate", STATE_BIT(QN_RING_LAUNCHED), QN_RING_ACTIVE, QN__RING_RUN},
    [PAUSE] = {"qn_ring_pause", STATE_BIT(QN_RING_ACTIVE), QN_RING_PAUSED, QN__RING_PAUSE},
    [RESUME] = {"qn_ring_resume", STATE_BIT(QN_RING_PAUSED), QN_RING_ACTIVE, QN__RING_RUN},
    [STOP] = {"qn_ring_stop",
              STATE_BIT(QN_RING_LAUNCHED) | STATE_BIT(QN_RING_ACTIVE) | STATE_BIT(QN_RING_PAUSED) |
                  STATE_BIT(QN_RING_STOPPING),
              QN_RING_STOPPING, QN__RING_DRAIN},
};

const char *qn__ring_state_name(int state) {
    static const char *const names[] = {"created",  "launched", "active", "paused",
                                        "stopping", "stopped",  "failed"};
    return names[state];
}

/* ---- launching ---- */

static qn_range range_of(const qn_ring *ring) {
    return (qn_range){.global = {(uint64_t)ring->desc.groups * ring->items}, .local = {ring->items}};
}

static qn_status submit_kernel(qn_ring *ring) {
    const qn_range range = range_of(ring);
    qn_arg args[8 + QN__RING_LINKS_MOST] = {qn_arg_buffer(ring->control_buffer),
                                            qn_arg_buffer(ring->in.memory), qn_arg_buffer(ring->in.ends),
                                            qn_arg_buffer(ring->out.memory), qn_arg_buffer(ring->out.ends)};
    uint32_t count = 5;
    if (ring->mail) args[count++] = qn_arg_buffer(ring->mail->memory);
    for (uint32_t i = 0; i < ring->desc.links; i++)
        args[count++] = qn_arg_buffer(ring->outlets[i].mail->memory);
    if (ring->blocks) args[count++] = qn_arg_buffer(ring->block_memory);
    if (ring->desc.state) args[count++] = qn_arg_buffer(ring->desc.state);
    return qn_launch(ring->stream, ring->kernel, &range, args, count);
}

/* Launches that follow each other quickly are recorded once. */
static qn_status submit_graph(qn_ring *ring) {
    if (!ring->graph) {
        qn_status status = qn_graph_begin(ring->stream);
        if (status) return status;
        status = submit_kernel(ring);
        const qn_status ended = qn_graph_end(ring->stream, &ring->graph);
        if (!status) status = ended;
        if (status) { /* the next launch records anew */
            qn_graph_destroy(ring->graph);
            ring->graph = NULL;
            return status;
        }
    }
    return qn_graph_launch(ring->stream, ring->graph);
}

static void number_launch(qn_ring *ring, uint32_t epoch) {
    atomic_store(&ring->epoch, epoch);
    atomic_store_explicit(&ring->control->epoch, epoch, memory_order_release);
}

/* Where the kernel has ended or is about to. A launch that does not come about has no number, so that the kernel is still parked. */
qn_status qn__ring_submit(qn_ring *ring) {
    const uint32_t before = atomic_load(&ring->epoch);
    qn__ring_await_turn(ring);
    qn__ring_stay(ring);
    number_launch(ring, before + 1);
    qn_status status = ring->mirror ? qn__ring_mirror_send(ring) : QN_OK;
    if (!status) status = ring->desc.mode == QN_RING_LAUNCHES ? submit_graph(ring) : submit_kernel(ring);
    if (status) {
        number_launch(ring, before);
        if (ring->mirror) qn__ring_mirror_call_off(ring);
        return status;
    }
    if (ring->mirror) status = qn__ring_mirror_fetch(ring);
    const qn_status recorded = qn_stream_record(ring->stream, ring->ended);
    if (!recorded) ring->launched = true;
    return status ? status : recorded;
}

bool qn__ring_is_parked(const qn_ring *ring) {
    return atomic_load_explicit(&ring->control->parked, memory_order_acquire) == atomic_load(&ring->epoch);
}

/* Under the net's lock. */
static bool is_pending(const qn_ring *ring) {
    return qn__ring_queue_is_pending(&ring->in) || qn__ring_mail_depth(ring);
}

static bool has_work(const qn_ring *ring) {
    const uint32_t command = qn__ring_command(ring);
    return (command == QN__RING_RUN || command == QN__RING_DRAIN) && is_pending(ring) &&
           qn__ring_queue_has_room(&ring->out, ring->desc.sends) && qn__ring_links_have_room(ring);
}

/* One that stays has left for others, but before its first launch. */
static bool is_missed(const qn_ring *ring) {
    const int state = atomic_load(&ring->state);
    return !ring->parks && (state == QN_RING_LAUNCHED || state == QN_RING_ACTIVE || state == QN_RING_PAUSED);
}

static bool is_wanted(const qn_ring *ring) {
    return qn__ring_is_parked(ring) && !atomic_load(&ring->aside) && (is_missed(ring) || has_work(ring));
}

static bool may_park(const qn_ring *ring) { return ring->parks || atomic_load(&ring->has_left); }

/* Under the net's lock. */
static qn_status kick(qn_ring *ring) {
    if (!is_wanted(ring)) return QN_OK;
    pthread_mutex_lock(&ring->lock);
    const bool wanted = is_wanted(ring) && atomic_load(&ring->state) != QN_RING_FAILED;
    const qn_status status = wanted ? qn__ring_submit(ring) : QN_OK;
    pthread_mutex_unlock(&ring->lock);
    return status;
}

qn_status qn__ring_kick(qn_ring *ring) {
    if (!may_park(ring)) return QN_OK;
    qn__ring_mirror_look(ring);
    atomic_thread_fence(memory_order_seq_cst);
    if (!qn__ring_is_parked(ring)) return QN_OK;
    qn__ring_net *net = qn__ring_net_lock(ring);
    const qn_status status = kick(ring);
    qn__ring_net_unlock(net);
    return status;
}

qn_status qn__ring_kick_after(qn_ring *ring) {
    const qn_status status = qn__ring_kick(ring);
    return status == QN_ERROR_DEVICE_LOST ? status : QN_OK;
}

qn_status qn__ring_kick_net(qn_ring *ring, bool looks) {
    if (!ring->net) return qn__ring_kick(ring);
    qn_status status = QN_OK;
    atomic_thread_fence(memory_order_seq_cst);
    qn__ring_net *net = qn__ring_net_lock(ring);
    for (uint32_t i = 0; i < net->count && !status; i++) {
        qn_ring *other = net->rings[i];
        if (!other || other->closes) continue;
        /* Who waits for that one is told what was wrong. */
        if (looks && other != ring && qn__ring_look(other)) continue;
        qn__ring_mirror_look(other);
        if (may_park(other)) status = kick(other);
    }
    qn__ring_net_unlock(net);
    return status;
}

/* ---- failing ---- */

static qn_status failure_of(const qn_ring *ring) {
    return qn__ring_fail(ring, ring->failure, "%s", ring->why);
}

/* Under the lock. The kernel's last words are already in qn_error_message of this thread; others get them from here. */
static qn_status fail(qn_ring *ring, qn_status status, const char *why) {
    snprintf(ring->why, sizeof ring->why, "ring '%s' has failed: %s", ring->label, why);
    ring->failure = status;
    ring->errors++;
    atomic_store(&ring->state, QN_RING_FAILED);
    qn__ring_tell(ring, QN__RING_DROP);
    if (ring->device_info.capabilities & QN_CAN_CANCEL) qn_stream_cancel(ring->stream);
    return qn__ring_is_supervised(ring) ? QN_OK : failure_of(ring);
}

static bool has_failed(const qn_ring *ring) { return atomic_load(&ring->state) == QN_RING_FAILED; }

static qn_status look_at_groups(qn_ring *ring) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        const uint32_t code = atomic_load_explicit(&groups[i].failed, memory_order_acquire);
        if (!code) continue;
        char why[160];
        snprintf(why, sizeof why, "its handler gave up message %llu with code %u (qn_ring_fail)",
                 (unsigned long long)groups[i].message, (unsigned)code);
        return fail(ring, QN_ERROR_KERNEL_FAILED, why);
    }
    return QN_OK;
}

/* The same where nothing is seen before a launch ends, all of whose messages have the time that each of them has, and a second for the
   way. */
static qn_status watch_launch(qn_ring *ring) {
    uint32_t messages;
    uint64_t id;
    const uint64_t age = qn__ring_mirror_age(ring, &messages, &id), each = ring->desc.handler_ns;
    if (!each || !messages || age / messages <= each || age - messages * each <= SECOND) return QN_OK;
    char why[240], which[40] = "a message of another ring", behind[48] = "";
    if (id) snprintf(which, sizeof which, "message %llu", (unsigned long long)id);
    if (messages > 1) snprintf(behind, sizeof behind, ", or those behind it, %u in all,", (unsigned)messages);
    snprintf(why, sizeof why, "its handler has been at %s%s for %llu us; %llu are allowed%s", which, behind,
             (unsigned long long)(age / 1000), (unsigned long long)(each / 1000),
             messages > 1 ? " for each" : "");
    return fail(ring, QN_ERROR_KERNEL_FAILED, why);
}

/* Whether a handler is over its time. */
static qn_status watch_groups(qn_ring *ring) {
    if (ring->mirror) return watch_launch(ring);
    const qn__ring_group *groups = qn__ring_groups(ring);
    const uint64_t now = ring->desc.handler_ns ? qn__ring_now() : 0;
    for (uint32_t i = 0; i < ring->desc.groups && now; i++) {
        const uint32_t taken = atomic_load(&groups[i].taken);
        const bool busy = taken != atomic_load(&groups[i].done);
        if (!busy || taken != ring->watched[i].taken || !ring->watched[i].since_ns) {
            ring->watched[i].taken = taken;
            ring->watched[i].since_ns = busy ? now : 0;
        } else if (now - ring->watched[i].since_ns > ring->desc.handler_ns) {
            char why[160];
            snprintf(why, sizeof why, "its handler has been at message %llu for %llu us; %llu are allowed",
                     (unsigned long long)groups[i].message,
                     (unsigned long long)((now - ring->watched[i].since_ns) / 1000),
                     (unsigned long long)(ring->desc.handler_ns / 1000));
            return fail(ring, QN_ERROR_KERNEL_FAILED, why);
        }
    }
    return QN_OK;
}

static qn_status watch_heartbeat(qn_ring *ring) {
    const uint64_t still_ns = qn__ring_stands_still(ring);
    char why[160];
    if (!still_ns) return QN_OK;
    snprintf(why, sizeof why,
             "its heartbeat has stood still for %llu s, though messages wait and none is being handled",
             (unsigned long long)(still_ns / SECOND));
    return fail(ring, QN_ERROR_KERNEL_FAILED, why);
}

static uint64_t last_message(const qn_ring *ring) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    uint64_t id = 0;
    for (uint32_t i = 0; i < ring->desc.groups; i++)
        if (atomic_load(&groups[i].taken) != atomic_load(&groups[i].done)) id = groups[i].message;
    return id;
}

/* What the launch has come to. That a driver has reached the event behind it does not say that the kernel did not fail: the stream
   does, once, and of a safe program also while it runs. QN_OK: nothing is wrong so far. */
static qn_status look_at_launch(qn_ring *ring) {
    bool done = false;
    qn_status status = qn_event_done(ring->ended, &done);
    const uint32_t epoch = atomic_load(&ring->epoch);
    if (status || (done ? ring->judged == epoch : !ring->is_safe)) return status;
    status = qn_stream_wait(ring->stream, 0);
    if (status == QN_ERROR_TIMEOUT) return QN_OK;
    if (done) ring->judged = epoch;
    return status;
}

/* Its last launch has, and not as one that parks or is told to: a loop by hand. */
static bool has_ended(const qn_ring *ring) {
    const uint32_t command = qn__ring_command(ring);
    return ring->desc.mode == QN_RING_RESIDENT && ring->judged == atomic_load(&ring->epoch) &&
           !qn__ring_is_parked(ring) && (command == QN__RING_RUN || command == QN__RING_PAUSE);
}

/* What it has said at its end comes first. */
static qn_status tell_end(qn_ring *ring) {
    const uint64_t id = last_message(ring);
    char why[80];
    qn_status status = look_at_groups(ring);
    if (status || has_failed(ring)) return status;
    snprintf(why, sizeof why, "its kernel has ended by itself");
    if (id) snprintf(why, sizeof why, "with message %llu: its kernel has ended", (unsigned long long)id);
    return fail(ring, QN_ERROR_KERNEL_FAILED, why);
}

static qn_status look(qn_ring *ring) {
    if (has_failed(ring)) return qn__ring_is_supervised(ring) ? QN_OK : failure_of(ring);
    qn__ring_mirror_update(ring);
    qn_status status = look_at_groups(ring);
    if (!status && !has_failed(ring)) status = watch_groups(ring);
    if (!status && !has_failed(ring)) status = watch_heartbeat(ring);
    if (status || has_failed(ring) || !ring->launched) return status;
    status = look_at_launch(ring);
    if (!status && ring->mirror) status = qn__ring_mirror_complete(ring);
    if (!status) return has_ended(ring) ? tell_end(ring) : QN_OK;
    char why[400], said[304], with[40] = "";
    snprintf(said, sizeof said, "%.300s", qn_error_message(ring->context));
    qn_status recovered = QN_OK; /* without its reports the sentence names no message */
    if (ring->mirror && status != QN_ERROR_DEVICE_LOST) recovered = qn__ring_mirror_recover(ring);
    const uint64_t id = recovered ? 0 : last_message(ring);
    if (id) snprintf(with, sizeof with, "with message %llu: ", (unsigned long long)id);
    snprintf(why, sizeof why, "%s%s", with, said);
    return fail(ring, status, why);
}

qn_status qn__ring_look(qn_ring *ring) {
    pthread_mutex_lock(&ring->lock);
    const qn_status status = look(ring);
    pthread_mutex_unlock(&ring->lock);
    return status;
}

qn_status qn_ring_watch(qn_ring *ring) {
    qn_status status = qn__ring_check(ring, "qn_ring_watch");
    if (!status) status = qn__ring_look(ring);
    if (status) return status;
    return ring->net ? qn__ring_kick_net(ring, true) : qn__ring_kick_after(ring);
}

/* ---- the calls ---- */

static qn_status begin(qn_ring *ring, verb which) {
    qn_status status = qn__ring_check(ring, verbs[which].function);
    if (status) return status;
    const int state = atomic_load(&ring->state);
    if (state == QN_RING_FAILED) status = qn__ring_look(ring);
    if (status) return status;
    if (verbs[which].from & STATE_BIT((unsigned)state)) return QN_OK;
    return qn__ring_fail(ring, QN_ERROR_STATE, "%s: ring '%s' is %s", verbs[which].function, ring->label,
                         qn__ring_state_name(state));
}

static bool groups_report(const qn_ring *ring, uint32_t status) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        const uint32_t now = atomic_load_explicit(&groups[i].status, memory_order_acquire);
        if (now != status && now != QN__GROUP_PARKED) return false;
    }
    return true;
}

/* What may be the cause that a kernel does not come; nothing where none is known. */
static const char *why_absent(const qn_ring *ring) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    if (ring->device_info.kind != QN_DEVICE_CUDA || ring->desc.mode != QN_RING_RESIDENT) return "";
    for (uint32_t i = 0; i < ring->desc.groups; i++)
        if (atomic_load(&groups[i].status) != QN__GROUP_ABSENT) return "";
    return ", and none has begun: CUDA's driver runs no more kernels that stay, of all rings and streams, "
           "than it has connections: 8, or as many as CUDA_DEVICE_MAX_CONNECTIONS says when the program "
           "starts";
}

/* Until all work-groups do what they have been told. */
static qn_status await(qn_ring *ring, verb which, uint32_t wanted, uint64_t timeout_ns) {
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    /* What a launch that is under way was told is what was true when it began. */
    while (!groups_report(ring, wanted) || (wanted == QN__GROUP_PAUSED && qn__ring_mirror_is_away(ring))) {
        qn__ring_mirror_pass(ring, &wait);
        qn_status status = qn__ring_wait_is_long(&wait) ? qn__ring_look(ring) : QN_OK;
        if (!status && has_failed(ring)) status = failure_of(ring);
        if (status) return status;
        if (!qn__ring_wait_more(&wait))
            return qn__ring_fail(ring, QN_ERROR_TIMEOUT,
                                 "%s: not all of the %u work-groups of ring '%s' got there in %llu us%s",
                                 verbs[which].function, (unsigned)ring->desc.groups, ring->label,
                                 (unsigned long long)(timeout_ns / 1000), why_absent(ring));
    }
    return QN_OK;
}

static void enter(qn_ring *ring, verb which) {
    atomic_store(&ring->state, verbs[which].to);
    qn__ring_tell(ring, verbs[which].command);
}

/* As after qn_ring_create. */
static qn_status reset(qn_ring *ring) {
    qn_status status = qn__ring_queue_reset(&ring->in, ring->stream);
    if (!status) status = qn__ring_queue_reset(&ring->out, ring->stream);
    for (uint32_t i = 0; i < ring->desc.groups; i++)
        atomic_store(&qn__ring_groups(ring)[i].status, QN__GROUP_ABSENT);
    for (uint32_t band = 0; band < QN__RING_BANDS_MOST; band++)
        atomic_store(&ring->control->revoked[band], 0);
    atomic_store(&ring->control->parked, atomic_load(&ring->epoch));
    return status;
}

/* Counts begin here. */
static void note_launch(qn_ring *ring) {
    const qn__ring_group *groups = qn__ring_groups(ring);
    for (uint32_t band = 0; band < ring->desc.bands; band++) {
        uint32_t taken = 0;
        for (uint32_t i = 0; i < ring->desc.groups; i++) taken += atomic_load(&groups[i].bands[band]);
        atomic_store(&ring->taken_before[band], taken);
    }
    qn__ring_count(ring);
    ring->launch_ns = qn__ring_now();
    ring->handled_before = ring->handled;
}

qn_status qn__ring_await_launch(qn_ring *ring, uint64_t timeout_ns) {
    const qn_status status = await(ring, LAUNCH, QN__GROUP_PAUSED, timeout_ns);
    if (status == QN_ERROR_TIMEOUT && !qn__ring_service_is_here(ring)) { /* nobody asks it for a deadline */
        enter(ring, STOP);
        qn__ring_tell(ring, QN__RING_DROP);
    }
    return status;
}

static qn_status launch(qn_ring *ring, uint64_t timeout_ns) {
    qn_status status = begin(ring, LAUNCH);
    if (status) return status;
    qn__ring_supervise_anew(ring);
    pthread_mutex_lock(&ring->receive_lock);
    if (atomic_load(&ring->state) == QN_RING_STOPPED) qn__ring_service_forget(ring);
    pthread_mutex_lock(&ring->lock);
    const int before = atomic_load(&ring->state);
    if (before == QN_RING_STOPPED) status = reset(ring);
    pthread_mutex_unlock(&ring->receive_lock);
    if (!status) note_launch(ring);
    if (!status) enter(ring, LAUNCH);
    if (!status) status = qn__ring_submit(ring);
    if (status) atomic_store(&ring->state, before);
    pthread_mutex_unlock(&ring->lock);
    return status ? status : qn__ring_await_launch(ring, timeout_ns);
}

qn_status qn_ring_launch(qn_ring *ring, uint64_t timeout_ns) {
    const qn_status status = qn__ring_change_begin(ring, "qn_ring_launch");
    return status ? status : qn__ring_change_end(ring, launch(ring, timeout_ns));
}

static qn_status move(qn_ring *ring, verb which, uint32_t wanted, uint64_t timeout_ns) {
    qn_status status = qn__ring_change_begin(ring, verbs[which].function);
    if (status) return status;
    status = begin(ring, which);
    if (!status) enter(ring, which);
    if (!status) status = qn__ring_kick(ring);
    if (!status) status = await(ring, which, wanted, timeout_ns);
    return qn__ring_change_end(ring, status);
}

qn_status qn_ring_activate(qn_ring *ring, uint64_t timeout_ns) {
    return move(ring, ACTIVATE, QN__GROUP_RUNNING, timeout_ns);
}

qn_status qn_ring_pause(qn_ring *ring, uint64_t timeout_ns) {
    return move(ring, PAUSE, QN__GROUP_PAUSED, timeout_ns);
}

qn_status qn_ring_resume(qn_ring *ring, uint64_t timeout_ns) {
    return move(ring, RESUME, QN__GROUP_RUNNING, timeout_ns);
}

/* Whether the kernel has ended for good; launches it once more where messages are left that it is to drain. */
static qn_status ends(qn_ring *ring, bool *ended) {
    qn__ring_net *net = qn__ring_net_lock(ring);
    pthread_mutex_lock(&ring->lock);
    bool done = true;
    qn_status status = look(ring);
    if (!status && !ring->mirror) status = qn_event_done(ring->ended, &done);
    if (ring->mirror) done = !qn__ring_mirror_is_away(ring);
    const bool drains = qn__ring_command(ring) == QN__RING_DRAIN;
    const bool is_sent = atomic_load(&ring->senders) != 0; /* no other begins */
    const bool is_left = drains && is_pending(ring);
    *ended = done && !is_left && !is_sent;
    if (!status && done && is_left && has_work(ring) && !atomic_load(&ring->aside))
        status = qn__ring_submit(ring);
    pthread_mutex_unlock(&ring->lock);
    qn__ring_net_unlock(net);
    return status;
}

/* A ring that fails from now on is not restarted. */
static qn_status stop(qn_ring *ring, qn_ring_stop_how how, uint64_t timeout_ns) {
    if (atomic_load(&ring->state) == QN_RING_STOPPED) return QN_OK;
    qn_status status = begin(ring, STOP);
    if (status) return status;
    atomic_store(&ring->supervisor.gave_up, true);
    if (how != QN_RING_DRAIN && how != QN_RING_DROP)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_stop: how is neither QN_RING_DRAIN nor QN_RING_DROP");
    enter(ring, STOP);
    if (how == QN_RING_DROP) qn__ring_tell(ring, QN__RING_DROP);
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    for (bool ended = false; !ended;) {
        status = ends(ring, &ended);
        if (!status && !ended && ring->net) status = qn__ring_kick_net(ring, false);
        if (status) return status;
        if (!ended && !qn__ring_wait_more(&wait))
            return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "qn_ring_stop: ring '%s' had not ended in %llu us%s",
                                 ring->label, (unsigned long long)(timeout_ns / 1000),
                                 qn__ring_queue_has_room(&ring->out, ring->desc.sends)
                                     ? ""
                                     : ": what it has sent has to be received first");
    }
    status = qn_stream_wait(ring->stream, QN_FOREVER);
    atomic_fetch_add(&ring->stops, 1);
    atomic_store(&ring->state, QN_RING_STOPPED);
    return status;
}

qn_status qn_ring_stop(qn_ring *ring, qn_ring_stop_how how, uint64_t timeout_ns) {
    const qn_status status = qn__ring_change_begin(ring, "qn_ring_stop");
    return status ? status : qn__ring_change_end(ring, stop(ring, how, timeout_ns));
}
