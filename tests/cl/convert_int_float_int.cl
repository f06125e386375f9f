// An integer that no float is equal to comes back as another one: what it lost is the difference.
// kernel: run
// global: 4
// arg: buf:int:4=16777217,-16777219,1073741825,100
// arg: buf:int:8
// expect: 1, 1, 1, 0, 1, -3, 1, 0
kernel void run(global const int *in, global int *out) {
    int i = get_global_id(0);
    out[i] = in[i] - (int)(float)in[i];
    out[i + 4] = (int)((uint)(in[i] & 0x7fffffff) - (uint)(float)(uint)(in[i] & 0x7fffffff));
}
