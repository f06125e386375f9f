// The ## operator makes identifiers, numbers and operators; its operands are not expanded.
// kernel: run
// arg: buf:int:5
// expect: 12, 34, 7, 5, 99
#define CAT(a, b) a##b
#define XCAT(a, b) CAT(a, b)
#define ONE 1
#define CAT1 99
kernel void run(global int *out) {
    int value12 = 12;
    out[0] = CAT(value, 12);
    out[1] = CAT(3, 4);
    out[2] = 3 CAT(+, ) 4;
    int x = 4;
    CAT(+, +) x;
    out[3] = x;
    out[4] = XCAT(CAT, ONE); /* CAT is not followed by '(' */
}
