
#define N 4
#pragma unroll N
for
#pragma unroll
#pragma nounroll
x