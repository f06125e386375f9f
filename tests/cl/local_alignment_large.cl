// Values of 128 bytes in structures and behind others, where local memory is too large for the processor's stack.
// skip: cuda a device may have 48 KiB only
// skip: vulkan a device may have 48 KiB only
// skip: opencl a device may have 48 KiB only
// skip: webgpu a device may have 16 KiB only
// kernel: large
// global: 2
// local: 1
// arg: buf:ulong:4
// expect: 0, 0, 0, 0
typedef struct {
    char tag;
    double16 value;
} tagged;

kernel void large(global ulong *out) {
    local char bytes[40001];
    local tagged pair[2];
    local char more[33000];
    local double16 last[2];
    size_t i = get_group_id(0), z = get_local_id(0);
    bytes[z] = more[z] = 0, pair[z].value = 1, last[z] = 1;
    out[i * 2] = ((ulong)&pair[z].value | (ulong)&pair[z + 1].value) & 127;
    out[i * 2 + 1] = (ulong)&last[z] & 127;
}
