// A buffer of structs, read and written through a pointer.
// kernel: run
// global: 3
// arg: buf:int:9=1,10,100,2,20,200,3,30,300
// expect: 1, 11, 100, 2, 22, 200, 3, 33, 300
typedef struct { int key, sum, weight; } entry;
kernel void run(global entry *entries) {
    global entry *e = &entries[get_global_id(0)];
    e->sum += e->key;
}
