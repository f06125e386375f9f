// What makes kernels slow, found when asked: memory that neighbours touch far from each other, banks of local memory that several
// want at a time, branches and loops that leave lanes idle, work-groups of which few fit; after the patterns of NVIDIA's guide.
// also: performance sm_90
// kernel: rows, columns
// global: 64
// local: 64
// arg: buf:float:64
// arg: buf:float:2048=1
// kernel: every_second, shifted, same_for_all
// global: 128
// local: 64
// arg: buf:float:256
// kernel: fields, arrays
// global: 64
// local: 64
// arg: buf:float:512
// kernel: gather
// global: 64
// local: 64
// arg: buf:float:64
// arg: buf:float:1024=1
// kernel: transpose_banks, transpose_padded
// global: 32, 8
// local: 32, 8
// arg: buf:float:1024=1,2
// arg: buf:float:1024
// kernel: reduce_interleaved, reduce_sequential
// global: 64
// local: 64
// arg: buf:float:64=1
// kernel: double_words
// global: 32
// local: 32
// arg: buf:ulong:64=1
// kernel: odd_and_even, by_sub_groups
// global: 64
// local: 64
// arg: buf:float:64=2
// kernel: guarded
// global: 256
// local: 64
// arg: buf:float:256=2
// arg: int:250
// kernel: uneven, even, much_local, little_local
// global: 64
// local: 64
// arg: buf:float:64
// kernel: small_groups
// global: 64
// local: 4
// arg: buf:float:64
enum { WIDTH = 32 };
kernel void rows(global float *out, global const float *in) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < WIDTH; k++) sum += in[i * WIDTH + k]; // finds: uncoalesced
    out[i] = sum;
}
kernel void columns(global float *out, global const float *in) {
    int i = get_global_id(0);
    float sum = 0;
    for (int k = 0; k < WIDTH; k++) sum += in[k * 64 + i];
    out[i] = sum;
}
kernel void every_second(global float *x) {
    int i = get_global_id(0);
    x[2 * i] = i; // finds: uncoalesced
}
kernel void shifted(global float *x) {
    int i = get_global_id(0);
    x[i + 1] = i;
}
kernel void same_for_all(global float *x) {
    int i = get_global_id(0);
    x[i] = x[200] + x[201 + i / 32];
}
typedef struct particle {
    float x, y, z, mass, u, v, w, charge;
} particle;
kernel void fields(global particle *p) {
    int i = get_global_id(0);
    p[i].mass = i; // finds: uncoalesced
}
kernel void arrays(global float *x) {
    int i = get_global_id(0);
    x[64 * 3 + i] = i;
}
kernel void gather(global float *out, global const float *in) {
    int i = get_global_id(0);
    out[i] = in[i * 2654435761u % 1024]; // finds: uncoalesced
}
kernel void transpose_banks(global const float *in, global float *out) {
    local float tile[32][32];
    int x = get_local_id(0);
    for (int y = get_local_id(1); y < 32; y += 8) tile[y][x] = in[y * 32 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = get_local_id(1); y < 32; y += 8) out[y * 32 + x] = tile[x][y]; // finds: bank-conflict
}
kernel void transpose_padded(global const float *in, global float *out) {
    local float tile[32][33];
    int x = get_local_id(0);
    for (int y = get_local_id(1); y < 32; y += 8) tile[y][x] = in[y * 32 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int y = get_local_id(1); y < 32; y += 8) out[y * 32 + x] = tile[x][y];
}
kernel void reduce_interleaved(global float *x) {
    local float t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 64; d *= 2) {
        int i = 2 * d * l;
        if (i < 64) t[i] += t[i + d]; // finds: bank-conflict
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = t[0];
}
kernel void reduce_sequential(global float *x) {
    local float t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 32; d; d /= 2) {
        if (l < d) t[l] += t[l + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    x[l] = t[0];
}
kernel void double_words(global ulong *x) {
    local ulong t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    t[l + 32] = x[l + 32];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[63 - l];
}
kernel void odd_and_even(global float *x) {
    int i = get_global_id(0);
    float v = x[i];
    if (i % 2) // finds: divergent-branch
        for (int k = 0; k < 20; k++) v = v * v + 1 / v;
    else
        for (int k = 0; k < 20; k++) v = sqrt(v) + v;
    x[i] = v;
}
kernel void by_sub_groups(global float *x) {
    int i = get_global_id(0);
    float v = x[i];
    if (i / 32 % 2)
        for (int k = 0; k < 20; k++) v = v * v + 1 / v;
    else
        for (int k = 0; k < 20; k++) v = sqrt(v) + v;
    x[i] = v;
}
kernel void guarded(global float *x, int n) {
    int i = get_global_id(0);
    if (i < n) {
        float v = x[i];
        for (int k = 0; k < 20; k++) v = v * v + 1 / v;
        x[i] = v;
    }
}
kernel void uneven(global float *x) {
    int i = get_global_id(0);
    float v = 1;
    for (int k = 0; k < i; k++) // finds: divergent-branch
        v = v * 1.5f + sqrt(v) + 1 / v + sqrt(v + 1) + 1 / (v + 1);
    x[i] = v;
}
kernel void even(global float *x) {
    int i = get_global_id(0);
    float v = 1;
    for (int k = 0; k < get_local_size(0); k++) v = v * 1.5f + sqrt(v) + 1 / v + sqrt(v + 1) + 1 / (v + 1);
    x[i] = v;
}
kernel void much_local(global float *x) { // finds: occupancy
    local float t[10000];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[63 - l];
}
kernel void little_local(global float *x) {
    local float t[64];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[63 - l];
}
kernel void small_groups(global float *x) { // finds: occupancy
    x[get_global_id(0)] = 1;
}
