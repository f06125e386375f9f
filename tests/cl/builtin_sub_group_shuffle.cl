// sub_group_shuffle reads any lane; shuffle_xor the lane whose number differs in some bits.
// needs: f64
// needs: sub_groups
// kernel: run
// global: 32
// local: 32
// arg: buf:int:32
// expect: 15
kernel void run(global int *ok) {
    uint size = get_sub_group_size(), lane = get_sub_group_local_id(), first = get_local_id(0) - lane;
    int mine = get_local_id(0);
    uint turned = size - 1 - lane, other = lane ^ 1u;
    int result = sub_group_shuffle(mine, turned) == (int)(first + turned);
    result |= (sub_group_shuffle((double)mine, turned) == (double)(first + turned)) << 1;
    int swapped = sub_group_shuffle_xor(mine, 1);
    result |= (other >= size || swapped == (int)(first + other)) << 2;
    char small = sub_group_shuffle((char)mine, 0);
    result |= (small == (char)first) << 3;
    ok[get_global_id(0)] = result;
}
