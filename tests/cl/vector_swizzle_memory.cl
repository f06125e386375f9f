// Swizzles of vectors in global and local memory are lvalues too; only the named components are written.
// kernel: run
// local: 1
// arg: buf:int4:2=1,2,3,4,5,6,7,8
// expect: 3, 2, 1, 4, 5, 60, 6, 80
kernel void run(global int4 *v) {
    local int4 t;
    t = v[1];
    v[0].xz = v[0].zx;
    t.s13 *= 10;
    t.z = v[1].y;
    v[1] = t;
}
