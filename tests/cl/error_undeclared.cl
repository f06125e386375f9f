// Names that are not declared: variable, function, type, member; the closest name is suggested.
// error: 8: coutn
// error: 9: get_global_if
// error: 10: flaot
// error: 11: z
struct point { int x, y; };
kernel void run(global int *out, struct point p, int count) {
    out[0] = coutn;
    out[1] = get_global_if(0);
    flaot f = 1;
    out[2] = p.z;
}
