/* A ring's making and its end. */
#include <quern/history.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ring/internal.h"

#define SECOND UINT64_C(1000000000)

enum {
    MAGIC = 0x72696e67,
    MOST_CAPACITY = 1 << 20,
    MOST_PAYLOAD = 1 << 16,
    MOST_BLOCKS = 1 << 15,
    MOST_BLOCK = 1 << 30
};

qn_status qn__ring_fail(const qn_ring *ring, qn_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_error_set(ring ? ring->context : NULL, status, text);
}

qn_status qn__ring_check(const qn_ring *ring, const char *function) {
    if (ring && ring->magic == MAGIC && !ring->is_orphan) return QN_OK;
    if (ring && ring->magic == MAGIC)
        return qn__ring_fail(NULL, QN_ERROR_STATE, "%s: the context of ring '%s' is closed", function,
                             ring->label);
    return ring ? qn__ring_fail(NULL, QN_ERROR_ARGUMENT, "%s: ring is no object of qn_ring_create", function)
                : qn__ring_fail(NULL, QN_ERROR_NULL, "%s: ring is NULL", function);
}

qn_status qn__ring_change_begin(qn_ring *ring, const char *function) {
    const qn_status status = qn__ring_check(ring, function);
    if (!status) pthread_mutex_lock(&ring->life_lock);
    return status;
}

qn_status qn__ring_change_end(qn_ring *ring, qn_status status) {
    pthread_mutex_unlock(&ring->life_lock);
    return status;
}

qn__ring_group *qn__ring_groups(const qn_ring *ring) { return (qn__ring_group *)(ring->control + 1); }

/* ---- the descriptor ---- */

static uint32_t power_of_two(uint32_t value) {
    uint32_t power = 2;
    while (power < value) power *= 2;
    return power;
}

static void set_default(uint32_t *value, uint32_t standard) {
    if (!*value) *value = standard;
}

static qn_status check_sizes(const qn_ring *ring) {
    const qn_ring_desc *desc = &ring->desc;
    const struct {
        const char *name;
        uint32_t value, most;
    } rows[] = {
        {"message_size", desc->message_size, MOST_PAYLOAD},
        {"reply_size", desc->reply_size, MOST_PAYLOAD},
        {"capacity", desc->capacity, MOST_CAPACITY},
        {"reply_capacity", desc->reply_capacity, MOST_CAPACITY},
        {"group_size", desc->group_size, ring->device_info.max_group_size},
        {"bands", desc->bands, QN__RING_BANDS_MOST},
        {"sends", desc->sends, desc->reply_capacity / 2},
        {"high_water", desc->high_water, desc->capacity},
        {"low_water", desc->low_water, desc->high_water},
        {"links", desc->links, QN__RING_LINKS_MOST},
        {"mail_capacity", desc->mail_capacity, MOST_CAPACITY},
        {"blocks", desc->blocks, MOST_BLOCKS},
        {"block_size", desc->block_size, MOST_BLOCK},
        {"window", desc->window, MOST_CAPACITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value > rows[i].most)
            return qn__ring_fail(ring, QN_ERROR_RANGE, "qn_ring_create: %s is %u; at most %u is possible",
                                 rows[i].name, (unsigned)rows[i].value, (unsigned)rows[i].most);
    return QN_OK;
}

static qn_status take_desc(qn_ring *ring, const qn_ring_desc *desc) {
    ring->desc = *desc;
    qn_ring_desc *own = &ring->desc;
    own->program = (qn_program_desc){0};
    own->label = own->handler = own->loop = own->message_type = own->state_type = NULL;
    snprintf(ring->label, sizeof ring->label, "%s",
             desc->label     ? desc->label
             : desc->handler ? desc->handler
             : desc->loop    ? desc->loop
                             : "");
    if (!desc->handler == !desc->loop)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT, "qn_ring_create: give either `handler` or `loop`");
    if (desc->loop && desc->state)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT, "qn_ring_create: `state` goes with `handler` alone");
    if (desc->loop && desc->program.loop_budget)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_create: loop_budget goes with `handler`, of which each call has it");
    if (desc->state_type && !desc->state)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_create: state_type is '%s', and `state` is NULL", desc->state_type);
    if ((unsigned)desc->mode > QN_RING_LAUNCHES || (unsigned)desc->idle > QN_RING_EVENTS ||
        (unsigned)desc->policy > QN_RING_DROP_OLDEST)
        return qn__ring_fail(ring, QN_ERROR_ARGUMENT,
                             "qn_ring_create: mode, idle or policy is not one that there is");
    set_default(&own->message_size, 64);
    set_default(&own->reply_size, 64);
    set_default(&own->capacity, 256);
    set_default(&own->reply_capacity, 256);
    set_default(&own->groups, 1);
    set_default(&own->group_size, 1);
    set_default(&own->bands, 1);
    set_default(&own->sends, 1);
    set_default(&own->budget, 64);
    if (desc->policy == QN_RING_DROP_OLDEST && own->groups > 1)
        return qn__ring_fail(
            ring, QN_ERROR_ARGUMENT,
            "qn_ring_create: QN_RING_DROP_OLDEST is for rings with one work-group, and groups is %u",
            (unsigned)own->groups);
    if (!desc->blocks != !desc->block_size || (desc->blocks && desc->policy > QN_RING_REJECT))
        return qn__ring_fail(
            ring, QN_ERROR_ARGUMENT,
            "qn_ring_create: blocks go with a block_size, and with QN_RING_BLOCK or QN_RING_REJECT");
    const qn_status status = check_sizes(ring);
    if (status) return status;
    own->capacity = power_of_two(own->capacity);
    own->reply_capacity = power_of_two(own->reply_capacity);
    own->block_size = (own->block_size + 63) & ~63u;
    if (own->window) own->window = power_of_two(own->window);
    if (own->mail_capacity) own->mail_capacity = power_of_two(own->mail_capacity);
    return QN_OK;
}

/* ---- the mode ---- */

/* Why a kernel cannot stay on the device; NULL: it can. */
static const char *why_not_resident(const qn_device_info *info) {
    if (qn__ring_needs_mirror(info))
        return "the device has no memory that host and running kernels see alike (QN_CAN_SHARE_COHERENTLY), "
               "so that messages are copied before and behind each launch";
    if (!(info->capabilities & QN_CAN_PERSIST))
        return "the device has no streams whose kernels stay (QN_CAN_PERSIST)";
    if (info->loop_limit) return "its driver ends long loops (loop_limit)";
    return NULL;
}

/* Those that are known to stay are the processor's and CUDA's; other drivers may end a kernel that runs for long. */
static qn_status choose_mode(qn_ring *ring) {
    const qn_device_info *info = &ring->device_info;
    const char *why = why_not_resident(info);
    if (info->kind == QN_DEVICE_NULL)
        return qn__ring_fail(ring, QN_ERROR_UNSUPPORTED,
                             "qn_ring_create: %s computes nothing, and so answers no messages", info->name);
    if (ring->desc.group_size > 1 && info->capabilities & QN_CAN_EMULATE)
        return qn__ring_fail(
            ring, QN_ERROR_UNSUPPORTED,
            "qn_ring_create: group_size is %u, and %s is a software driver, of which those tried get "
            "lost in a loop that one work-item goes round while others wait; use 1, or the device cpu",
            (unsigned)ring->desc.group_size, info->name);
    if (ring->desc.mode == QN_RING_RESIDENT && why)
        return qn__ring_fail(ring, QN_ERROR_UNSUPPORTED,
                             "qn_ring_create: %s cannot keep a ring's kernel: %s; use QN_RING_LAUNCHES",
                             info->name, why);
    if (ring->desc.mode == QN_RING_AUTO) {
        const bool stays = !why && (info->kind == QN_DEVICE_CPU || info->kind == QN_DEVICE_CUDA);
        ring->desc.mode = stays ? QN_RING_RESIDENT : QN_RING_LAUNCHES;
        if (!why) why = "drivers of its kind may end a kernel that runs for long";
    }
    if (ring->desc.mode == QN_RING_LAUNCHES)
        snprintf(ring->reason, sizeof ring->reason, "%s runs this ring as short launches: %s", info->name,
                 why ? why : "it was asked for");
    ring->parks = ring->desc.mode == QN_RING_LAUNCHES || ring->desc.idle != QN_RING_CONTINUOUS;
    return QN_OK;
}

/* Looks for a message that take 100 us over the bus, by what a trip takes. On a processor one takes 1.4 ns (2 to 4 with several bands), and they
   take about as long as a launch there, which is what they save. */
static uint32_t choose_spins(const qn_ring *ring) {
    enum { CACHE = 10000, BUS = 128 };
    if (ring->desc.mode == QN_RING_LAUNCHES || ring->desc.idle == QN_RING_EVENTS) return 0;
    if (ring->desc.idle == QN_RING_CONTINUOUS) return QN__RING_FOREVER;
    if (ring->desc.spins) return ring->desc.spins;
    return ring->device_info.capabilities & QN_CAN_SHARE_MEMORY ? CACHE : BUS;
}

/* ---- several messages at a time ---- */

static uint32_t slot_size(uint32_t payload) {
    const uint32_t mask = 15;
    return QN__RING_SLOT_HEAD + ((payload + mask) & ~mask);
}

enum { AHEAD_MOST = 128, LOCAL_BYTES = 40960 };

/* Local memory that a batch takes, nearly. */
static uint64_t batch_bytes(const qn_ring *ring, uint32_t items) {
    enum { WORDS = 512 };
    const uint64_t answers = (uint64_t)items * ring->desc.sends;
    return items * (uint64_t)slot_size(ring->desc.message_size) + answers * slot_size(ring->desc.reply_size) +
           answers * 2 * sizeof(uint32_t) + WORDS;
}

/* What goes out of a batch in one piece, and stays with its slot until then. */
static bool can_batch(const qn_ring *ring, const qn_ring_desc *desc) {
    return desc->handler && desc->policy != QN_RING_DROP_OLDEST && !ring->desc.mail_capacity &&
           !ring->desc.links && !ring->desc.blocks;
}

/* How many messages are copied at a time for a group of one work-item, which handles all of them; 1: nobody asked for more, a look is
   no trip, or there are others to look at in between. */
static uint32_t count_ahead(const qn_ring *ring, const qn_ring_desc *desc) {
    const bool is_far = !(ring->device_info.capabilities & QN_CAN_SHARE_MEMORY);
    uint32_t ahead = AHEAD_MOST;
    if (ring->desc.mode != QN_RING_RESIDENT || !is_far || !can_batch(ring, desc) || ring->desc.groups > 1)
        return 1;
    while (ahead > 1 && (ahead > desc->read_ahead || ahead > ring->desc.capacity ||
                         ahead * ring->desc.sends > ring->desc.reply_capacity / 2 ||
                         batch_bytes(ring, ahead) > LOCAL_BYTES))
        ahead /= 2;
    return ahead;
}

static qn_status choose_batch(qn_ring *ring, const qn_ring_desc *desc) {
    const uint32_t size = ring->desc.group_size;
    ring->items = size > 1 || desc->per_item ? size : count_ahead(ring, desc);
    ring->desc.per_item = desc->per_item && size > 1;
    ring->batches = ring->desc.per_item || ring->items > size;
    if (!desc->per_item) return QN_OK;
    if (!can_batch(ring, desc))
        return qn__ring_fail(
            ring, QN_ERROR_ARGUMENT,
            "qn_ring_create: per_item goes with a handler, and without links, mail, blocks and "
            "QN_RING_DROP_OLDEST");
    if (size > ring->desc.capacity || size * ring->desc.sends > ring->desc.reply_capacity / 2)
        return qn__ring_fail(ring, QN_ERROR_RANGE,
                             "qn_ring_create: per_item and a group_size of %u take a capacity of %u, and a "
                             "reply_capacity of %u at least",
                             (unsigned)size, (unsigned)size, (unsigned)(2 * size * ring->desc.sends));
    const uint64_t most = ring->device_info.local_memory, bytes = batch_bytes(ring, size);
    if (bytes > most)
        return qn__ring_fail(
            ring, QN_ERROR_RANGE,
            "qn_ring_create: %u work-items with a message each take %llu bytes of local memory; "
            "%s has %llu",
            (unsigned)size, (unsigned long long)bytes, ring->device_info.name, (unsigned long long)most);
    return QN_OK;
}

/* ---- the parts ---- */

/* Whether slots are in pieces: what CUDA loads and stores by 16 bytes stays whole on the bus (CUDA C++ Programming Guide, Mapped
   Memory). Batches share their trips in another way, what may be revoked has a claim beside its number, rings of a network look at the
   host's side now and then, as quickly as they can, and of large messages a few work-items are quicker with the bytes alone. */
static bool has_pieces(const qn_ring *ring) {
    enum { MANY_ITEMS = 32 };
    const qn_ring_desc *desc = &ring->desc;
    const uint32_t larger = desc->message_size > desc->reply_size ? desc->message_size : desc->reply_size;
    if (ring->mirror || ring->batches || desc->policy == QN_RING_DROP_OLDEST) return false;
    if (desc->mail_capacity || desc->links) return false;
    if (QN__PIECES(larger) > (ring->items < MANY_ITEMS ? QN__PIECES_FEW : QN__PIECES_MOST)) return false;
#if defined(QN__RING_IN_PIECES) /* programs that test them have them on each device */
    return true;
#else
    const qn_device_info *info = &ring->device_info;
    return info->kind == QN_DEVICE_CUDA && !(info->capabilities & QN_CAN_SHARE_MEMORY);
#endif
}

static void size_slots(qn__ring_queue *queue, uint32_t payload, bool in_pieces) {
    const uint32_t mask = QN__RING_LINE * sizeof(uint32_t) - 1;
    queue->stride = queue->slot_size = slot_size(payload);
    if (!in_pieces) return;
    queue->pieces = QN__PIECES(payload);
    queue->stride = (uint32_t)(queue->pieces * QN__PIECE_WORDS * sizeof(uint32_t) + mask) & ~mask;
}

static qn_status make_queues(qn_ring *ring) {
    qn__ring_queue *in = &ring->in, *out = &ring->out;
    in->capacity = ring->desc.capacity;
    in->bands = ring->desc.bands;
    size_slots(in, ring->desc.message_size, has_pieces(ring));
    in->in_order = ring->desc.groups == 1 && !ring->batches && ring->desc.policy != QN_RING_DROP_OLDEST;
    out->capacity = ring->desc.reply_capacity;
    out->bands = 1;
    size_slots(out, ring->desc.reply_size, has_pieces(ring));
    qn_status status = qn__ring_queue_create(ring, in, "a ring's messages");
    if (!status) status = qn__ring_queue_create(ring, out, "a ring's replies");
    if (status) return status;
    const uint64_t size = sizeof(qn__ring_control) + (uint64_t)ring->desc.groups * sizeof(qn__ring_group);
    void *host = NULL;
    status = qn__ring_memory_create(ring, size, 2, "a ring's control", &ring->control_buffer, &host);
    if (status) return status;
    ring->control = host;
    ring->control->spins = choose_spins(ring);
    ring->control->budget = ring->desc.mode == QN_RING_RESIDENT ? QN__RING_FOREVER : ring->desc.budget;
    qn__ring_tell(ring, QN__RING_PAUSE);
    return QN_OK;
}

/* Work-groups that the device keeps: what the kernel takes of it says; on the processor a thread for each ring and, of all
   rings together, half of the others (qn_stream_set_persistent). 0: not known. */
static uint64_t resident_groups(const qn_device_info *info, const qn_kernel_resources *resources) {
    if (info->kind != QN_DEVICE_CPU) return resources->resident_on_device;
    return info->compute_units ? 1 + (info->compute_units - 1) / 2 : 0;
}

static qn_status check_residency(qn_ring *ring) {
    const qn_range range = {.global = {(uint64_t)ring->desc.groups * ring->items}, .local = {ring->items}};
    qn_kernel_resources resources;
    const qn_status status = qn_kernel_get_resources(ring->kernel, &range, &resources);
    if (status) return status;
    ring->resident_groups = resident_groups(&ring->device_info, &resources);
    if (ring->desc.mode != QN_RING_RESIDENT || !ring->resident_groups ||
        ring->desc.groups <= ring->resident_groups)
        return QN_OK;
    return qn__ring_fail(
        ring, QN_ERROR_LAUNCH_SIZE,
        "qn_ring_create: ring '%s' wants %u work-groups of %u; %s keeps %llu of them at a time "
        "(it has %u compute units)",
        ring->label, (unsigned)ring->desc.groups, (unsigned)ring->items, ring->device_info.name,
        (unsigned long long)ring->resident_groups, (unsigned)ring->device_info.compute_units);
}

static qn_status make_stream(qn_ring *ring, bool by_hand) {
    qn_status status = qn_stream_create(ring->device, &ring->stream);
    if (!status) status = qn_event_create(ring->device, &ring->ended);
    if (status || ring->desc.mode != QN_RING_RESIDENT) return status;
    status = qn_stream_set_persistent(ring->stream, true);
    return status ? status : qn__ring_offer_to_leave(ring, by_hand);
}

static qn_status make(qn_ring *ring, const qn_ring_desc *desc) {
    const size_t watched = ring->desc.groups * sizeof *ring->watched;
    ring->watched = ring->allocator.allocate(ring->allocator.user, watched);
    if (!ring->watched)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    memset(ring->watched, 0, watched);
    qn_status status = qn__ring_mirror_create(ring);
    if (!status) status = make_queues(ring);
    if (!status) status = qn__ring_mail_create(ring);
    if (!status) status = qn__ring_blocks_create(ring);
    if (!status && ring->desc.window) {
        ring->window = qn__ring_window_create(ring, ring->desc.window);
        if (!ring->window)
            status = qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    }
    if (!status) status = qn__ring_compile(ring, desc);
    if (!status) status = check_residency(ring);
    if (!status) status = make_stream(ring, desc->loop);
    return status;
}

static void free_letters(qn_ring *ring, qn__ring_letter *letter) {
    for (qn__ring_letter *next; letter; letter = next) {
        next = letter->next;
        ring->allocator.release(ring->allocator.user, letter);
    }
}

static void release_parts(qn_ring *ring) {
    qn__ring_gpu_close(ring);
    qn_graph_destroy(ring->graph);
    qn_event_destroy(ring->ended);
    qn_kernel_destroy(ring->kernel);
    qn_program_destroy(ring->program);
    qn__ring_mail_destroy(ring);
    qn__ring_blocks_destroy(ring);
    qn__ring_queue_destroy(ring, &ring->in);
    qn__ring_queue_destroy(ring, &ring->out);
    qn__ring_memory_destroy(ring, ring->control_buffer, ring->control);
    qn__ring_mirror_destroy(ring);
    free_letters(ring, ring->inbox);
    free_letters(ring, ring->dead);
    qn_buffer_destroy(ring->checkpoint);
    if (ring->window) ring->allocator.release(ring->allocator.user, ring->window);
    if (ring->watched) ring->allocator.release(ring->allocator.user, ring->watched);
}

static void release_rest(qn_ring *ring) {
    pthread_cond_destroy(&ring->service.wake);
    pthread_mutex_destroy(&ring->life_lock);
    pthread_mutex_destroy(&ring->lock);
    pthread_mutex_destroy(&ring->receive_lock);
    pthread_mutex_destroy(&ring->drop_lock);
    pthread_mutex_destroy(&ring->command_lock);
    ring->magic = 0;
    ring->allocator.release(ring->allocator.user, ring);
}

static qn_status begin(qn_ring *made, uint32_t header, qn_device *device, const qn_ring_desc *desc) {
    qn_status status = qn_device_get_info(device, &made->device_info);
    if (status) return status;
    made->context = qn_device_context(device);
    made->device = device;
    made->header = header;
    if (!desc) return qn__ring_fail(made, QN_ERROR_NULL, "qn_ring_create: desc is NULL");
    if (header == 0 || header > QN_HEADER_VERSION)
        return qn__ring_fail(
            made, QN_ERROR_UNSUPPORTED,
            "qn_ring_create: the program was built with the header's version %u; this libquern_ring "
            "knows 1 to %u",
            (unsigned)header, (unsigned)QN_HEADER_VERSION);
    status = qn_context_get_allocator(made->context, &made->allocator);
    if (!status) status = take_desc(made, desc);
    if (!status) status = choose_mode(made);
    if (!status) status = choose_batch(made, desc);
    return status;
}

static void init_recursive(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* From then on no thread is at its stream: those that wait for others of its network leave it alone, and nobody asks it to leave. */
void qn__ring_begin_close(qn_ring *ring) {
    atomic_store(&ring->is_closing, true);
    if (ring->desc.mode == QN_RING_RESIDENT) qn_stream_set_aside(ring->stream, NULL, NULL, NULL);
    atomic_store(&ring->aside, 0); /* who has asked calls nobody back */
    qn__ring_service_end(ring);
    qn__ring_end_report(ring);
    qn__ring_net *net = qn__ring_net_lock(ring);
    ring->closes = true;
    qn__ring_net_unlock(net);
    qn__ring_tell(ring, QN__RING_DROP);
}

/* What a launch has sent on counts for those that have it, also where the host learns of it behind the launch's end. */
static qn_status see_last_launch(qn_ring *ring, qn__ring_wait *wait) {
    qn_status status = QN_OK;
    while (ring->net && ring->launched && !status && qn__ring_mirror_is_away(ring) &&
           atomic_load(&ring->state) != QN_RING_FAILED) {
        status = qn__ring_look(ring);
        if (!qn__ring_wait_more(wait)) break;
    }
    return status;
}

/* All that is the context's. */
static qn_status end(qn_ring *ring, uint64_t timeout_ns) {
    qn__ring_begin_close(ring);
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    const qn_status seen = see_last_launch(ring, &wait);
    const qn_status status = qn_stream_close(ring->stream, qn__ring_wait_left(&wait));
    qn__ring_leave_net(ring);
    release_parts(ring);
    return status ? status : seen;
}

/* The context is closed before the ring. What cannot be cancelled has longer, as it would be left for good. */
static void become_orphan(void *user) {
    qn_ring *ring = user;
    end(ring, ring->device_info.capabilities & QN_CAN_CANCEL ? SECOND : 10 * SECOND);
    ring->is_orphan = true;
}

qn_status qn_ring_create_for(uint32_t header, qn_device *device, const qn_ring_desc *desc, qn_ring **out) {
    if (out) *out = NULL;
    qn_ring made = {.magic = MAGIC};
    qn_status status = begin(&made, header, device, desc);
    if (status) return status;
    if (!out) return qn__ring_fail(&made, QN_ERROR_NULL, "qn_ring_create: ring is NULL");
    qn_ring *ring = made.allocator.allocate(made.allocator.user, sizeof *ring);
    if (!ring) return qn__ring_fail(&made, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    memcpy(ring, &made, sizeof made); /* also what is atomic: nobody has seen it */
    ring->clock_offset = qn__ring_wall() - qn__ring_now();
    ring->heart.bound_ns = 30 * SECOND; /* as ring.h says */
    ring->is_traced = qn_trace_is_on(ring->context);
    ring->inbox_end = &ring->inbox;
    ring->pending_end = &ring->pending;
    init_recursive(&ring->life_lock);
    pthread_mutex_init(&ring->lock, NULL);
    pthread_mutex_init(&ring->receive_lock, NULL);
    pthread_mutex_init(&ring->drop_lock, NULL);
    pthread_mutex_init(&ring->command_lock, NULL);
    qn__ring_service_init(ring);
    status = make(ring, desc);
    if (!status) status = qn_context_on_end(ring->context, become_orphan, ring);
    if (status) {
        if (ring->stream) qn_stream_close(ring->stream, 0);
        release_parts(ring);
        release_rest(ring);
        return status;
    }
    qn__ring_report_if_asked(ring);
    *out = ring;
    return QN_OK;
}

qn_status qn_ring_close(qn_ring *ring, uint64_t timeout_ns) {
    if (!ring) return QN_OK;
    qn_status status = ring->is_orphan ? QN_OK : qn__ring_check(ring, "qn_ring_close");
    if (status) return status;
    if (qn__ring_service_is_here(ring))
        return qn__ring_fail(ring, QN_ERROR_STATE,
                             "qn_ring_close: a callback cannot close the ring '%s' that calls it",
                             ring->label);
    if (!ring->is_orphan) {
        qn_context_on_end(ring->context, NULL, ring);
        status = end(ring, timeout_ns);
    }
    release_rest(ring);
    return status;
}

void qn_ring_destroy(qn_ring *ring) { qn_ring_close(ring, SECOND); }

qn_status qn_ring_get_info(const qn_ring *ring, qn_ring_info *info) {
    const qn_status status = qn__ring_check(ring, "qn_ring_get_info");
    if (status) return status;
    if (!info) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_get_info: info is NULL");
    const qn_ring_desc *desc = &ring->desc;
    *info = (qn_ring_info){.label = ring->label,
                           .state = (qn_ring_state)atomic_load(&ring->state),
                           .mode = desc->mode,
                           .reason = desc->mode == QN_RING_LAUNCHES ? ring->reason : NULL,
                           .groups = desc->groups,
                           .group_size = desc->group_size,
                           .capacity = desc->capacity,
                           .reply_capacity = desc->reply_capacity,
                           .message_size = desc->message_size,
                           .reply_size = desc->reply_size,
                           .bands = desc->bands,
                           .resident_groups = ring->resident_groups,
                           .links = desc->links,
                           .mail_capacity = desc->mail_capacity};
    return QN_OK;
}
