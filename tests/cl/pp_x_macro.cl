// An X-macro makes an enum, a table and a switch from one list.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 101, 204, 309, 400
#define SHAPES(X) X(POINT, 1) X(LINE, 4) X(FACE, 9) X(NONE, 0)
#define AS_ENUM(name, value) name,
#define AS_VALUE(name, value) value,
#define AS_CASE(name, value) \
    case name: return (name + 1) * 100;
enum shape { SHAPES(AS_ENUM) };
constant int values[] = {SHAPES(AS_VALUE)};
int base(enum shape s) {
    switch (s) { SHAPES(AS_CASE) }
    return -1;
}
kernel void run(global int *out) {
    enum shape s = (enum shape)get_global_id(0);
    out[s] = base(s) + values[s];
}
