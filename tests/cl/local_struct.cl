// A __local struct with arrays inside, filled by different work-items.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 6, 16, 26, 36
typedef struct { int sum; int parts[4]; } shared_state;
kernel void run(global int *out) {
    local shared_state s;
    int l = get_local_id(0);
    s.parts[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) s.sum = s.parts[0] + s.parts[1] + s.parts[2] + s.parts[3];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = s.sum + l * 10;
}
