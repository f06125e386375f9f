// printf of integers: conversions, flags, widths, precisions and length modifiers.
// needs: printf
// kernel: run
// prints: "1 -2 3 ff FF 17 0xff 021\n"
// prints: "[    5][5    ][00005][+5][ 5][  005][  +07]\n"
// prints: "-1 255 -1 65535 -5000000000 18446744073709551615 deadbeefcafe\n"
// prints: "-2147483648 4294967295 A 100% \n"
// prints: "[   12][012 ][]\n"
kernel void run(void) {
    printf("%d %i %u %x %X %o %#x %#o\n", 1, -2, 3u, 255, 255, 15, 255, 17);
    printf("[%5d][%-5d][%05d][%+d][% d][%5.3d][%+5.2d]\n", 5, 5, 5, 5, 5, 5, 7);
    printf("%hhd %hhu %hd %hu %ld %lu %lx\n", (char)-1, (uchar)255, (short)-1, (ushort)65535, -5000000000L,
           ~0ul, 0xdeadbeefcafel);
    printf("%d %u %c %d%% \n", -2147483647 - 1, 0xffffffffu, 'A', 100);
    printf("[%5.d][%-4.3d][%.0d]\n", 12, 12, 0);
}
