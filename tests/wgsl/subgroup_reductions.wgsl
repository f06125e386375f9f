// subgroupAdd, Mul, Min, Max, And, Or, Xor against a loop over what the sub-group's work-items have.
// needs: sub_groups
// kernel: main
// global: 64
// arg: buf:uint:64
// expect: 127
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> values: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32) {
    let x = (i * 7 + 3) % 11 + 1;
    values[i] = x;
    workgroupBarrier();
    let first = i - lane;
    var sum = 0u;
    var product = 1u;
    var least = 99u;
    var most = 0u;
    var and = 0xffffffffu;
    var or = 0u;
    var xor = 0u;
    for (var k = first; k < min(first + size, 64u); k++) {
        let y = values[k];
        sum += y;
        product *= y % 3 + 1;
        least = min(least, y);
        most = max(most, y);
        and &= y;
        or |= y;
        xor ^= y;
    }
    out[i] = u32(subgroupAdd(x) == sum) + 2 * u32(subgroupMul(x % 3 + 1) == product) + 4 * u32(subgroupMin(x) == least) +
             8 * u32(subgroupMax(x) == most) + 16 * u32(subgroupAnd(x) == and) + 32 * u32(subgroupOr(x) == or) +
             64 * u32(subgroupXor(x) == xor);
}
