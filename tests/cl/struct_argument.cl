// A struct as kernel argument: the host gives its bytes. {int 5; float 1.5; uchar 7 (padding); short -2}
// kernel: run
// arg: raw:050000000000c03f0700feff
// arg: buf:float:4
// expect: 5, 1.5, 7, -2
struct settings { int a; float b; uchar c; short d; };
kernel void run(struct settings s, global float *out) {
    out[0] = s.a;
    out[1] = s.b;
    out[2] = s.c;
    out[3] = s.d;
}
