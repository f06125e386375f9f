// Loops with barriers whose condition is read from memory, in groups that are no multiple of any vector: none of their work-items may go round
// for those that are not there. The first is not entered, the second left at once.
// kernel: run
// global: 13
// local: 9
// arg: buf:int:13
// expect: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
// arg: buf:int:2=-1, 1
kernel void run(global int *out, global const int *words) {
    local int shared[9], done;
    int i = get_global_id(0), l = get_local_id(0), x = 1;
    while (words[0] >= 0) {
        shared[l] = x;
        barrier(CLK_LOCAL_MEM_FENCE);
        x += shared[0];
    }
    if (l == 0) done = words[1];
    barrier(CLK_LOCAL_MEM_FENCE);
    while (done != 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        x++;
    }
    out[i] = i + x;
}
