// The same name defined twice: function, variable, struct, parameter.
// error: 7: f
// error: 8: s
// error: 11: x
int f(int x) { return x; }
struct s { int a; };
int f(int y) { return y; }
struct s { int b; };
kernel void run(global int *out) {
    int x = 1;
    float x = 2;
    out[0] = f(x);
}
