// String literals are __constant arrays of char: indexing, size, joining of neighbours.
// kernel: run
// arg: buf:int:5
// expect: 104, 6, 0, 120, 7
constant char *constant words[] = {"x", "yz"};
kernel void run(global int *out) {
    constant char *s = "hello";
    out[0] = s[0];
    out[1] = sizeof "hello";
    out[2] = s[5];
    out[3] = words[0][0];
    out[4] = sizeof("abc" "def");
}
