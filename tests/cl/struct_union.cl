// A union sees the same bytes as float, int and bytes.
// kernel: run
// arg: buf:uint:5
// expect: 0x3fc00000, 0xc0, 0x40200000, 4, 0xbf
typedef union { float f; uint u; uchar b[4]; } word;
kernel void run(global uint *out) {
    word w;
    w.f = 1.5f;
    out[0] = w.u;
    out[1] = w.b[2];
    w.u = 0x40200000;
    out[2] = as_uint(w.f);
    out[3] = sizeof(word);
    w.f = -1.0f;
    out[4] = w.b[3];
}
