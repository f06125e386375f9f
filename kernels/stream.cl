// The four loops of McCalpin's STREAM benchmark, which measure what memory can deliver. Launch with one
// work-item an element.
kernel void stream_copy(global const float *restrict a, global float *restrict c) {
    size_t i = get_global_id(0);
    c[i] = a[i];
}

kernel void stream_scale(float s, global const float *restrict a, global float *restrict b) {
    size_t i = get_global_id(0);
    b[i] = s * a[i];
}

kernel void stream_add(global const float *restrict a, global const float *restrict b, global float *restrict c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}

kernel void stream_triad(float s, global const float *restrict a, global const float *restrict b,
                         global float *restrict c) {
    size_t i = get_global_id(0);
    c[i] = a[i] + s * b[i];
}
