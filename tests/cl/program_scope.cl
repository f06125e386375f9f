// Variables in global memory at program scope: initialised when the program is built, and kept from launch to launch.
// kernel: count
// global: 100
// arg: buf:int:6
// expect: 107, 42, 1024, 3, 7, 0
// kernel: count
// global: 100
// arg: buf:int:6
// expect: 107, 42, 1024, 3, 7, 0
// kernel: untouched
// arg: buf:int:1=5
// expect: 6
struct pair { int first; uchar second[3]; };
__global int counter = 7;
global struct pair pairs[2] = {{40, {1, 2, 3}}, {.second = {0, 2}}};
extern global volatile int waiting;
global float4 vector = (float4)(1, 2, 3, 1024);
global volatile int waiting = 3;
global int large[1000];
static global long last = 7;
global int *global list;

int bump(int by) {
    static global int calls;
    atomic_add(&calls, 1);
    return atomic_add(&counter, by);
}
int twice(void) { return bump(1) - bump(0); }

kernel void count(global int *out) {
    if (get_global_id(0)) {
        bump(1);
    } else {
        twice();
        large[999]++;
        pairs[1].first = pairs[0].first + pairs[1].second[1];
        out[1] = pairs[1].first;
        out[2] = vector.w;
        out[3] = waiting;
        out[4] = (int)last;
        out[5] = list != 0;
    }
    out[0] = 107;
}
kernel void untouched(global int *out) { out[0]++; }
