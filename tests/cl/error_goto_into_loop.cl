// A jump into a loop cannot be structured; quern says so.
// error: 4: goto
kernel void run(global int *out) {
    if (out[0]) goto inside;
    for (int i = 0; i < 4; i++) {
        out[1] += i;
    inside:
        out[2] += 1;
    }
}
