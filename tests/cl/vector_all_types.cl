// The sum of four components for a vector of every element type.
// needs: f64
// kernel: run
// arg: buf:char4:1=1,2,3,-4
// arg: buf:uchar4:1=200,50,5,1
// arg: buf:short4:1=-300,100,100,101
// arg: buf:ushort4:1=60000,5000,500,36
// arg: buf:int4:1=-100000,1,2,3
// arg: buf:uint4:1=4000000000,1,2,3
// arg: buf:long4:1=-10000000000,1,2,3
// arg: buf:ulong4:1=1,2,3,4
// arg: buf:float4:1=0.5,1.5,2.5,3.5
// arg: buf:double4:1=0.25,1,2,3
// arg: buf:long:10
// expect: 2, 256, 1, 65536, -99994, 4000000006, -9999999994, 10, 8, 625
#define SUM(v) ((v).x + (v).y + (v).z + (v).w)
kernel void run(global char4 *a, global uchar4 *b, global short4 *c, global ushort4 *d, global int4 *e,
                global uint4 *f, global long4 *g, global ulong4 *h, global float4 *i, global double4 *j,
                global long *out) {
    out[0] = SUM(a[0]);
    out[1] = SUM(b[0]);
    out[2] = SUM(c[0]);
    out[3] = SUM(d[0]);
    out[4] = SUM(e[0]);
    out[5] = SUM(f[0]);
    out[6] = SUM(g[0]);
    out[7] = SUM(h[0]);
    out[8] = SUM(i[0]);
    out[9] = SUM(j[0]) * 100;
}
