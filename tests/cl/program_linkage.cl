// Declarations before, in blocks and after: a name means its definition, wherever that stands in the file.
// kernel: run
// arg: buf:int:12
// expect: 20, 40, 3, 8, 60, 9, 8, 16, 6, 30, 12, 5
extern __constant int early[];
extern __global int later;
extern __constant int early[3];
static int own(int x);
inline int doubled(int x) { return 2 * x; }

kernel void run(global int *out) {
    int late(int, __constant int *);
    extern __constant int *__constant ends[2];
    extern __global int later;
    out[0] = early[1];
    out[1] = late(2, early);
    out[2] = own(1);
    out[3] = later++;
    out[4] = *ends[0] + *ends[1];
    out[5] = later;
    {
        extern __global int counts[];
        out[6] = counts[1]++;
        counts[0] += counts[1];
        out[7] = counts[0];
    }
    out[8] = doubled(3);
    out[9] = early[2];
    out[10] = sizeof early;
    static __global int kept = 5;
    out[11] = kept;
}

__constant int early[3] = {10, 20, 30};
__constant int *__constant ends[2] = {early + 2, &early[2]};
extern __constant int early[3];
__global int later = 8;
extern __global int later;
int late(int factor, __constant int *from) { return factor * from[1]; }
static int own(int x) { return x + 2; }
extern __global int counts[2];
__global int counts[2] = {7, 8};
