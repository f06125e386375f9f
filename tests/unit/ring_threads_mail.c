/* Rings that send to each other, by threads: work-groups of a ring take the host's messages and forward them to a ring whose work-groups
   answer. Built with -fsanitize=thread it shows that what is in a slot of the mail is ordered by its number alone. */
#ifndef AS_C_GROUPS /* else unit/ring_threads_mail_alone.c includes this file */
#define AS_C_GROUPS 2
#define AS_C_ITEMS  1
#endif
#define AS_C_BATCH    0
#define AS_C_PER_ITEM 0
#define AS_C_MAIL     8
#include "ring_threads.c"

/* ---- a network of two ---- */

typedef union mail {
    uint32_t words[QN__MAIL_WORDS];
    unsigned char bytes[QN__MAIL_WORDS * 4 + AS_C_MAIL * QN_RING_IN_SLOT];
} mail;

/* The receiver's; the sender's are those of ring_as_c.h. */
static union {
    qn__ring_control control;
    unsigned char bytes[sizeof shared];
} last_shared;
static uint32_t last_in_ends[QN__RING_END_LINES * QN__RING_LINE];
static _Alignas(16) unsigned char last_in_slots[sizeof in_slots];
static mail first_mail, last_mail, nowhere;

static void set_up_mail(mail *m, uint32_t capacity, bool alone) {
    memset(m, 0, sizeof *m);
    m->words[QN__MAIL_CREDITS] = QN__MAIL_CREDIT_BIAS + capacity;
    m->words[QN__MAIL_CAPACITY] = capacity;
    m->words[QN__MAIL_SLOT] = QN_RING_IN_SLOT;
    m->words[QN__MAIL_ALONE] = alone;
    for (uint32_t i = 0; i < capacity; i++)
        memcpy(m->bytes + QN__MAIL_WORDS * 4 + (size_t)i * QN_RING_IN_SLOT, &i, sizeof i);
}

static void set_up_net(void) {
    set_up_queues(0u - 100);
    shared.control.spins = QN__RING_FOREVER;
    memcpy(&last_shared, &shared, sizeof shared);
    memcpy(last_in_ends, in_ends, sizeof in_ends);
    memcpy(last_in_slots, in_slots, sizeof in_slots);
    set_up_mail(&first_mail, AS_C_MAIL, false);
    set_up_mail(&last_mail, AS_C_MAIL, AS_C_GROUPS == 1);
    set_up_mail(&nowhere, 0, false);
}

/* A work-item of the first ring, or of the last. */
static void *run_ring(void *number) {
    static uint4 blocks[2 * AS_C_GROUPS][QN__RING_BLOCK_LINES];
    static unsigned char no_output[sizeof out_slots];
    static uint32_t no_ends[sizeof out_ends / sizeof *out_ends];
    const uint32_t which = *(uint32_t *)number;
    local_id = which % ITEMS;
    group_id = which / ITEMS % AS_C_GROUPS;
    ring_id = which / ITEMS / AS_C_GROUPS;
    const bool is_first = ring_id == 0;
    qn__ring_control *control = is_first ? &shared.control : &last_shared.control;
    unsigned char *more[] = {(is_first ? &first_mail : &last_mail)->bytes,
                             (is_first ? &last_mail : &nowhere)->bytes};
    qn_ring ring;
    qn__ring_begin(&ring, control, is_first ? in_slots : last_in_slots, is_first ? in_ends : last_in_ends,
                   is_first ? no_output : out_slots, is_first ? no_ends : out_ends, blocks[which / ITEMS]);
    qn__ring_begin_more(&ring, more);
    while (qn_ring_receive(&ring)) {
        if (!is_first)
            qn_ring_reply(&ring, qn_ring_payload(&ring), 13);
        else if (!qn_ring_forward(&ring, 0, qn_ring_payload(&ring), 13))
            qn_ring_fail(&ring, 1);
    }
    return NULL;
}

/* Of the payload's 16 bytes 13 go on. */
static void each_message_goes_on(void **state) {
    (void)state;
    enum { EACH_RING = AS_C_GROUPS * ITEMS };
    static uint32_t numbers[2 * EACH_RING + PRODUCERS];
    pthread_t items[2 * EACH_RING], producers[PRODUCERS];
    for (uint32_t i = 0; i < 2 * EACH_RING + PRODUCERS; i++) numbers[i] = i;
    set_up_net();
    for (int i = 0; i < 2 * EACH_RING; i++)
        assert_int_equal(pthread_create(&items[i], NULL, run_ring, &numbers[i]), 0);
    for (int i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&producers[i], NULL, produce, &numbers[i]), 0);
    take_answers(13);
    atomic_store(&shared.control.command, QN__RING_DRAIN);
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], NULL);
    for (int i = 0; i < EACH_RING; i++) pthread_join(items[i], NULL);
    atomic_store(&last_shared.control.command, QN__RING_DRAIN);
    for (int i = EACH_RING; i < 2 * EACH_RING; i++) pthread_join(items[i], NULL);
    assert_null(threads_queue_first(&out));
}

int main(void) {
    (void)qn_ring_should_stop, (void)qn_ring_send, (void)qn_ring_publish, (void)qn_ring_meet;
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_message_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
