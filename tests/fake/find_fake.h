/* The fake CUDA driver as a test sees it: loaded already, as libcuda.so.1 of the folder that the test is given. For
   files that include cmocka.h. */
#ifndef QN__FIND_FAKE_H
#define QN__FIND_FAKE_H

#include <dlfcn.h>
#include <string.h>

#include "fake.h"

static fake_driver fake;

/* The setup of a group of tests. */
static int find_fake(void **state) {
    (void)state;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *function;
    } rows[] = {{"fake_reset", &fake.reset}, {"fake_fault", &fake.fault},
                {"fake_count", &fake.count}, {"fake_live", &fake.live},
                {"fake_set", &fake.set},     {"fake_release", &fake.release},
                {"fake_depth", &fake.depth}, {"fake_last_launch", &fake.last_launch}};
    if (!library) return -1;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = dlsym(library, rows[i].name);
        if (!symbol) fail_msg("no %s in libcuda.so.1: not the fake one (LD_LIBRARY_PATH)", rows[i].name);
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    return 0;
}

#endif
