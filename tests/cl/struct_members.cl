// Structs by value: members, assignment copies, nested structs and arrays inside.
// kernel: run
// arg: buf:int:7
// expect: 1, 2, 30, 3, 5, 4, 100
struct point { int x, y; };
struct shape {
    struct point corner[3];
    int id;
};
kernel void run(global int *out) {
    struct shape a = {{{1, 2}, {3, 4}, {5, 6}}, 100}, b;
    b = a;
    b.corner[1].x *= 10;
    out[0] = b.corner[0].x;
    out[1] = b.corner[0].y;
    out[2] = b.corner[1].x;
    out[3] = a.corner[1].x;
    out[4] = b.corner[2].x;
    out[5] = b.corner[1].y;
    out[6] = b.id;
}
