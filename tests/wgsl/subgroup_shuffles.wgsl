// subgroupShuffle and its forms by xor, up and down; broadcasts.
// needs: sub_groups
// kernel: main
// global: 32
// arg: buf:uint:32
// expect: 63
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32) {
    let n = min(size, 32);
    let first = i - lane;
    let turned = subgroupShuffle(i, (lane + 1) % n) == first + (lane + 1) % n;
    let crossed = subgroupShuffleXor(i, 1) == first + (lane ^ 1);
    let before = subgroupShuffleUp(i, 1);
    let up = lane < 1 || before == i - 1;
    let behind = subgroupShuffleDown(i, 1);
    let down = lane + 1 >= n || behind == i + 1;
    let one = subgroupBroadcast(i, 2) == first + 2;
    let head = subgroupBroadcastFirst(i) == first;
    out[i] = u32(turned) + 2 * u32(crossed || n == 1) + 4 * u32(up || n == 1) + 8 * u32(down || n == 1) +
             16 * u32(one || n < 3) + 32 * u32(head);
}
