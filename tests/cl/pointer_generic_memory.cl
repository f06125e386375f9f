// Generic pointers in memory: in structures and arrays, private, local and global, behind further pointers, in lists whose
// nodes lie in several address spaces, and as integers.
// skip: webgpu naga 29 stops the process: it finds an index of its own not cached
// options: -cl-std=CL3.0
// kernel: in_struct
// global: 2
// local: 2
// arg: buf:int:2=5,6
// arg: local:8
// arg: buf:int:4
// expect: 5, 70, 32, 33
// kernel: in_array
// global: 1
// arg: buf:int:3=1,2,3
// arg: local:12
// arg: buf:int:3
// expect: 111, 222, 333
// kernel: behind_pointers
// global: 2
// local: 2
// arg: buf:int:2=1,2
// arg: local:8
// arg: buf:int:4
// expect: 9, 20, 1, 9
// kernel: listed
// global: 1
// arg: buf:int:6
// arg: buf:int:4
// expect: 15, 5, 51, 1
// kernel: shared
// global: 4
// local: 4
// arg: buf:int:4=1,2,3,4
// arg: buf:int:4
// expect: 20, 3, 40, 1
// kernel: as_integers
// global: 2
// local: 2
// arg: buf:int:2=3,4
// arg: local:8
// arg: buf:int:4
// expect: 3, 40, 1, 1
struct span {
    int *first;
    int n;
    const int *last;
};

int at(struct span s, int i) { return s.first ? s.first[i] : -1; }
int at_last(const struct span *s) { return *s->last; }
struct span whole(int *p, int n) {
    struct span s = {p, n, p + n - 1};
    return s;
}
kernel void in_struct(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    int own[2] = {30 + i, 32 + i};
    l[i] = 60 + 10 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    struct span s = {0}, t = whole(own, 2);
    s.first = i ? l : g;
    s.n = 1;
    out[i] = at(s, i);
    s = t;
    out[2 + i] = at_last(&s) + (s.first != own) + (t.n != 2);
}

kernel void in_array(global int *g, local int *l, global int *out) {
    int own[3] = {100, 200, 300}, *all[3] = {g, l, own}, *(*rows)[3] = &all;
    for (int i = 0; i < 3; i++) l[i] = 10 * (i + 1);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) out[i] += (*rows)[(i + k) % 3][i];
}

void choose(int **to, int *a, int *b, int first) { *to = first ? a : b; }
void swap(int **a, int **b) {
    int *t = *a;
    *a = *b;
    *b = t;
}
kernel void behind_pointers(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    l[i] = 10 * (i + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p, *q = g, **pp = &p;
    choose(pp, g + i, l + i, !i);
    if (!i) **pp = 9;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = *p;
    swap(&p, &q);
    out[2 + i] = i ? *p : p == q;
}

// Nodes in private, local and global memory, one list through all.
struct node {
    int value;
    struct node *next;
};
struct node *append(struct node *list, struct node *node, int value) {
    node->value = value;
    node->next = list;
    return node;
}
struct node *reversed(struct node *list) {
    struct node *done = NULL;
    while (list) {
        struct node *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}
kernel void listed(global int *memory, global int *out) {
    local struct node middle[2];
    global struct node *far = (global struct node *)memory;
    struct node own[2], *list = NULL;
    list = append(list, &own[0], 1);
    list = append(list, &middle[1], 2);
    list = append(list, far, 3);
    list = append(list, &own[1], 4);
    list = append(list, &middle[0], 5);
    int count = 0;
    for (struct node *n = list; n; n = n->next) {
        out[0] += n->value;
        count++;
    }
    out[1] = count;
    list = reversed(list);
    out[2] = 10 * middle[0].value + list->value;
    out[3] = middle[1].next == far && to_private(far->next) == &own[1] && !to_local(far->next);
    for (int i = 0; i < 6; i++) memory[i] = 0;
}

// Pointers in local memory, which other work-items follow.
kernel void shared(global int *g, global int *out) {
    local int numbers[4];
    int *local which[4];
    const int i = get_local_id(0);
    numbers[i] = 10 * (i + 1);
    which[i] = i & 1 ? numbers + i : g + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = *which[(i + 1) % 4];
}

kernel void as_integers(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    l[i] = 10 * (g[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = i ? l : g;
    const uintptr_t number = (uintptr_t)p;
    out[i] = *(int *)(number + 4 * i);
    out[2 + i] = (int *)number == p && (number & 3) == 0 && p && !(int *)0;
}
