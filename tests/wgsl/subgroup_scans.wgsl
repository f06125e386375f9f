// subgroupInclusiveAdd, subgroupExclusiveAdd and those of products.
// needs: sub_groups
// kernel: main
// global: 32
// arg: buf:uint:32
// expect: 15
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> values: array<u32, 32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32) {
    let x = i % 5 + 1;
    values[i] = x;
    workgroupBarrier();
    var sum = 0u;
    var product = 1u;
    for (var k = i - lane; k < i; k++) {
        sum += values[k];
        product *= values[k] % 2 + 1;
    }
    let factor = x % 2 + 1;
    out[i] = u32(subgroupExclusiveAdd(x) == sum) + 2 * u32(subgroupInclusiveAdd(x) == sum + x) +
             4 * u32(subgroupExclusiveMul(factor) == product) + 8 * u32(subgroupInclusiveMul(factor) == product * factor);
}
