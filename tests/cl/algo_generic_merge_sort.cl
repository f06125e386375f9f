// Merge sort between local and global memory: the two pointers change places after each round, so that what each points to is
// known at run time only; the same functions serve both.
// options: -cl-std=CL2.0
// kernel: sort
// global: 32
// local: 16
// arg: buf:int:32=9,-4,7,0,3,3,12,-8,15,1,6,2,-1,10,5,4,40,38,36,34,32,30,28,26,41,39,37,35,33,31,29,27
// arg: buf:int:32
// expect: -8, -4, -1, 0, 1, 2, 3, 3, 4, 5, 6, 7, 9, 10, 12, 15, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41
enum { COUNT = 16 };

// How many of `n` sorted numbers go before `value`.
int rank_of(const int *sorted, int n, int value, int after_equal) {
    int low = 0;
    for (int high = n; low < high;) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < value || (after_equal && sorted[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where element i of `from` goes when runs of `width` are merged.
int target(const int *from, int i, int width) {
    const int run = i / width, start = (run ^ 1) * width, both = run / 2 * 2 * width;
    return both + i % width + rank_of(from + start, width, from[i], run & 1);
}

void swap(int **a, int **b) {
    int *t = *a;
    *a = *b;
    *b = t;
}

kernel void sort(global const int *in, global int *work) {
    local int near[COUNT];
    const int i = get_local_id(0), group = get_group_id(0);
    int *from = near, *to = work + group * COUNT;
    from[i] = in[group * COUNT + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = 1; width < COUNT; width *= 2) {
        to[target(from, i, width)] = from[i];
        barrier(get_fence(to) | get_fence(from));
        swap(&from, &to);
    }
    if (from != to_local(from)) return; // an even number of rounds leaves the result in local memory
    work[group * COUNT + i] = from[i];
}
