// A component of a value is no place to write to.
// error: 5: assign
// error: 6: assign
kernel void run(global int4 *o) {
    (o[0] + o[1])[0] = 1;
    o[0].xy[1] = 1;
}
