// Integer literals: decimal, hexadecimal in both cases, with the suffixes i and u, and the extreme ones.
// kernel: main
// arg: buf:uint:8
// expect: 0, 42, 255, 0xabcdef, 4294967295, 4294967295, 0x7fffffff, 0x80000000
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = 0;
    out[1] = 42u;
    out[2] = 0xFFu;
    out[3] = 0XabCDef;
    out[4] = 4294967295;
    out[5] = 0xffffffffu;
    out[6] = u32(2147483647i);
    out[7] = bitcast<u32>(-2147483648);
}
