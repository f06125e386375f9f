// Each work-item looks a key up in a sorted table by binary search.
// kernel: lookup
// global: 8
// arg: buf:int:32=1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361, 400,
//         441, 484, 529, 576, 625, 676, 729, 784, 841, 900, 961, 1024
// arg: buf:int:8=1, 4, 5, 1024, 1025, 0, 225, 500
// expect: 0, 1, 2, 31, 32, 0, 14, 22
kernel void lookup(constant int *table, global int *keys) {
    int key = keys[get_global_id(0)], low = 0, high = 32;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    keys[get_global_id(0)] = low;
}
