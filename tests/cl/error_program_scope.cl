// Variables at program scope whose initial value is not known when the program is built.
// error: 7: initializer of global variable 'a' is not a constant
// error: 8: global variable 'b'
// error: 9: must be in the __constant or __global address space
// error: 11: cannot be in the __global address space
global int x = 3;
global int a = x + 1;
global int *global b = &x;
int c = 4;
kernel void run(global int *out) {
    global int d;
    out[0] = x;
}
