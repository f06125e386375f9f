// A tagged union: members of different sizes, in a struct that is copied.
// kernel: run
// arg: buf:float:3
// expect: 7, 2.5, 16
typedef struct { int tag; union { int i; float4 v; } u; } value;
float number(value v) { return v.tag == 0 ? v.u.i : v.u.v.y; }
kernel void run(global float *out) {
    value a = {0, {7}}, b;
    b.tag = 1;
    b.u.v = (float4)(1.5f, 2.5f, 3.5f, 4.5f);
    value c = b;
    out[0] = number(a);
    out[1] = number(c);
    out[2] = sizeof(value) / 2;
}
