/* How a test steers the fake OpenCL driver: it opens libOpenCL.so.1 as quern does and looks these functions up. */
#ifndef QN__FAKE_OPENCL_H
#define QN__FAKE_OPENCL_H

#include <dlfcn.h>
#include <string.h>

typedef struct fake_opencl {
    void (*reset)(void);                                      /* counts and faults */
    void (*fault)(const char *function, int nth, int result); /* the nth call from now on, once */
    long (*count)(const char *function);                      /* calls */
    long (*live)(void);                                       /* objects but platform and device */
    long (*translated)(void);                                 /* texts made PTX */
    long (*assembled)(void);                                  /* PTX made machine code */
    long (*warned)(void); /* built so that the driver may print what it thinks of the text, as PoCL does */
} fake_opencl;

/* False: what is found is not the fake one (LD_LIBRARY_PATH). */
static inline int find_fake_opencl(fake_opencl *fake) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *function;
    } rows[] = {{"fake_cl_reset", &fake->reset},           {"fake_cl_fault", &fake->fault},
                {"fake_cl_count", &fake->count},           {"fake_cl_live", &fake->live},
                {"fake_cl_translated", &fake->translated}, {"fake_cl_assembled", &fake->assembled},
                {"fake_cl_warned", &fake->warned}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *symbol = library ? dlsym(library, rows[i].name) : NULL;
        if (!symbol) return 0;
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    return 1;
}

#endif
