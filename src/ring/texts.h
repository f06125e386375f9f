/* The library's texts for kernels of rings, as headers of a program; cmake/ring.cmake writes them from the files. */
#ifndef QUERN_RING_TEXTS_H
#define QUERN_RING_TEXTS_H

#include <quern/quern.h>

extern const qn_header qn__ring_texts[9];

#endif
