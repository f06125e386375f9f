// Private variables and arrays keep their values across barriers.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 16, 20, 24, 28
kernel void run(global int *out) {
    local int tile[4];
    int l = get_local_id(0), mine[3] = {l, l * 2, 5}, sum = 0;
    float4 v = (float4)(l);
    tile[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 4; i++) sum += tile[i];
    mine[2] += sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = mine[0] + mine[1] + mine[2] + (int)v.w + 5;
}
