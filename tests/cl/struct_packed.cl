// __attribute__((packed)): no padding, members at odd addresses.
// kernel: run
// arg: buf:uchar:14=1,0x78,0x56,0x34,0x12,0xff,0xfe,2,4,3,2,1,0,0
// arg: buf:int:5
// expect: 7, 0x12345678, -257, 0x01020304, 2
struct __attribute__((packed)) record { uchar tag; int value; short delta; };
kernel void run(global struct record *r, global int *out) {
    out[0] = sizeof(struct record);
    out[1] = r[0].value;
    out[2] = r[0].delta;
    out[3] = r[1].value;
    out[4] = r[1].tag;
}
