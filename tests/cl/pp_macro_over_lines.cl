// A call of a macro may span lines, with directives-like text left alone in strings.
// kernel: run
// arg: buf:int:1
// expect: 6
// prints: "#define x\n"
#define ADD3(a, b, c) (a + b + c)
kernel void run(global int *out) {
    out[0] = ADD3(1,
                  2,

                  3);
    printf("%s\n", "#define x");
}
