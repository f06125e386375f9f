// Compound literals of structs, arrays and scalars; they are objects with an address.
// kernel: run
// arg: buf:int:5
// expect: 7, 20, 5, 12, 3
typedef struct { int x, y; } point;
int sum(private const int *p, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    return s;
}
int norm(point p) { return p.x * p.x + p.y * p.y; }
kernel void run(global int *out) {
    out[0] = sum((int[]){1, 2, 4}, 3);
    out[1] = norm((point){.y = 2, .x = 4});
    out[2] = (int){5};
    private point *p = &(point){5, 6};
    p->x++;
    out[3] = p->x + p->y;
    out[4] = ((int[4]){[3] = 3})[3];
}
