// The least number of 8 or 16 bits is its own negative: no driver may keep the bit that it has too many.
// kernel: negated
// global: 4
// arg: buf:int:16
// expect: -5, -1, 32761, 3, -128, -16, 32640, -128, -127, -16, 32639, -129, 1, 0, -1, 32767
// arg: buf:uchar:4=5,128,127,255
// arg: buf:ushort:4=7,128,129,32769
// kernel: disguised
// global: 4
// arg: buf:int:20
// expect: -5, -5, -640, -5, 0, -128, -128, -16384, -128, 0, -127, -127, -16256, -127, 0, 1, 1, 128, 1, 1
// arg: buf:uchar:4=5,128,127,255
// arg: int:77
kernel void negated(global int *out, global const uchar *bytes, global const ushort *words) {
    size_t i = get_global_id(0);
    char c = (char)(0u - (uint)bytes[i]);
    short s = (short)(0u - (uint)words[i]);
    out[i * 4] = c;
    out[i * 4 + 1] = c >> 3;
    out[i * 4 + 2] = (short)((ushort)s ^ 0x8000);
    out[i * 4 + 3] = i ? s : (s + 10);
}

kernel void disguised(global int *out, global const uchar *bytes, int n) {
    size_t i = get_global_id(0);
    char difference = (char)(n - bytes[i] - n), product = (char)(uchar)(bytes[i] * (uchar)255);
    out[i * 5] = (short)difference;
    out[i * 5 + 1] = product;
    out[i * 5 + 2] = (int)((float)product * 128.0f);
    out[i * 5 + 3] = (int)(long)(char)(bytes[3] - (uchar)(bytes[3] + bytes[i]));
    out[i * 5 + 4] = max(product, (char)0);
}
