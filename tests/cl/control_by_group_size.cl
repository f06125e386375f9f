// Work-items share out what is more than them by loops that count by the group's size.
// options: -qn-tune=four-iterations
// kernel: run
// global: 6,2
// local: 3,2
// arg: buf:int:61=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61
// arg: uint:61
// arg: uint:4
// arg: buf:int:24
// expect: 1891, 10, 290, 2, 300, 3, 310, 4, 320, 0, 330, 0, 1891, 10, 290, 2, 300, 3, 310, 4, 320, 0, 330, 0
kernel void run(global const int *in, uint n, uint few, global int *out) {
    local int tile[61];
    const uint size = get_local_size(0) * get_local_size(1);
    const uint id = get_local_id(1) * get_local_size(0) + get_local_id(0);
    int own = 0, of_few = 0;
    for (uint i = id; i < n; i += size) tile[i] = in[i];
    for (uint i = id; i < n; i += size) own += in[i];
    for (uint i = id; i < few; i += size) of_few += in[i];
    for (uint i = UINT_MAX - id; i < few; i += size) of_few += 1000;
    barrier(CLK_LOCAL_MEM_FENCE);
    int all = 0;
    for (uint i = 0; i < n; i++) all += tile[i];
    global int *to = out + 12 * get_group_id(0) + 2 * id;
    to[0] = id ? own : all;
    to[1] = id ? of_few : 10;
}
