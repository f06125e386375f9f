// The same label twice in a switch.
// error: 6: case
kernel void run(global int *out) {
    switch (out[0]) {
    case 1: out[1] = 1; break;
    case 2 - 1: out[1] = 2; break;
    }
}
