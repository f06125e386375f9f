// __constant structs, vectors, and pointers to other constants.
// kernel: run
// arg: buf:float:4
// expect: 6, 2, 30, 3
typedef struct { int n; float4 v; float w[2]; } filter;
constant filter filters[2] = {{1, (float4)(1, 2, 3, 4), {5, 6}}, {.n = 2, .w = {[1] = 30}}};
constant int numbers[] = {1, 2, 3};
constant int *constant third = &numbers[2];
kernel void run(global float *out) {
    out[0] = filters[0].w[1];
    out[1] = filters[0].v.y;
    out[2] = filters[1].w[filters[0].n];
    out[3] = *third;
}
