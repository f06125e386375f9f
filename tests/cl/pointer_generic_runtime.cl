// The address space of a generic pointer may be known at run time only: one of two, of three, that of what a loop assigned
// last, of a parameter, of a result. What it points to is read, written and copied, it is compared, subtracted, asked and cast.
// options: -cl-std=CL3.0
// kernel: chosen
// global: 4
// local: 4
// arg: buf:int:4=1,2,3,4
// arg: local:16
// arg: buf:int:4
// expect: 1, 11, 102, 4
// kernel: assigned
// global: 4
// local: 4
// arg: buf:int:4=1,2,3,4
// arg: local:16
// arg: buf:int:4
// expect: 10021, 1022, 10023, 1024
// kernel: walked
// global: 1
// arg: buf:int:8=1,2,3,4,5,6,7,8
// arg: local:32
// arg: buf:long:6
// expect: 36, 150, 3, -3, 1, 0
// kernel: called
// global: 4
// local: 4
// arg: buf:float:8=0,1,2,3,4,5,6,7
// arg: local:16
// arg: buf:float:8
// expect: 0, 11, 2, 33, 6, 22, 6, 66
// kernel: wide
// global: 2
// local: 2
// arg: buf:int:24=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23
// arg: local:96
// arg: buf:int:10
// expect: 6, 600, -5, -500, -7, -700, 8, 800, 90, 901
// kernel: asked
// global: 4
// local: 4
// arg: buf:int:4=5,6,7,8
// arg: local:16
// arg: buf:int:4
// expect: 1001, 2010, 100, 1001
kernel void chosen(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own = 100 + i;
    l[i] = 10 + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i == 0 ? g : i == 1 ? l + 1 : &own;
    out[i] = i < 3 ? *p : *(i == 3 ? g + 3 : &own);
}

kernel void assigned(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own = 0, *p = g + i;
    l[i] = 0;
    for (int round = 0; round < 3; round++) {
        *p += 10;
        if (round == 1)
            p = g + i;
        else if (i & 1)
            p = l + i;
        else
            p = &own;
    }
    out[i] = g[i] + 100 * l[i] + 1000 * own;
}

int sum(const int *from, const int *to) {
    int s = 0;
    while (from != to) s += *from++;
    return s;
}
kernel void walked(global int *g, local int *l, global long *out) {
    for (int i = 0; i < 8; i++) l[i] = 10 * i;
    for (int pass = 0; pass < 2; pass++) {
        const int *p = g, *end = g + 8;
        if (pass) {
            p = l + 1;
            end = l + 6;
        }
        out[pass] = sum(p, end);
        const int *before = p;
        p += 3;
        out[2] = p - before;
        out[3] = before - p;
        out[4] = before < p && p > before && before <= p && !(before >= p) && p == before + 3;
        out[5] = before == p || !p || p == g || p == NULL;
    }
}

// One body for all address spaces, where the pointer that it gets is generic.
float twice_at(float *p, int n) { return 2 * p[n]; }
float *advanced(float *p, int by) {
    if (by < 0) return 0;
    return p + by;
}
void put(float *to, float value) { *to = value; }
kernel void called(global float *g, local float *l, global float *out) {
    const int i = get_local_id(0);
    float own = 1;
    l[i] = 11 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    float *p = i & 1 ? l : g;
    out[i] = *advanced(p, i);
    put(i & 1 ? l + i : &own, twice_at(p, i & 1 ? i : 3));
    out[i + 4] = advanced(p, -1) ? 0 : i & 1 ? l[i] : own;
}

struct block {
    int values[8];
};
struct block copied(struct block *p) { return *p; }
kernel void wide(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    for (int n = i; n < 24; n += 2) l[n] = 100 * n;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i ? l : g;
    const int4 v = vload4(0, p);
    out[i] = v.x + v.y + v.z + v.w;
    int4 *q = (int4 *)p + 1;
    q->yw = -q->yw;
    out[2 + i] = p[5];
    const struct block b = copied((struct block *)(p + 7));
    out[4 + i] = b.values[0];
    *(struct block *)(p + 16) = b;
    out[6 + i] = p[17];
    vstore2((int2)(90, 901), 11, p);
    out[8 + i] = p[22 + i];
}

kernel void asked(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own = 3;
    l[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i == 1 ? l : i == 2 ? &own : g;
    int n = (to_global(p) != NULL) + 10 * (to_local(p) != NULL) + 100 * (to_private(p) != NULL);
    if (get_fence(p) & CLK_GLOBAL_MEM_FENCE) n += 1000;
    if (get_fence(p) & CLK_LOCAL_MEM_FENCE) n += 2000;
    if (i == 0 && (*(global int *)p != 5 || *to_global(p) != 5)) n = -1;
    if (i == 1 && (*(local int *)p != 0 || *to_local(p) != 0)) n = -2;
    if (i == 2 && (*(private int *)p != 3 || *to_private(p) != 3)) n = -3;
    barrier(get_fence(p));
    out[i] = n;
}
