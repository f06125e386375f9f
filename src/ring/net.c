/* Rings that send to each other. Of one device they do so in its memory: a ring has mail, a queue beside the host's, in which other
   rings' kernels put messages (ring.cl). Producers take credits first, so that a handler finds room. The host only launches rings
   that have parked, by the counts in the reports of those that send to them. To a ring of another device the host sends on what it
   finds in the output. */
#include <string.h>

#include "ring/internal.h"

/* ---- mail ---- */

/* The words before the slots, and the slots' sequence numbers. */
static void fill_mail(unsigned char *bytes, uint32_t capacity, uint32_t slot_size) {
    uint32_t *words = (uint32_t *)(void *)bytes;
    words[QN__MAIL_CREDITS] = QN__MAIL_CREDIT_BIAS + capacity;
    words[QN__MAIL_CAPACITY] = capacity;
    words[QN__MAIL_SLOT] = slot_size;
    for (uint32_t i = 0; i < capacity; i++)
        memcpy(bytes + QN__MAIL_WORDS * sizeof *words + (size_t)i * slot_size, &i, sizeof i);
}

/* Of a capacity of 0 the words alone. */
static qn_status create_mail(qn_ring *ring, uint32_t capacity, uint32_t slot_size, qn__ring_mail **out) {
    const size_t size = QN__MAIL_WORDS * sizeof(uint32_t) + (size_t)capacity * slot_size;
    const qn_buffer_desc desc = {.size = size, .label = "a ring's mail"};
    void *user = ring->allocator.user;
    qn__ring_mail *mail = ring->allocator.allocate(user, sizeof *mail);
    unsigned char *bytes = ring->allocator.allocate(user, size);
    qn_status status = QN_OK;
    if (!mail || !bytes) status = qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "out of host memory");
    if (mail) *mail = (qn__ring_mail){.holders = 1, .capacity = capacity};
    if (!status) status = qn_buffer_create(ring->device, &desc, &mail->memory);
    if (!status) {
        memset(bytes, 0, size);
        fill_mail(bytes, capacity, slot_size);
        status = qn_buffer_write(mail->memory, 0, bytes, size);
    }
    if (bytes) ring->allocator.release(user, bytes);
    if (status && mail) {
        qn_buffer_destroy(mail->memory);
        ring->allocator.release(user, mail);
    }
    *out = status ? NULL : mail;
    return status;
}

static void let_go(qn_ring *ring, qn__ring_mail *mail) {
    if (!mail || atomic_fetch_sub(&mail->holders, 1) > 1) return;
    qn_buffer_destroy(mail->memory);
    ring->allocator.release(ring->allocator.user, mail);
}

qn_status qn__ring_mail_create(qn_ring *ring) {
    const uint32_t capacity = ring->desc.mail_capacity;
    if (!capacity && !ring->desc.links) return QN_OK;
    qn_status status = create_mail(ring, capacity, capacity ? ring->in.slot_size : 0, &ring->mail);
    for (uint32_t i = 0; i < ring->desc.links && !status; i++)
        status = create_mail(ring, 0, 0, &ring->outlets[i].mail);
    return status;
}

void qn__ring_mail_destroy(qn_ring *ring) {
    for (uint32_t i = 0; i < ring->desc.links; i++) let_go(ring, ring->outlets[i].mail);
    let_go(ring, ring->mail);
}

/* ---- what the host sees ---- */

qn__ring_net *qn__ring_net_lock(const qn_ring *ring) {
    qn__ring_net *net = ring->net;
    if (net) pthread_mutex_lock(&net->lock);
    return net;
}

void qn__ring_net_unlock(qn__ring_net *net) {
    if (net) pthread_mutex_unlock(&net->lock);
}

/* Messages that a ring has put into another's mail so far; wraps. */
static uint32_t count_sent(const qn_ring *from, const qn_ring *to) {
    uint32_t sent = 0;
    for (uint32_t link = 0; link < from->desc.links; link++) {
        if (from->outlets[link].to != to || from->outlets[link].by_host) continue;
        for (uint32_t i = 0; i < from->desc.groups; i++)
            sent += atomic_load_explicit(&qn__ring_groups(from)[i].forwarded[link], memory_order_acquire);
    }
    return sent;
}

uint32_t qn__ring_mail_depth(const qn_ring *ring) {
    const qn__ring_net *net = ring->net;
    if (!net || !ring->desc.mail_capacity) return 0;
    uint32_t taken = 0, sent = ring->gone;
    for (uint32_t i = 0; i < ring->desc.groups; i++)
        taken += atomic_load_explicit(&qn__ring_groups(ring)[i].mailed, memory_order_acquire);
    for (uint32_t i = 0; i < net->count; i++)
        if (net->rings[i]) sent += count_sent(net->rings[i], ring);
    /* What is taken may be seen before it is seen that it was sent. */
    return (int32_t)(sent - taken) > 0 ? sent - taken : 0;
}

bool qn__ring_links_have_room(const qn_ring *ring) {
    for (uint32_t link = 0; link < ring->desc.links; link++) {
        const qn_ring *to = ring->outlets[link].to;
        if (!to || ring->outlets[link].by_host) continue;
        if (qn__ring_mail_depth(to) + ring->desc.sends > to->desc.mail_capacity) return false;
    }
    return true;
}

/* ---- by the host ---- */

bool qn__ring_route(qn_ring *ring, const qn__ring_slot *slot) {
    const uint32_t link = QN__RING_LINK_OF(slot->message.flags) - 1;
    qn_ring_message message = slot->message;
    message.flags = 0;
    qn__ring_net *net = qn__ring_net_lock(ring);
    qn_ring *to = link < ring->desc.links ? ring->outlets[link].to : NULL;
    const int state = to ? atomic_load(&to->state) : QN_RING_STOPPED;
    bool done = state >= QN_RING_LAUNCHED && state <= QN_RING_PAUSED;
    if (done) {
        const uint32_t band = qn__ring_band(to, message.priority);
        done = qn__ring_queue_put(&to->in, band, &message, slot + 1);
        if (done) atomic_fetch_add_explicit(&to->sent[band], 1, memory_order_relaxed);
    }
    qn__ring_net_unlock(net);
    if (!done) return false;
    atomic_fetch_add_explicit(&ring->routed, 1, memory_order_relaxed);
    /* Whether the other ring could be launched is for those to know who wait for it. */
    qn__ring_kick_net(ring, false);
    return true;
}

/* ---- connecting ---- */

static qn_status check_link(const qn_ring_link *link) {
    static const char function[] = "qn_ring_connect";
    qn_status status = qn__ring_check(link->from, function);
    if (!status) status = qn__ring_check(link->to, function);
    if (status) return status;
    const qn_ring *from = link->from, *to = link->to;
    if (from->context != to->context)
        return qn__ring_fail(from, QN_ERROR_ARGUMENT, "%s: rings '%s' and '%s' are of different contexts",
                             function, from->label, to->label);
    if (link->link >= from->desc.links)
        return qn__ring_fail(from, QN_ERROR_RANGE, "%s: ring '%s' has %u links, and link is %u", function,
                             from->label, (unsigned)from->desc.links, (unsigned)link->link);
    if (from->device == to->device && !to->desc.mail_capacity)
        return qn__ring_fail(from, QN_ERROR_ARGUMENT, "%s: ring '%s' gets no mail; give it a mail_capacity",
                             function, to->label);
    const qn_ring *const both[] = {from, to};
    for (int i = 0; i < 2; i++)
        if (atomic_load(&both[i]->state) != QN_RING_CREATED || both[i]->net)
            return qn__ring_fail(from, QN_ERROR_STATE, "%s: ring '%s' is %s", function, both[i]->label,
                                 both[i]->net ? "connected already"
                                              : qn__ring_state_name(atomic_load(&both[i]->state)));
    return QN_OK;
}

static qn_status check_links(const qn_ring_link *links, size_t count) {
    if (!links || count == 0)
        return qn__ring_fail(NULL, QN_ERROR_NULL, "qn_ring_connect: there are no links");
    for (size_t i = 0; i < count; i++) {
        const qn_status status = check_link(&links[i]);
        if (status) return status;
        if (links[i].from->context != links[0].from->context)
            return qn__ring_fail(links[0].from, QN_ERROR_ARGUMENT,
                                 "qn_ring_connect: the rings are of different contexts");
        for (size_t k = 0; k < i; k++)
            if (links[k].from == links[i].from && links[k].link == links[i].link)
                return qn__ring_fail(links[i].from, QN_ERROR_ARGUMENT,
                                     "qn_ring_connect: link %u of ring '%s' is given twice",
                                     (unsigned)links[i].link, links[i].from->label);
    }
    return QN_OK;
}

static void add_ring(qn__ring_net *net, qn_ring *ring) {
    for (uint32_t i = 0; i < net->count; i++)
        if (net->rings[i] == ring) return;
    net->rings[net->count++] = ring;
}

/* What takes memory, before anything is changed: the words of outlets by the host. */
static qn_status make_outlet(const qn_ring_link *link, qn__ring_mail **made) {
    *made = link->to->mail;
    if (link->from->device == link->to->device) {
        atomic_fetch_add(&link->to->mail->holders, 1);
        return QN_OK;
    }
    const qn_status status = create_mail(link->from, 0, link->to->in.slot_size, made);
    if (status) return status;
    pthread_mutex_lock(&link->from->receive_lock);
    const qn_status started = qn__ring_service_start(link->from, "qn_ring_connect");
    pthread_mutex_unlock(&link->from->receive_lock);
    return started;
}

/* Whether one work-group sends to one: both count for themselves then, without credits. */
static qn_status count_senders(const qn_ring_link *links, size_t count, const qn_ring *to) {
    uint32_t groups = 0;
    if (!to->desc.mail_capacity) return QN_OK;
    for (size_t i = 0; i < count; i++)
        if (links[i].to == to && links[i].from->device == to->device) groups += links[i].from->desc.groups;
    const uint32_t alone = groups == 1 && to->desc.groups == 1;
    return qn_buffer_write(to->mail->memory, QN__MAIL_ALONE * sizeof alone, &alone, sizeof alone);
}

static qn_status connect_all(const qn_ring_link *links, size_t count, qn__ring_mail **made,
                             qn__ring_net *net) {
    for (size_t i = 0; i < count; i++) {
        qn_status status = make_outlet(&links[i], &made[i]);
        if (!status) status = count_senders(links, count, links[i].to);
        if (!status) continue;
        for (size_t k = 0; k <= i; k++) let_go(links[k].from, made[k]);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        qn__ring_outlet *outlet = &links[i].from->outlets[links[i].link];
        let_go(links[i].from, outlet->mail);
        *outlet = (qn__ring_outlet){made[i], links[i].to, links[i].from->device != links[i].to->device};
        add_ring(net, links[i].from);
        add_ring(net, links[i].to);
    }
    net->alive = net->count;
    /* The rings' threads, where there are some, see a network that is complete. */
    for (uint32_t i = 0; i < net->count; i++) net->rings[i]->net = net;
    for (size_t i = 0; i < count; i++) {
        qn_ring *from = links[i].from;
        if (!from->outlets[links[i].link].by_host) continue;
        pthread_mutex_lock(&from->receive_lock);
        from->routes = true;
        qn__ring_service_due(from);
        pthread_mutex_unlock(&from->receive_lock);
    }
    return QN_OK;
}

qn_status qn_ring_connect(const qn_ring_link *links, size_t count) {
    qn_status status = check_links(links, count);
    if (status) return status;
    const qn_allocator *allocator = &links[0].from->allocator;
    qn__ring_mail **made = allocator->allocate(allocator->user, count * sizeof *made);
    qn__ring_net *net = allocator->allocate(allocator->user, sizeof *net + 2 * count * sizeof(qn_ring *));
    if (made && net) {
        *net = (qn__ring_net){.count = 0};
        pthread_mutex_init(&net->lock, NULL);
        status = connect_all(links, count, made, net);
        if (status) pthread_mutex_destroy(&net->lock);
    } else {
        status = qn__ring_fail(links[0].from, QN_ERROR_OUT_OF_MEMORY, "qn_ring_connect: out of host memory");
    }
    if (made) allocator->release(allocator->user, made);
    if (net && status) allocator->release(allocator->user, net);
    return status;
}

/* What the ring has sent still counts for those that have it. */
void qn__ring_leave_net(qn_ring *ring) {
    qn__ring_net *net = ring->net;
    if (!net) return;
    pthread_mutex_lock(&net->lock);
    for (uint32_t i = 0; i < net->count; i++) {
        qn_ring *other = net->rings[i];
        if (!other) continue;
        if (other == ring) {
            net->rings[i] = NULL;
            continue;
        }
        other->gone += count_sent(ring, other);
        for (uint32_t link = 0; link < other->desc.links; link++)
            if (other->outlets[link].to == ring) other->outlets[link].to = NULL;
    }
    const bool last = --net->alive == 0;
    pthread_mutex_unlock(&net->lock);
    ring->net = NULL;
    if (!last) return;
    pthread_mutex_destroy(&net->lock);
    ring->allocator.release(ring->allocator.user, net);
}

qn_status qn_ring_subscribe(qn_ring *ring, uint32_t topic, uint32_t link, bool subscribed) {
    const qn_status status = qn__ring_check(ring, "qn_ring_subscribe");
    if (status) return status;
    if (topic >= QN__RING_TOPICS || link >= ring->desc.links)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "qn_ring_subscribe: topic is %u of %d, and link is %u; ring '%s' has %u links",
                             (unsigned)topic, QN__RING_TOPICS, (unsigned)link, ring->label,
                             (unsigned)ring->desc.links);
    _Atomic uint32_t *links = &ring->control->topics[topic];
    const uint32_t bit = 1u << link, before = atomic_load(links);
    atomic_store(links, subscribed ? before | bit : before & ~bit);
    return QN_OK;
}
