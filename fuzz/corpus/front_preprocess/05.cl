
#define e(f, ...) p(f, ## __VA_ARGS__)
#define n(a, b...) q(a, ##b)
e(1) e(1,) e(1,2,3) n(1) n(1, 2 , 3)