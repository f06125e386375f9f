/* The tour: what its chapters share. */
#ifndef TOUR_H
#define TOUR_H

#include <quern/quern.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tour {
    qn_context *context;
    qn_device *device;
    const char *out; /* folder of the pictures */
    bool quick;
} tour;

/* Each chapter prints what it does; false when something failed, which it has said. */
bool tour_devices(tour *t);
bool tour_pictures(tour *t);
bool tour_matmul(tour *t);

/* Says what failed, if something did. */
bool tour_good(const tour *t, qn_status status, const char *what);
/* A kernel of a file that ships; and a buffer, zeroed without data. */
bool tour_kernel(tour *t, const char *file, const char *name, qn_kernel **kernel);
bool tour_buffer(tour *t, uint64_t size, const void *data, qn_buffer **buffer);
bool tour_wait(tour *t);
double tour_seconds(void);

#endif
