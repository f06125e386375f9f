// Variables that are read before anything can have been written to them; and many that are not.
// warning: 17: 'a' is read
// warning: 18: 'v' is read
// warning: 19: 'array' is read
// warning: 20: 's' is read
// warning: 21: 'sum' is read
// warning: 22: 'self' is read
// warning: 23: 'count' is read
// kernel: run
// arg: buf:int:2=1,0
// expect: 6, 0
struct pair { int x, y; };
void set(int *to) { *to = 1; }
kernel void run(global int *o) {
    int a, b, c, sum, count, later, e, n; float4 v; int array[4]; struct pair s, whole;
    if (o[0] == 5) {
        o[1] = a;
        o[1] = (int)v.y;
        o[1] = array[2];
        o[1] = s.y;
        sum += o[0];
        int self = self + 1;
        count++;
        o[1] += self;
    }
    set(&b);
    for (int i = 0; i < 3; i++) {
        if (i) o[1] += later;
        later = 0;
    }
    (void)n;
    whole.x = 1;
    o[1] += whole.x - 1;
    if (o[1]) c = 2;
    o[1] += o[1] ? c : 0;
again:
    o[1] += o[1] ? e : 0;
    e = 4;
    if (o[1] == 77) goto again;
    o[0] = 5 + b + 0 * (int)sizeof n;
}
