// Each work-item sorts a row of its own in private memory.
// kernel: sort_rows
// global: 4
// arg: buf:int:32=0, 48, 61, 39, 79, 84, 54, 86, 83, 45, 69, 58, 12, 28, 9, 52, 60, 33, 68, 68, 33, 60, 52,
//         9, 28, 12, 58, 69, 45, 83, 86, 54
// expect: 0, 39, 48, 54, 61, 79, 84, 86, 9, 12, 28, 45, 52, 58, 69, 83, 9, 33, 33, 52, 60, 60, 68,
//         68, 12, 28, 45, 54, 58, 69, 83, 86
kernel void sort_rows(global int *data) {
    int v[8];
    global int *row = data + get_global_id(0) * 8;
    for (int i = 0; i < 8; i++) {
        int x = row[i], j = i;
        while (j > 0 && v[j - 1] > x) {
            v[j] = v[j - 1];
            j--;
        }
        v[j] = x;
    }
    for (int i = 0; i < 8; i++) row[i] = v[i];
}
