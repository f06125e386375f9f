// get_sub_group_eq_mask and its relatives, among the lanes that exist.
// needs: sub_groups
// kernel: run
// global: 21
// local: 21
// arg: buf:int:21
// expect: 31
kernel void run(global int *ok) {
    uint size = get_sub_group_size(), lane = get_sub_group_local_id();
    int result = sub_group_ballot_bit_count(get_sub_group_eq_mask()) == 1 &&
                 sub_group_ballot_bit_extract(get_sub_group_eq_mask(), lane);
    result |= (sub_group_ballot_bit_count(get_sub_group_lt_mask()) == lane) << 1;
    result |= (sub_group_ballot_bit_count(get_sub_group_le_mask()) == lane + 1) << 2;
    result |= (sub_group_ballot_bit_count(get_sub_group_gt_mask()) == size - lane - 1) << 3;
    result |= (sub_group_ballot_bit_count(get_sub_group_ge_mask()) == size - lane) << 4;
    ok[get_global_id(0)] = result;
}
