//~ 2 1000 0 -D N=4
typedef struct pair { char a; int2 b[2]; union { uint u; float f; } w; } pair;
constant int table[4] = {1, 2, 3, 4};
int twice(int x, pair *p) { p->b[x & 1].y += x; return p->w.u ? x * 2 : table[x & 3]; }
kernel void flow(global int *x, pair q, int n) {
    pair p = q;
    int sum = 0, array[8];
    for (int i = 0; i < N; i++) array[i] = x[i] * N;
    for (int i = 0; i < n; i++) {
        if (x[i] == 7) continue;
        if (x[i] > 100) break;
        switch (x[i] & 3) {
        case 0: sum += array[i & 7]; break;
        case 1: sum ^= i; /* on */
        default: do { sum = twice(sum, &p); } while (sum & 1 && --n);
        }
    }
    if (sum < 0) return;
    while (n--) if (x[n] == sum) goto done;
    x[1] = p.b[0].x;
done:
    x[0] = sum;
}
