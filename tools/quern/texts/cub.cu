// CUB's calls for the rows of `quern bench kernels`, as a library that the bench has nvcc make where there is one
// (tools/quern/bench_cub.c): one call, chosen by -DCALL=, behind a C interface. As with CUB's own calls, `storage` of NULL asks
// for the bytes that it needs.
#include <cub/cub.cuh>

#define SUM       0
#define SCAN      1
#define SORT      2
#define HISTOGRAM 3
#define COMPACT   4
#define UNIQUE    5

extern "C" int cub_call(void *storage, size_t *bytes, const void *from, const void *other, void *to, long long count, void *queue) {
    const float *x = static_cast<const float *>(from);
    float *y = static_cast<float *>(to);
    cudaStream_t stream = static_cast<cudaStream_t>(queue);
    (void)other;
#if CALL == SUM
    return cub::DeviceReduce::Sum(storage, *bytes, x, y, count, stream);
#elif CALL == SCAN
    return cub::DeviceScan::InclusiveSum(storage, *bytes, x, y, count, stream);
#elif CALL == SORT
    return cub::DeviceRadixSort::SortKeys(storage, *bytes, x, y, count, 0, 32, stream);
#elif CALL == HISTOGRAM
    return cub::DeviceHistogram::HistogramEven(storage, *bytes, x, static_cast<int *>(to), 257, -1.f, 1.f, count, stream);
#elif CALL == COMPACT  // how many there are is behind the result, as with quern's row
    unsigned *kept = static_cast<unsigned *>(to) + (count - 1);
    return cub::DeviceSelect::Flagged(storage, *bytes, x, static_cast<const unsigned char *>(other), y, kept, count - 1, stream);
#elif CALL == UNIQUE
    unsigned *kept = static_cast<unsigned *>(to) + (count - 1);
    return cub::DeviceSelect::Unique(storage, *bytes, x, y, kept, count - 1, stream);
#endif
}
