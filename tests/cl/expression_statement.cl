// GNU's statement expressions: ({ ...; value; }), as macros use them.
// kernel: run
// arg: buf:int:8=5
// expect: 6, 10, 3, 9, 45, 5, 12, 7
#define MAX(a, b) ({ typeof(a) _a = (a); typeof(b) _b = (b); _a > _b ? _a : _b; })
#define SWAP(a, b) ({ int t = a; a = b; b = t; })
struct pair { int x, y; };
int squares(int n) {
    return ({
        int sum = 0;
        for (int i = 0; i < n; i++) {
            if (i == 7) continue;
            if (i == 9) break;
            sum += i;
        }
        switch (n) {
        case 3: sum = 100; break;
        default: break;
        }
        sum;
    });
}
kernel void run(global int *o) {
    int a = 3, b = 4;
    o[0] = MAX(o[0] + 1, 2);
    o[1] = MAX(MAX(a, 10), MAX(b, ({ int c = a; c + b; })));
    SWAP(a, b);
    o[2] = b;
    while (({ b++; b < 9; })) ;
    o[3] = b;
    o[4] = squares(20) + 16;
    struct pair p = ({ struct pair q = {5, 12}; q; });
    o[5] = p.x;
    o[6] = ({ p; }).y;
    o[7] = ({ int4 v = (int4)(1, 2, 3, 7); v.w; });
    ({ ; });
    if (a > 100) o[0] = ({ for (;;) o[0]++; 1; });
}
