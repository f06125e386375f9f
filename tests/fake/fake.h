/* How a test steers the fake CUDA driver: it opens libcuda.so.1 as quern does and looks these functions up. */
#ifndef QN__FAKE_H
#define QN__FAKE_H

#include <stddef.h>

typedef enum fake_live_kind {
    FAKE_CONTEXTS,
    FAKE_ALLOCATIONS,
    FAKE_PINNED,
    FAKE_POOLS_LIVE,
    FAKE_STREAMS,
    FAKE_EVENTS,
    FAKE_LINKS,
    FAKE_MODULES,
    FAKE_GRAPHS,
    FAKE_EXECS,
    FAKE_LIVE_COUNT
} fake_live_kind;

typedef enum fake_setting {
    FAKE_DEVICES,
    FAKE_VERSION,
    FAKE_CAPABILITY,
    FAKE_MEMORY,
    FAKE_POOLS,
    FAKE_PEERS,       /* devices can access each other's memory */
    FAKE_MAX_THREADS, /* that a function says it can have */
    FAKE_SETTING_COUNT
} fake_setting;

typedef struct fake_launch {
    char name[64];
    unsigned grid[3], block[3], shared;
    size_t params_size;
    unsigned char params[32768];
    int cluster_policy; /* what was preferred for the kernel */
} fake_launch;

typedef struct fake_driver {
    void (*reset)(void);                                      /* counts, faults, losses and hanging kernels */
    void (*fault)(const char *function, int nth, int result); /* the nth call from now on, once */
    long (*count)(const char *function);                      /* calls */
    long (*live)(fake_live_kind kind);                        /* objects */
    void (*set)(fake_setting setting, long value);
    void (*release)(void); /* hanging kernels end */
    fake_launch (*last_launch)(void);
    int (*depth)(void); /* of the calling thread's stack of contexts */
} fake_driver;

#endif
