// Dimensions from get_work_dim() on: ids and offsets are 0, sizes and counts 1 (6.12.1).
// kernel: run
// global: 4
// local: 2
// offset: 3
// arg: buf:ulong:24
// expect: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
kernel void run(global ulong *out) {
    if (get_global_linear_id() != 3) return;
    for (uint i = 0; i < 3; i++) {
        uint d = i == 2 ? 77 : i + 1;
        out[i] = get_global_id(d);
        out[i + 3] = get_local_id(d);
        out[i + 6] = get_group_id(d);
        out[i + 9] = get_global_offset(d);
        out[i + 12] = get_global_size(d);
        out[i + 15] = get_local_size(d);
        out[i + 18] = get_num_groups(d);
        out[i + 21] = get_enqueued_local_size(d);
    }
}
