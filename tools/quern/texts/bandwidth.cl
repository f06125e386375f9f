// Copy, saxpy and add as one writes them for bandwidth: a work-item takes PER vectors of four floats, a work-group's
// width apart, so that neighbours always read neighbouring vectors, and asks for all of them before it uses one.
#if PER == 1
#define EACH(X) X(0)
#elif PER == 2
#define EACH(X) X(0) X(1)
#else
#define EACH(X) X(0) X(1) X(2) X(3)
#endif
#define PLACE()   size_t i = get_group_id(0) * (get_local_size(0) * PER) + get_local_id(0), width = get_local_size(0)
#define LOAD_A(k) float4 a##k = a[i + k * width];
#define LOAD_B(k) float4 b##k = b[i + k * width];
#define LOAD_C(k) float4 c##k = c[i + k * width];

kernel void wide_copy(global const float4 *restrict a, global float4 *restrict c) {
    PLACE();
    EACH(LOAD_A)
#define STORE(k) c[i + k * width] = a##k;
    EACH(STORE)
#undef STORE
}

kernel void wide_saxpy(float s, global const float4 *restrict a, global float4 *restrict c) {
    PLACE();
    EACH(LOAD_A)
    EACH(LOAD_C)
#define STORE(k) c[i + k * width] = s * a##k + c##k;
    EACH(STORE)
#undef STORE
}

kernel void wide_add(global const float4 *restrict a, global const float4 *restrict b, global float4 *restrict c) {
    PLACE();
    EACH(LOAD_A)
    EACH(LOAD_B)
#define STORE(k) c[i + k * width] = a##k + b##k;
    EACH(STORE)
#undef STORE
}
