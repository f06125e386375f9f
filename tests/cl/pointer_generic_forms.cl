// All ways to write what a generic pointer is: typedefs, arrays as parameters, void, pointers to vectors and arrays, qualifiers,
// overloads, prototypes, program-scope variables, compound literals, results of expressions.
// options: -cl-std=CL3.0
// kernel: forms
// global: 4
// local: 4
// arg: buf:int:8=1,2,3,4,5,6,7,8
// arg: local:32
// arg: buf:int:4
// expect: 3333, 3333, 3333, 3333
// kernel: kept
// global: 4
// local: 4
// arg: buf:int:4=10,20,30,40
// arg: buf:int:4
// expect: 110, 20, 30, 40
// kernel: structs
// global: 2
// local: 2
// arg: buf:int:2=7,8
// arg: local:8
// arg: buf:int:2
// expect: 7, 80
typedef int *pointer;
typedef const int *reader;
typedef struct cell {
    pointer at;
    reader from;
} cell;

int *kept_pointer;
int sum_array(int values[4]);
int __attribute__((overloadable)) kind(int *p) { return to_local(p) ? 2 : to_global(p) ? 1 : 3; }
int __attribute__((overloadable)) kind(float *p) { return 100 + (to_local(p) ? 2 : to_global(p) ? 1 : 3); }
void *past(void *p, size_t bytes) { return (char *)p + bytes; }
int row_sum(const int (*rows)[4], int row) { return rows[row][0] + rows[row][3]; }
const volatile int *restrict same(const volatile int *restrict p) { return p; }

kernel void forms(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own[8] = {1, 2, 3, 4, 5, 6, 7, 8}, wrong = 0;
    l[i] = i + 1;
    l[4 + i] = i + 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    pointer p = i == 0 ? g : i == 1 ? l : (pointer)own;
    wrong += sum_array(p) != 10;
    wrong += kind(p) != (i == 0 ? 1 : i == 1 ? 2 : 3);
    wrong += kind((float *)p) != 100 + kind(p);
    wrong += *(int *)past(p, 8) != 3;
    wrong += row_sum((const int(*)[4])p, 1) != 13;
    wrong += *same(p + 1) != 2;
    wrong += ((int4 *)p)[1].w != 8;
    wrong += (p ? p : (int *)NULL)[2] != 3 || (i > 5 ? NULL : p)[3] != 4;
    wrong += *(wrong, p + 4) != 5 || ({ p + 5; })[0] != 6;
    wrong += *(int *){p + 6} != 7 || *(pointer[2]){p, g}[i & 1] != 1;
    generic int *named = p;
    __generic const int *constant_named = named;
    wrong += named != constant_named || &p[2] - named != 2 || (uintptr_t)&p[1] - (uintptr_t)p != 4;
    do p++;
    while (*p < 3);
    wrong += p-- != named + 2 || *p != 2 || *++p != 3 || *p++ != 3 || *p-- != 4 || p[-1] != 2;
    p += 2;
    p -= 3;
    wrong += p != named + 1 || 1 [p] != 3 || !(named < p) || p <= constant_named;
    out[i] = wrong ? wrong : 3333;
}

// A variable of the program holds one for as long as the program lives.
kernel void kept(global int *g, global int *out) {
    const int i = get_local_id(0);
    if (i == 0) kept_pointer = g;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (i == 0) *kept_pointer += 100;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = kept_pointer[i];
    g[i] = 10 * (i + 1);
}

cell at(cell c, int n) {
    c.at += n;
    c.from = c.at;
    return c;
}
int read(const cell *c) { return *c->from; }
kernel void structs(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    l[i] = 10 * g[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    cell cells[2] = {{.at = g}, {l}}, *c = &cells[i];
    *c = at(*c, i);
    out[i] = read(c);
}

int sum_array(int values[4]) {
    int s = 0;
    for (int i = 0; i < 4; i++) s += values[i];
    return s;
}
