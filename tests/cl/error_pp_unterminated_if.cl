// error: 2: #if
#if 1
kernel void run(global int *out) { out[0] = 1; }
