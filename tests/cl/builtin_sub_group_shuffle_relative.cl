// sub_group_shuffle_up and _down shift by lanes; what would come from outside is undefined. sub_group_rotate turns.
// needs: sub_groups
// kernel: run
// global: 32
// local: 32
// arg: buf:int:32
// expect: 7
kernel void run(global int *ok) {
    uint size = get_sub_group_size(), lane = get_sub_group_local_id(), first = get_local_id(0) - lane;
    int mine = get_local_id(0);
    int below = sub_group_shuffle_up(mine, 1), above = sub_group_shuffle_down(mine, 1);
    int turned = sub_group_rotate(mine, 1);
    int result = lane == 0 || below == mine - 1;
    result |= (lane == size - 1 || above == mine + 1) << 1;
    result |= (turned == (int)(first + (lane + 1) % size)) << 2;
    ok[get_global_id(0)] = result;
}
