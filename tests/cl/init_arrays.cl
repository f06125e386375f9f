// Array initialisers: partly given, size from the list, nested with and without inner braces, strings.
// kernel: run
// arg: buf:int:12
// expect: 1, 2, 0, 0, 4, 6, 5, 0, 3, 9, 6, 98
kernel void run(global int *out) {
    int a[4] = {1, 2}, b[] = {1, 2, 3, 4}, c[2][3] = {{1, 2}, {4, 5}}, d[2][2] = {1, 2, 3, 4};
    int e[3][2][2] = {{{1}}, {{2, 3}, {4}}, {{5}, {6}}};
    char s[] = "abc", t[3] = "xyz", u[8] = "b";
    out[0] = a[0];
    out[1] = a[1];
    out[2] = a[2];
    out[3] = a[3];
    out[4] = sizeof b / sizeof b[0];
    out[5] = c[0][1] + c[1][0];
    out[6] = c[1][1];
    out[7] = c[0][2] + c[1][2];
    out[8] = d[1][0];
    out[9] = e[1][0][1] + e[2][1][0];
    out[10] = e[0][0][0] + e[2][0][0];
    out[11] = u[0] + u[1] + (t[2] - 'z') + (s[3] == 0) - 1;
}
