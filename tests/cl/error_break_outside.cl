// break, continue and case labels outside of what they belong to; a label twice; goto nowhere.
// error: 8: break
// error: 9: continue
// error: 10: case
// error: 13: again
// error: 14: nowhere
kernel void run(global int *out) {
    if (out[0]) break;
    continue;
    case 1: out[0] = 1;
again:
    out[1] = 2;
again:
    goto nowhere;
}
