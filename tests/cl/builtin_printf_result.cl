// printf gives 0; it may stand in a loop, a helper and an expression.
// needs: printf
// kernel: run
// arg: buf:int:1
// expect: 0
// prints: "0 0\n1 1\n2 4\nend\n"
int square(int i) {
    int result = printf("%d %d\n", i, i * i);
    return result;
}
kernel void run(global int *out) {
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += square(i);
    *out = sum + (printf("end\n") == 0 ? 0 : 1);
}
