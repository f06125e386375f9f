// What tiles of a row tell each other while they run, so that each learns what all before it have (Merrill and Garland,
// "Single-pass parallel prefix scan with decoupled look-back", 2016). For devices whose work-groups go on while others wait, and tiles
// that are taken in the order in which work-groups begin. The file that includes it has VALUE, of 4 or 8 bytes, LEAST and join, and
// WIDTH, the members of a sub-group, at most 32; LOOK: how many blocks of WIDTH tiles are looked at together, 2 or more.
//
// A tile tells its own; the last tile of each block tells then what all up to it have. A tile joins what is before it from these: what
// blocks have, each in the same tree, from the nearest block whose begin is known, in order. So the order depends on the tile
// alone, not on how far it had to look.

// 32 bits of a value are in each word of a state; above them is what the value is. A state of zeros has told nothing.
#define OWN         (1ul << 32) // of its own elements
#define ALL         (2ul << 32) // of them and all before in the row
#define STATE_WORDS (sizeof(VALUE) / 4)

typedef union told {
    VALUE value;
    uint words[STATE_WORDS];
} told;

static void tell(global atomic_ulong *states, ulong tile, VALUE value, ulong what) {
    told t;
    t.value = value;
#pragma unroll
    for (uint w = 0; w < STATE_WORDS; w++)
        atomic_store_explicit(&states[tile * STATE_WORDS + w], what | t.words[w], memory_order_relaxed,
                              memory_scope_device);
}

// What the value is: 1, its own, or 2, all; 0: nothing yet, or halves of two.
static uint ask(global atomic_ulong *states, ulong tile, told *t) {
    uint what = 3;
#pragma unroll
    for (uint w = 0; w < STATE_WORDS; w++) {
        const ulong word =
            atomic_load_explicit(&states[tile * STATE_WORDS + w], memory_order_relaxed, memory_scope_device);
        t->words[w] = (uint)word;
        what &= (uint)(word >> 32);
    }
    return what;
}

static VALUE join_members(VALUE v) {
#pragma unroll
    for (uint reach = 1; reach < WIDTH; reach *= 2) v = join(v, sub_group_shuffle_xor(v, reach));
    return v;
}

// What is before tile `column` of a row whose first tile is `first`; it has told `own`. A sub-group does it; every member gets it.
static VALUE find_before(global atomic_ulong *states, ulong first, ulong column, VALUE own) {
    const uint lane = get_sub_group_local_id(), rest = (uint)(column % WIDTH);
    const ulong block = column / WIDTH;
    told t[LOOK];
    uint what[LOOK], reach = 0; // so many blocks back there is one whose last tile knows all
    if (column == 0) return LEAST;
#pragma unroll
    for (uint k = 0; k < LOOK; k++) {
        t[k].value = LEAST;
        what[k] = k <= block && (k > 0 || lane < rest) ? 0 : k > 0 ? 2 : 1;
    }
    while (reach == 0) {
// Nobody asks again for what is known: that would be most of the traffic.
#pragma unroll
        for (uint k = 0; k < LOOK; k++)
            if (what[k] == 0 || (k > 0 && lane == WIDTH - 1 && what[k] == 1))
                what[k] = ask(states, first + (block - k) * WIDTH + lane, &t[k]);
        bool known = true;
#pragma unroll
        for (uint k = 0; k < LOOK; k++) {
            const bool all_told = sub_group_all(what[k] != 0),
                       whole = sub_group_broadcast(what[k], WIDTH - 1) == 2;
            if (known && reach == 0) {
                if (k > 0 && whole)
                    reach = k;
                else
                    known = all_told;
            }
        }
    }
    VALUE sums[LOOK], run = LEAST; // of blocks; up to this tile's block
#pragma unroll
    for (uint k = 0; k < LOOK - 1; k++) sums[k] = join_members(t[k].value);
#pragma unroll
    for (uint k = LOOK - 1; k > 0; k--) {
        const VALUE all = sub_group_broadcast(t[k].value, WIDTH - 1);
        if (k == reach) run = all;
        if (k < reach) run = join(run, sums[k]);
    }
    if (rest == WIDTH - 1) {
        // In the tree in which others join this block.
        const VALUE whole = join_members(lane == rest ? own : t[0].value);
        if (lane == rest) tell(states, first + column, join(run, whole), ALL);
    }
    return join(run, sums[0]);
}
