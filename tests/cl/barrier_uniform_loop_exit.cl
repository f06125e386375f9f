// A loop with barriers whose end depends on a value in local memory, the same for all.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 5, 5, 5, 5
kernel void run(global int *out) {
    local int go;
    int rounds = 0, l = get_local_id(0);
    do {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == 3) go = rounds < 4;
        barrier(CLK_LOCAL_MEM_FENCE);
        rounds++;
    } while (go);
    out[l] = rounds;
}
