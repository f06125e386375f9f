// Products of panels: 32 rows of words by panels of 32 columns, of bytes in each combination of signs and of bf16; sums that are
// set and that grow; rows further apart than they are long. Each is compared with the same sums in plain code.
// skip: cuda products of panels are processors'
// skip: vulkan products of panels are processors'
// skip: opencl products of panels are processors'
// skip: check products of panels are processors'
// skip: webgpu products of panels are processors'
// kernel: bytes
// global: 1
// arg: buf:int:2048
// arg: buf:int:1600
// arg: buf:int:3072
// arg: buf:int:4
// expect: 0, 0, 0, 0
// kernel: floats
// global: 1
// arg: buf:float:2048
// arg: buf:int:1600
// arg: buf:int:3072
// arg: buf:int:1
// expect: 0

enum { ROW = 50, WORDS = 32, PANEL = 1536 }; // words of a, from row to row and multiplied; of b, from panel to panel

static void fill(global uint *a, global uint *b, uint mask) {
    for (uint i = 0; i < 32 * ROW; i++) a[i] = (i * 2654435761u ^ i << 7) & mask;
    for (uint i = 0; i < 2 * PANEL; i++) b[i] = (i * 2246822519u ^ i << 3) & mask;
}

static int byte_of(uint word, uint i, bool is_signed) {
    return is_signed ? (int)(char)(word >> 8 * i) : (int)(uchar)(word >> 8 * i);
}

static int wrong_bytes(global const int *sums, global const uint *a, global const uint *b, bool a_signed, bool b_signed) {
    int wrong = 0;
    for (uint p = 0; p < 2; p++)
        for (uint r = 0; r < 32; r += 5)
            for (uint c = 0; c < 32; c += 3) {
                int sum = 0;
                for (uint w = 0; w < WORDS; w++)
                    for (uint i = 0; i < 4; i++)
                        sum += byte_of(a[r * ROW + w], i, a_signed) * byte_of(b[p * PANEL + w * 32 + c], i, b_signed);
                wrong += sums[(p * 32 + r) * 32 + c] != 2 * sum;
            }
    return wrong;
}

#define TWICE(product, sums, a, b)                                                                           \
    product(sums, a, b, ROW * 4, PANEL * 4, WORDS, 2, 0), product(sums, a, b, ROW * 4, PANEL * 4, WORDS, 2, 1)

kernel void bytes(global int *sums, global uint *a, global uint *b, global int *wrong) {
    fill(a, b, 0xffffffff);
    TWICE(qn_panel_product_ss, sums, a, b);
    wrong[0] = wrong_bytes(sums, a, b, true, true);
    TWICE(qn_panel_product_su, sums, a, b);
    wrong[1] = wrong_bytes(sums, a, b, true, false);
    TWICE(qn_panel_product_us, sums, a, b);
    wrong[2] = wrong_bytes(sums, a, b, false, true);
    TWICE(qn_panel_product_uu, sums, a, b);
    wrong[3] = wrong_bytes(sums, a, b, false, false);
}

// Of 1, -1.5 and the like, whose products and sums are exact.
kernel void floats(global float *sums, global uint *a, global uint *b, global int *wrong) {
    fill(a, b, 0x80608060);
    for (uint i = 0; i < 32 * ROW; i++) a[i] |= 0x3f803f80;
    for (uint i = 0; i < 2 * PANEL; i++) b[i] |= 0x3f803f80;
    TWICE(qn_panel_product_bf16, sums, a, b);
    wrong[0] = 0;
    for (uint p = 0; p < 2; p++)
        for (uint r = 0; r < 32; r += 5)
            for (uint c = 0; c < 32; c += 3) {
                float sum = 0;
                for (uint w = 0; w < WORDS; w++)
                    for (uint i = 0; i < 2; i++)
                        sum += as_float((a[r * ROW + w] >> 16 * i) << 16) *
                               as_float((b[p * PANEL + w * 32 + c] >> 16 * i) << 16);
                wrong[0] += sums[(p * 32 + r) * 32 + c] != 2 * sum;
            }
}
