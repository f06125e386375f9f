// What is before each tile of a row, while the tiles run. Each tells what it has; one work-group joins that in order and tells each tile
// what is before it. The order depends on the tiles' numbers alone, so sums of floats are the same at each call. A tile reads one word, and
// the chain goes through the local memory of one work-group, where tiles that look back for themselves read many and make the chain in global
// memory (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016).
// For devices whose work-groups go on while others wait, and work-groups that get their numbers in the order in which they begin: so the one
// that joins is among those that run. The file that includes it has VALUE, of 4 or 8 bytes, LEAST and join, GROUP, SUBS and WIDTH, the
// members of a sub-group, at most 32.

// 32 bits of a value are in each word of a state, and above them TOLD. A state of zeros has told nothing.
#define TOLD        (1ul << 32)
#define STATE_WORDS (sizeof(VALUE) / 4)

typedef union told {
    VALUE value;
    uint words[STATE_WORDS];
} told;

static void tell(global atomic_ulong *states, ulong tile, VALUE value) {
    told t;
    t.value = value;
#pragma unroll
    for (uint w = 0; w < STATE_WORDS; w++)
        atomic_store_explicit(&states[tile * STATE_WORDS + w], TOLD | t.words[w], memory_order_relaxed,
                              memory_scope_device);
}

// Whether it has been told; half of it is nothing.
static bool hear(global atomic_ulong *states, ulong tile, VALUE *value) {
    told t;
    ulong all = TOLD;
#pragma unroll
    for (uint w = 0; w < STATE_WORDS; w++) {
        const ulong word =
            atomic_load_explicit(&states[tile * STATE_WORDS + w], memory_order_relaxed, memory_scope_device);
        t.words[w] = (uint)word;
        all &= word;
    }
    *value = t.value;
    return (all & TOLD) != 0;
}

// A sub-group waits, and every member gets it.
static VALUE wait_for(global atomic_ulong *states, ulong tile) {
    VALUE value;
    while (!sub_group_all(hear(states, tile, &value))) {
    }
    return value;
}

// What is before the block of tiles of number `turn`, in its first tile's row.
typedef struct relay_baton {
    VALUE run;
    atomic_uint turn;
} relay_baton;

// All of a work-group. Rows have `tiles` each, all rows `all`. Sub-groups have blocks of WIDTH tiles in turns.
static void relay(global atomic_ulong *own, global atomic_ulong *before, uint tiles, uint all,
                  local relay_baton *baton) {
    const uint lane = get_sub_group_local_id();
    if (get_local_id(0) == 0) {
        baton->run = LEAST;
        atomic_init(&baton->turn, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint block = get_sub_group_id(); (ulong)block * WIDTH < all; block += SUBS) {
        const uint tile = block * WIDTH + lane, column = tile % tiles;
        VALUE value = LEAST;
        bool known = false;
        uint done = 0, leading = 0; // tiles that know what is before them; that have told without a gap
        while (leading < WIDTH && block * WIDTH + done < all) {
            if (!known && tile < all) known = hear(own, tile, &value);
            const uint missing = ~sub_group_ballot(known).x & (~0u >> (32 - WIDTH));
            leading = missing ? ctz(missing) : WIDTH;
            VALUE sum = known ? value : LEAST; // of those of the row up to this tile
#pragma unroll
            for (uint reach = 1; reach < WIDTH; reach *= 2) {
                const VALUE other = sub_group_shuffle_up(sum, reach);
                if (lane >= reach && column >= reach) sum = join(other, sum);
            }
            VALUE earlier = sub_group_shuffle_up(sum, 1);
            if (lane == 0 || column == 0) earlier = LEAST;
            uint turn;
            do {
                turn = atomic_load_explicit(&baton->turn, memory_order_acquire, memory_scope_work_group);
            } while (leading == WIDTH && turn != block);
            if (turn != block) continue;
            const VALUE run = baton->run;
            if (column > lane) sum = join(run, sum), earlier = join(run, earlier);
            if (leading == WIDTH && lane == WIDTH - 1) {
                baton->run = sum;
                atomic_store_explicit(&baton->turn, block + 1, memory_order_release, memory_scope_work_group);
            }
            if (lane >= done && lane <= leading && tile < all) tell(before, tile, earlier);
            done = leading + 1;
        }
    }
}
