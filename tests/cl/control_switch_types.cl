// switch over char, long and enum values; negative labels, a label out of order, a switch without a default.
// kernel: run
// global: 4
// arg: buf:long:4=-1, 4294967296, 0, 255
// arg: buf:int:4
// expect: 1201, 30, 4, 1200
enum tint { RED, GREEN = 255 };
kernel void run(global long *in, global int *out) {
    size_t i = get_global_id(0);
    int n = 0;
    switch (in[i]) {
    case -1: n += 1; break;
    case 4294967296: n += 30; break;
    case RED: n += 4; break;
    }
    switch ((char)in[i]) {
    case -1: n += 200; break;
    }
    switch ((enum tint)(in[i] & 0x1ff)) {
    case GREEN: n += 1000; break;
    case RED: break;
    default: n += in[i] < 0 ? 1000 : 0;
    }
    out[i] = n;
}
