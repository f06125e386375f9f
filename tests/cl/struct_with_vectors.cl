// A struct with vectors in a buffer: 16-byte alignment of float4 and float3.
// kernel: run
// global: 2
// arg: buf:float:16=1,2,3,4,5,0,0,0,6,7,8,9,10,0,0,0
// expect: 6, 7, 8, 9, 5, 0, 0, 0, 16, 17, 18, 19, 10, 0, 0, 0
typedef struct { float4 v; float w; } item;
kernel void run(global item *items) {
    size_t i = get_global_id(0);
    items[i].v += items[i].w;
}
