// Calls with the wrong number or kind of arguments.
// error: 7: argument
// error: 8: argument
// error: 9: function
int add(int a, int b) { return a + b; }
kernel void run(global int *out) {
    out[0] = add(1);
    out[1] = add(1, 2, 3);
    out[2] = out(1);
}
