// Function-like macros: arguments in parentheses, empty arguments, no call without parentheses, nested calls.
// kernel: run
// arg: buf:int:6
// expect: 9, 16, 3, 42, 11, 30
#define SQUARE(x) ((x) * (x))
#define FIRST(a, b) a
#define ADD(a, b) (a + b)
#define EMPTY(x) 42 x
int call(int x) { return x + 1; }
#define call(x) call((x) + 5)
kernel void run(global int *out) {
    out[0] = SQUARE(1 + 2);
    out[1] = SQUARE(SQUARE(2));
    out[2] = FIRST(3, (4, 5));
    out[3] = EMPTY();
    out[4] = call(5);
    int (SQUARE) = 10; /* no '(' behind the name: not a call */
    out[5] = ADD(SQUARE, ADD(SQUARE, SQUARE));
}
