// get_global_id and get_global_size in one, two and three dimensions.
// kernel: one
// global: 6
// arg: buf:ulong:6
// expect: 600, 601, 602, 603, 604, 605
// kernel: three
// global: 3, 2, 2
// arg: buf:ulong:12
// expect: 322000, 322001, 322002, 322010, 322011, 322012, 322100, 322101, 322102, 322110, 322111, 322112
kernel void one(global ulong *out) { out[get_global_id(0)] = get_global_size(0) * 100 + get_global_id(0); }
kernel void three(global ulong *out) {
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t sizes = get_global_size(0) * 100 + get_global_size(1) * 10 + get_global_size(2);
    out[(z * 2 + y) * 3 + x] = sizes * 1000 + z * 100 + y * 10 + x;
}
