/* A kernel file as CUDA C++. */
#ifndef BENCH_TWIN_H
#define BENCH_TWIN_H

/* From malloc; NULL, and a sentence in `why` (BENCH_WHY bytes): it has nothing to put words of C++ in place of. Without a
   sentence: it has no twin. */
char *bench_twin(const char *file, const char *source, char *why);

#endif
