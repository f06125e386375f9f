// Work-item functions may be called from helpers and in initialisers of local variables.
// kernel: run
// global: 6
// local: 3
// arg: buf:int:6
// expect: 0, 11, 22, 100, 111, 122
int row(void) { return get_group_id(0) * 100; }
int column(uint d) {
    const int id = get_local_id(d);
    return id * 11;
}
kernel void run(global int *out) { out[get_global_id(0)] = row() + column(get_work_dim() - 1); }
