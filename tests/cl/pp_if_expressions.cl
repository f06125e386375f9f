// #if with every operator of constant expressions; one bit for each that holds.
// kernel: run
// arg: buf:uint:1
// expect: 0x7ffff
kernel void run(global uint *out) {
    uint bits = 0;
#if 1 + 2 * 3 == 7
    bits |= 1u << 0;
#endif
#if (1 ? 2 : 0) == 2 && (0 ? 1 : 5) == 5
    bits |= 1u << 1;
#endif
#if 7 / 2 == 3 && -7 / 2 == -3 && 7 % 4 == 3 && -7 % 4 == -3
    bits |= 1u << 2;
#endif
#if (1 << 4) == 16 && (256 >> 4) == 16 && (-1 >> 1) == -1
    bits |= 1u << 3;
#endif
#if (6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5 && ~0 == -1
    bits |= 1u << 4;
#endif
#if !0 && !!5
    bits |= 1u << 5;
#endif
#if 1 || (1 / 0)
    bits |= 1u << 6;
#endif
#if !(0 && (1 / 0))
    bits |= 1u << 7;
#endif
#if -1 > 0u
    bits |= 1u << 8;
#endif
#if 0xffffffff == 4294967295 && 0x7fffffffffffffff > 0
    bits |= 1u << 9;
#endif
#if 'A' == 65 && '\n' == 10 && '\x41' == 'A' && '\101' == 'A'
    bits |= 1u << 10;
#endif
#if undefined_name == 0
    bits |= 1u << 11;
#endif
#if defined(__OPENCL_VERSION__) && !defined nothing_of_the_kind
    bits |= 1u << 12;
#endif
#if 1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2
    bits |= 1u << 13;
#endif
#if +5 - -5 == 10
    bits |= 1u << 14;
#endif
#if (0xa == 10) + (0b11 == 3) == 2
    bits |= 1u << 15;
#endif
#if 1 - 1 - 1 == -1 && 8 / 2 / 2 == 2
    bits |= 1u << 16;
#endif
#if 010 == 8 && 0XfUL == 15
    bits |= 1u << 17;
#endif
#if 1 ? 1 : 0 ? 0 : 0
    bits |= 1u << 18;
#endif
    out[0] = bits;
}
