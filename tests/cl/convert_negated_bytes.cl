// The least number of 8 or 16 bits is its own negative: no driver may keep the bit that it has too many.
// kernel: negated
// global: 4
// arg: buf:int:16
// expect: -5, -1, 32761, 3, -128, -16, 32640, -128, -127, -16, 32639, -129, 1, 0, -1, 32767
// arg: buf:uchar:4=5,128,127,255
// arg: buf:ushort:4=7,128,129,32769
kernel void negated(global int *out, global const uchar *bytes, global const ushort *words) {
    size_t i = get_global_id(0);
    char c = (char)(0u - (uint)bytes[i]);
    short s = (short)(0u - (uint)words[i]);
    out[i * 4] = c;
    out[i * 4 + 1] = c >> 3;
    out[i * 4 + 2] = (short)((ushort)s ^ 0x8000);
    out[i * 4 + 3] = i ? s : (s + 10);
}
