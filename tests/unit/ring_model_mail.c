/* The mail between two rings under all schedules of a few preemptions: the one side sends, the other one takes.
   Usage: unit_ring_model_mail [PREEMPTIONS] (4) */
#define AS_C_BATCH    0
#define AS_C_PER_ITEM 0
#define AS_C_MAIL     2
#define AS_C_ITEMS    1
#include "ring_model.c"

enum { MESSAGES = 3, SENDER = HOST, TAKER = KERNEL };

typedef union mail {
    uint32_t words[QN__MAIL_WORDS + AS_C_MAIL * QN_RING_IN_SLOT / 4];
    unsigned char bytes[QN__MAIL_WORDS * 4 + AS_C_MAIL * QN_RING_IN_SLOT];
} mail;

static mail mails[2], nowhere;
static uint4 blocks[2][QN__RING_BLOCK_LINES];
static qn_ring rings[2];
static bool is_alone;
static uint32_t taken, last;
static const char *wrong;

/* Positions begin short of where they wrap. */
static void set_up_mail(mail *m, uint32_t capacity) {
    const uint32_t first = 0u - 2;
    memset(m, 0, sizeof *m);
    m->words[QN__MAIL_HEAD] = m->words[QN__MAIL_TAIL] = first;
    m->words[QN__MAIL_CREDITS] = QN__MAIL_CREDIT_BIAS + capacity;
    m->words[QN__MAIL_CAPACITY] = capacity;
    m->words[QN__MAIL_SLOT] = QN_RING_IN_SLOT;
    m->words[QN__MAIL_ALONE] = is_alone;
    for (uint32_t i = 0; i < capacity; i++) {
        const uint32_t at = first + i;
        m->words[QN__MAIL_WORDS + (size_t)(at % capacity) * (QN_RING_IN_SLOT / 4)] = at;
    }
}

static void send_all(void) {
    qn_ring *ring = &rings[SENDER];
    for (uint32_t id = 1; id <= MESSAGES; id++) {
        const uint32_t payload[4] = {id, id * 3, 0, ~id};
        qn__ring_slot *block = (qn__ring_slot *)(void *)ring->block;
        while (!qn__ring_hold(ring)) {
            qn__ring_let_go(ring);
            hand_over(SENDER);
        }
        *block = (qn__ring_slot){.message = {.id = id, .deadline_ns = id * ((uint64_t)1 << 32)}};
        if (!qn_ring_forward(ring, 0, payload, sizeof payload)) wrong = "there was no room";
        qn__ring_let_go(ring);
    }
}

static void take_one(uint32_t found) {
    qn_ring *ring = &rings[TAKER];
    qn__ring_fetch(ring, found);
    const qn__ring_slot *block = (const qn__ring_slot *)(const void *)ring->block;
    const qn_ring_message *message = &block->message;
    const uint32_t *payload = (const uint32_t *)(const void *)(block + 1);
    if (message->id != last + 1) wrong = "lost, out of order, or twice";
    last = (uint32_t)message->id;
    if (message->size != 16 || message->deadline_ns >> 32 != last || payload[0] != last ||
        payload[1] != last * 3 || payload[3] != ~last)
        wrong = "a message is not whole";
    qn__ring_free(ring, found, block->sequence, false);
    taken++;
}

static void *take_all(void *ignored) {
    (void)ignored;
    pthread_mutex_lock(&model.lock);
    while (model.turn != TAKER) pthread_cond_wait(&model.turn_changed, &model.lock);
    pthread_mutex_unlock(&model.lock);
    while (taken < MESSAGES && !wrong) {
        const qn__ring_sight sight = qn__ring_see_mail(&rings[TAKER]);
        const uint32_t found = sight.ahead >= 0 ? qn__ring_take_mail(&rings[TAKER], sight) : 0;
        if (found)
            take_one(found);
        else
            hand_over(TAKER);
    }
    pthread_mutex_lock(&model.lock);
    model.ended[TAKER] = true;
    model.turn = SENDER;
    pthread_cond_signal(&model.turn_changed);
    pthread_mutex_unlock(&model.lock);
    return NULL;
}

static void set_up(void) {
    memset(&model.ended, 0, sizeof model.ended);
    model.turn = HOST;
    model.steps = model.alone = model.next = 0;
    model.num_preempted = 0;
    taken = last = 0;
    wrong = NULL;
    set_up_queues(0);
    set_up_mail(&mails[SENDER], AS_C_MAIL);
    set_up_mail(&mails[TAKER], AS_C_MAIL);
    set_up_mail(&nowhere, 0);
    for (int i = 0; i < 2; i++) {
        unsigned char *more[] = {mails[i].bytes, (i == SENDER ? &mails[TAKER] : &nowhere)->bytes};
        qn__ring_begin(&rings[i], &shared.control, in_slots, in_ends, out_slots, out_ends, blocks[i]);
        qn__ring_begin_more(&rings[i], more);
    }
    model.steps = model.alone = 0;
}

static uint32_t run(void) {
    pthread_t thread;
    const uint32_t num_preempted = model.num_preempted;
    set_up();
    model.num_preempted = num_preempted;
    assert_int_equal(pthread_create(&thread, NULL, take_all, NULL), 0);
    send_all();
    while (taken < MESSAGES && !wrong) hand_over(SENDER);
    const uint32_t steps = model.steps;
    pthread_mutex_lock(&model.lock);
    model.ended[SENDER] = true;
    model.turn = TAKER;
    pthread_cond_signal(&model.turn_changed);
    pthread_mutex_unlock(&model.lock);
    pthread_join(thread, NULL);
    if (!wrong) return steps;
    char list[64] = "";
    for (uint32_t i = 0; i < model.num_preempted; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), " %u", (unsigned)model.preempted[i]);
    fail_msg("%s; preempted before operations%s", wrong, list);
    return 0;
}

static void each_goes_on_once(void **state) {
    is_alone = *(bool *)*state;
    runs = 0;
    explore(most, 0);
    printf("%llu schedules\n", (unsigned long long)runs);
    assert_true(runs > 1000);
}

int main(int argc, char **argv) {
    static bool alone = true, counted = false;
    most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 4; /* there are few operations */
    (void)nothing_is_lost, (void)qn_ring_receive, (void)qn_ring_should_stop, (void)qn_ring_fail,
        (void)qn_ring_send;
    (void)qn_ring_publish, (void)qn_ring_meet, (void)qn_ring_reply, (void)qn_ring_payload;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(each_goes_on_once, &alone),
                                       cmocka_unit_test_prestate(each_goes_on_once, &counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
