// A jump into a loop that another goto makes cannot be structured; quern says so.
// error: 4: into a loop that another goto makes
kernel void run(global int *out) {
    if (out[0]) goto inside;
again:
    out[1] += 1;
inside:
    out[2] += 1;
    if (out[2] < 9) goto again;
}
