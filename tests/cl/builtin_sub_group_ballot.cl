// sub_group_ballot and what counts and finds the bits of a ballot.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups, and && parts the work-items, which local memory cannot serve
// kernel: run
// global: 21
// local: 21
// arg: buf:int:21
// expect: 255
kernel void run(global int *ok) {
    uint size = get_sub_group_size(), lane = get_sub_group_local_id();
    uint4 third = sub_group_ballot(lane % 3 == 0);
    uint last = (size - 1) / 3 * 3;
    int result = sub_group_ballot_bit_count(third) == last / 3 + 1;
    result |= (sub_group_ballot_inclusive_scan(third) == lane / 3 + 1) << 1;
    result |= (sub_group_ballot_exclusive_scan(third) == (lane + 2) / 3) << 2;
    result |= (sub_group_ballot_find_lsb(third) == 0) << 3;
    result |= (sub_group_ballot_find_msb(third) == last) << 4;
    result |= ((sub_group_inverse_ballot(third) != 0) == (lane % 3 == 0)) << 5;
    result |= ((sub_group_ballot_bit_extract(third, size - 1) != 0) == (size - 1 == last)) << 6;
    result |= ((third.x & 1) == 1 && sub_group_ballot_bit_count(sub_group_ballot(0)) == 0) << 7;
    ok[get_global_id(0)] = result;
}
