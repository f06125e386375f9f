// Patterns of programs that were not written with a checker in mind: copies that nobody waits for, broadcasts and shuffles from
// nobody, tables of pointers, locks without order.
// options: -w -cl-std=CL3.0
// kernel: copy_read_before_wait
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: copy_waited_for
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: copy_out_without_barrier
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: copy_out_behind_barrier
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: source_changed_too_early
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: copy_by_the_first
// global: 64
// local: 32
// arg: buf:int:64
// arg: buf:int:64
// kernel: strided_one_too_far
// global: 64
// local: 32
// arg: buf:int:126
// arg: buf:int:64
// kernel: strided_to_the_end
// global: 64
// local: 32
// arg: buf:int:127
// arg: buf:int:64
// kernel: two_buffers_in_turn
// global: 32
// local: 32
// arg: buf:int:128
// arg: buf:int:128
// kernel: one_buffer_in_turn
// global: 32
// local: 32
// arg: buf:int:128
// arg: buf:int:128
// kernel: broadcast_of_each
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// kernel: broadcast_of_one
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// kernel: broadcast_of_nobody
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// kernel: shuffle_past_the_end
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// kernel: shuffle_within
// global: 64
// local: 64
// arg: buf:int:64
// arg: buf:int:64
// kernel: shuffle_from_elsewhere
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// kernel: past_an_entry_of_a_table
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:40
// arg: buf:int:32
// arg: int:8
// kernel: within_the_entries_of_a_table
// global: 32
// local: 32
// arg: buf:int:40
// arg: buf:int:40
// arg: buf:int:32
// arg: int:8
// kernel: entry_never_set
// global: 32
// local: 32
// arg: buf:int:32
// arg: buf:int:32
// arg: buf:int:32
// kernel: cast_to_triples
// global: 33
// local: 11
// arg: buf:float:96
// arg: buf:float:33
// kernel: triples_to_the_end
// global: 32
// local: 32
// arg: buf:float:95
// arg: buf:float:32
// kernel: parts_of_a_union
// global: 4
// local: 4
// arg: buf:uint:4
// arg: buf:uint:8
// kernel: lock_without_order
// global: 64
// local: 32
// arg: buf:int:1
// arg: buf:int:1
// kernel: lock_with_order
// global: 64
// local: 32
// arg: buf:int:1
// arg: buf:int:1
// kernel: helper_that_leaves_early
// global: 64
// local: 32
// arg: buf:float:64
// arg: buf:float:64
// arg: int:50
// kernel: rows_for_columns
// global: 40,24
// local: 8,8
// arg: buf:uchar:960
// arg: buf:uchar:960
// arg: int:40
// arg: int:24
// kernel: printed_but_unset
// global: 4
// local: 4
// arg: buf:int:4
// kernel: expected_value_unset
// global: 2
// local: 2
// arg: buf:int:16
// arg: buf:int:1
// kernel: private_entry_that_goes_away
// global: 8
// local: 8
// arg: buf:int:8=7
// arg: buf:int:8
// arg: int:1

kernel void copy_read_before_wait(global const int *x, global int *y) {
    local int t[32];
    event_t e = async_work_group_copy(t, x + 32 * get_group_id(0), 32, 0);
    y[get_global_id(0)] = t[get_local_id(0)]; // finds: race
    wait_group_events(1, &e);
}

kernel void copy_waited_for(global const int *x, global int *y) {
    local int t[32];
    event_t e = async_work_group_copy(t, x + 32 * get_group_id(0), 32, 0);
    wait_group_events(1, &e);
    y[get_global_id(0)] = t[get_local_id(0)];
}

kernel void copy_out_without_barrier(global const int *x, global int *y) {
    local int t[32];
    t[get_local_id(0)] = 2 * x[get_global_id(0)];
    event_t e = async_work_group_copy(y + 32 * get_group_id(0), t, 32, 0); // finds: race
    wait_group_events(1, &e);
}

kernel void copy_out_behind_barrier(global const int *x, global int *y) {
    local int t[32];
    t[get_local_id(0)] = 2 * x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(y + 32 * get_group_id(0), t, 32, 0);
    wait_group_events(1, &e);
}

kernel void source_changed_too_early(global int *x, global int *y) {
    local int t[32];
    const int i = get_global_id(0);
    event_t e = async_work_group_copy(t, x + 32 * get_group_id(0), 32, 0);
    x[i] = 0; // finds: race
    wait_group_events(1, &e);
    y[i] = t[get_local_id(0)];
}

kernel void copy_by_the_first(global const int *x, global int *y) {
    local int t[32];
    t[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = 0;
    if (get_local_id(0) == 0) e = async_work_group_copy(t, x + 32 * get_group_id(0), 32, 0); // finds: divergence
    wait_group_events(1, &e);
    y[get_global_id(0)] = t[get_local_id(0)];
}

kernel void strided_one_too_far(global const int *x, global int *y) {
    local int t[32];
    event_t e = async_work_group_strided_copy(t, x + 64 * get_group_id(0), 32, 2, 0); // finds: out-of-bounds
    wait_group_events(1, &e);
    y[get_global_id(0)] = t[get_local_id(0)];
}

kernel void strided_to_the_end(global const int *x, global int *y) {
    local int t[32];
    event_t e = async_work_group_strided_copy(t, x + 64 * get_group_id(0), 32, 2, 0);
    wait_group_events(1, &e);
    y[get_global_id(0)] = t[get_local_id(0)];
}

kernel void two_buffers_in_turn(global const int *x, global int *y) {
    local int t[2][32];
    const int l = get_local_id(0);
    event_t e = async_work_group_copy(t[0], x, 32, 0);
    for (int k = 0; k < 4; k++) {
        wait_group_events(1, &e);
        if (k < 3) e = async_work_group_copy(t[(k + 1) & 1], x + 32 * (k + 1), 32, 0);
        y[32 * k + l] = t[k & 1][31 - l];
    }
}

kernel void one_buffer_in_turn(global const int *x, global int *y) {
    local int t[32];
    const int l = get_local_id(0);
    event_t e = async_work_group_copy(t, x, 32, 0);
    for (int k = 0; k < 4; k++) {
        wait_group_events(1, &e);
        if (k < 3) e = async_work_group_copy(t, x + 32 * (k + 1), 32, 0);
        y[32 * k + l] = t[31 - l]; // finds: race
    }
}

kernel void broadcast_of_each(global const int *x, global int *y) {
    const int i = get_global_id(0);
    y[i] = work_group_broadcast(x[i], get_local_id(0)); // finds: divergence
}

kernel void broadcast_of_one(global const int *x, global int *y) {
    const int i = get_global_id(0);
    y[i] = work_group_broadcast(x[i], get_group_id(0) + 5) + sub_group_broadcast(x[i], get_num_sub_groups() - 1);
}

kernel void broadcast_of_nobody(global const int *x, global int *y) {
    const int i = get_global_id(0);
    y[i] = work_group_broadcast(x[i], get_local_size(0)); // finds: divergence
}

kernel void shuffle_past_the_end(global const int *x, global int *y) {
    const int i = get_global_id(0);
    y[i] = sub_group_shuffle_down(x[i], 4); // finds: uninitialised
}

kernel void shuffle_within(global const int *x, global int *y) {
    const int i = get_global_id(0);
    const uint l = get_sub_group_local_id(), size = get_sub_group_size();
    int sum = x[i];
    for (uint d = 1; d < size; d *= 2) {
        const int below = sub_group_shuffle_up(sum, d);
        if (l >= d) sum += below;
    }
    const int next = sub_group_shuffle_down(sum, 1), other = sub_group_shuffle_xor(sum, 1);
    y[i] = l + 1 < size ? next : sum + other;
}

kernel void shuffle_from_elsewhere(global const int *x, global int *y) {
    const int i = get_global_id(0);
    int v = x[i];
    if (get_sub_group_local_id() & 1) v = sub_group_shuffle(v, get_sub_group_local_id() - 1);
    y[i] = v; // finds: uninitialised
}

kernel void past_an_entry_of_a_table(global const int *a, global const int *b, global int *y, int n) {
    global const int *table[2] = {a, b};
    global const int **entry = table + (get_global_id(0) & 1);
    y[get_global_id(0)] = (*entry)[get_global_id(0) + n]; // finds: wild-pointer
}

kernel void within_the_entries_of_a_table(global const int *a, global const int *b, global int *y, int n) {
    global const int *table[2] = {a, b};
    global const int **entry = table + (get_global_id(0) & 1);
    y[get_global_id(0)] = (*entry)[get_global_id(0) + n];
}

kernel void entry_never_set(global const int *a, global const int *b, global int *y) {
    global const int *table[3];
    const int i = get_global_id(0);
    table[0] = a, table[1] = b;
    y[i] = table[i % 3][i]; // finds: uninitialised, null-pointer
}

typedef struct { float x, y, z; } triple;
kernel void cast_to_triples(global const float *p, global float *y) {
    y[get_global_id(0)] = ((global const triple *)p)[get_global_id(0)].z; // finds: out-of-bounds
}

kernel void triples_to_the_end(global const float *p, global float *y) {
    y[get_global_id(0)] = vload3(get_global_id(0), p).x; // finds: out-of-bounds
}

typedef union { uint all; uchar bytes[4]; ushort halves[2]; } word;
kernel void parts_of_a_union(global const uint *x, global uint *y) {
    word whole, part;
    const int i = get_global_id(0);
    whole.bytes[0] = x[i], whole.bytes[1] = 0, whole.halves[1] = 7;
    part.bytes[0] = x[i], part.halves[1] = 7;
    y[2 * i] = whole.all;
    y[2 * i + 1] = part.all; // finds: uninitialised
}

kernel void lock_without_order(global atomic_int *lock, global int *count) {
    if (get_local_id(0) != 0) return;
    while (atomic_exchange_explicit(lock, 1, memory_order_relaxed, memory_scope_device)) {}
    count[0]++; // finds: race
    atomic_store_explicit(lock, 0, memory_order_relaxed, memory_scope_device);
}

kernel void lock_with_order(global atomic_int *lock, global int *count) {
    if (get_local_id(0) != 0) return;
    while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device)) {}
    count[0]++;
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}

static void load_tile(local float *t, global const float *x, int n) {
    const int i = get_global_id(0);
    if (i >= n) return;
    t[get_local_id(0)] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE); // finds: divergence
}
kernel void helper_that_leaves_early(global const float *x, global float *y, int n) {
    local float t[32];
    load_tile(t, x, n);
    if (get_global_id(0) < n) y[get_global_id(0)] = t[get_local_id(0)];
}

kernel void rows_for_columns(global const uchar *x, global uchar *y, int w, int h) {
    const int i = get_global_id(0), j = get_global_id(1);
    if (i < w && j < h) y[j * w + i] = x[i * w + j]; // finds: out-of-bounds
}

kernel void printed_but_unset(global int *y) {
    int x[4];
    const int i = get_global_id(0);
    if (i > 2) x[i & 3] = 1;
    printf("%.0d", x[1] & 0);
    printf("%.0d", x[2]); // finds: uninitialised
    y[i] = i;
}

kernel void expected_value_unset(global int *y, global atomic_int *n) {
    int mine;
    atomic_compare_exchange_strong(n, &mine, 5); // finds: uninitialised
    y[get_global_id(0)] = 1;
}

kernel void private_entry_that_goes_away(global int *x, global int *y, int n) {
    local int mine[8];
    int near[4] = {1, 2, 3, n}, *table[2] = {x, mine};
    mine[get_local_id(0)] = 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++)
        if (k * k > 10) table[1] = near;
    y[get_global_id(0)] = *table[n & 1];
}
