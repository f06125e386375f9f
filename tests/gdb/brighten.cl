/* A kernel to step through; docs/debugging.md walks through the same lines. */
kernel void brighten(global const float *in, global float *out, float gain, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    float before = in[i];
    float after = before * gain + 0.5f;
    float history[2] = {before, after};
    out[i] = history[1];
}
