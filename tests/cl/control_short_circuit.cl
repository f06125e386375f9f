// && and || evaluate their right side only where it is needed.
// kernel: run
// arg: buf:int:1
// expect: 5
// arg: buf:int:4
// expect: 0, 1, 1, 1
int bump(global int *counter, int result) {
    (*counter)++;
    return result;
}
kernel void run(global int *counter, global int *out) {
    out[0] = bump(counter, 0) && bump(counter, 1);
    out[1] = bump(counter, 1) || bump(counter, 1);
    out[2] = bump(counter, 2) && bump(counter, 3);
    out[3] = 0 || (bump(counter, 7) && 1);
}
