// Edit distances: dynamic programming in private arrays, one pair of words a work-item.
// kernel: edit_distance
// global: 3
// arg: buf:char:48=107, 105, 116, 116, 101, 110, 32, 32, 115, 105, 116, 116, 105, 110, 103, 32, 102, 108,
//         97, 119, 32, 32, 32, 32, 108, 97, 119, 110, 32, 32, 32, 32, 105, 110, 116, 101, 110, 116,
//         32, 32, 101, 120, 101, 99, 117, 116, 101, 32
// arg: buf:int:3
// expect: 3, 2, 6
int length_of(global const char *word) {
    int n = 0;
    while (n < 8 && word[n] != ' ') n++;
    return n;
}
kernel void edit_distance(global const char *words, global int *out) {
    global const char *a = words + get_global_id(0) * 16, *b = a + 8;
    int m = length_of(a), n = length_of(b), row[9];
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];
            row[j] = min(min(row[j] + 1, row[j - 1] + 1), diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    out[get_global_id(0)] = row[n];
}
