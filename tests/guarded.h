/* Buffers with guards around them: marks before them, and behind them a page that nobody may touch where the device takes
   memory of the host's, else marks. */
#ifndef GUARDED_H
#define GUARDED_H

#include <quern/quern.h>
#include <stdbool.h>

typedef struct guarded {
    qn_buffer *whole, *buffer; /* the latter is for the kernel */
    unsigned char *pages;      /* the whole of it between two pages that fault; NULL: the device's memory */
    uint64_t before, size, length;
} guarded;

/* Holds `size` bytes of `data`. After a failure, too, it is to be destroyed. */
qn_status guarded_create(qn_device *device, const void *data, uint64_t size, guarded *g);
/* Whether all around it is as it was. When the work is done. */
bool guarded_is_intact(const guarded *g);
/* When the work that uses it is done. */
void guarded_destroy(qn_device *device, guarded *g);

#endif
