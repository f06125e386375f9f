// Variadic macros: __VA_ARGS__ with none, one and several arguments, stringized, and counted.
// kernel: run
// arg: buf:int:4
// expect: 6, 3, 1, 60
// prints: "1, 2,3\n"
#define SUM(...) sum3(__VA_ARGS__)
#define COUNT(...) COUNT_(__VA_ARGS__, 3, 2, 1, 0)
#define COUNT_(a, b, c, n, ...) n
#define SHOW(...) printf("%s\n", #__VA_ARGS__)
#define SCALED(by, ...) (by * sum3(__VA_ARGS__))
int sum3(int a, int b, int c) { return a + b + c; }
kernel void run(global int *out) {
    out[0] = SUM(1, 2, 3);
    out[1] = COUNT(a, b, c);
    out[2] = COUNT(a);
    out[3] = SCALED(10, 1, 2, 3);
    SHOW(1, 2,3);
}
