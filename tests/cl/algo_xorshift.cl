// xorshift64*, a generator on 64-bit integers, one stream a work-item.
// kernel: random
// global: 4
// arg: buf:ulong:4
// expect: 13833565160122170005, 16651168205750759620, 906130329008171780, 9519677362616863654
kernel void random(global ulong *out) {
    ulong x = get_global_id(0) * 1234567 + 1;
    for (int i = 0; i < 10; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
    }
    out[get_global_id(0)] = x * 2685821657736338717UL;
}
