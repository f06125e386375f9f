// Absurd nesting is refused, not followed until the stack ends.
// error: 6: nest
#define TEN(x) ((((((((((x))))))))))
#define HUNDRED(x) TEN(TEN(TEN(TEN(TEN(TEN(TEN(TEN(TEN(TEN(x))))))))))
kernel void run(global int *out) {
    out[0] = HUNDRED(HUNDRED(HUNDRED(HUNDRED(1))));
}
