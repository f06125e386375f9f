// subgroupAll, subgroupAny, subgroupBallot, subgroupElect.
// needs: sub_groups
// kernel: main
// global: 32
// arg: buf:uint:32
// expect: 31
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(subgroup_size) size: u32) {
    let all_ = subgroupAll(i < 32) & !subgroupAll(lane == 0 && size > 1);
    let any_ = subgroupAny(lane == 0) & !subgroupAny(i > 31);
    let ballot = subgroupBallot(lane % 2 == 0);
    let in_ballot = extractBits(ballot[lane / 32], lane % 32, 1) == (lane + 1) % 2;
    let everyone = subgroupBallot(true);
    let live = dot(countOneBits(everyone), vec4u(1));
    out[i] = u32(all_) + 2 * u32(any_) + 4 * u32(in_ballot) + 8 * u32(live == min(size, 32)) +
             16 * u32(subgroupElect() == (lane == 0));
}
