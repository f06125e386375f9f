// CRC-32 of the first words of a text, with a table that is made in work-group memory.
// kernel: main
// global: 4
// arg: buf:uint:4=0x34333231, 0x38373635, 0x2e2e2e39, 0x72657571
// arg: buf:uint:4
// expect: 0x9be3e0a3, 0x9ae0daaf, 0x92d7373d, 0xf5614f75
@group(0) @binding(0) var<storage, read> text: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> table: array<u32, 256>;
fn entry(byte: u32) -> u32 {
    var c = byte;
    for (var bit = 0; bit < 8; bit++) {
        c = select(c >> 1u, 0xedb88320 ^ (c >> 1u), (c & 1) == 1);
    }
    return c;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = i; k < 256; k += 4) { table[k] = entry(k); }
    workgroupBarrier();
    var crc = ~0u;
    for (var word = 0u; word <= i; word++) {
        for (var at = 0u; at < 32; at += 8) {
            crc = table[(crc ^ (text[word] >> at)) & 255] ^ (crc >> 8u);
        }
    }
    out[i] = ~crc;
}
