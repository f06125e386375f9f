/* NVIDIA's run-time compiler, opened at run time; needs no GPU. The few declarations needed are written out here
   (NVRTC's manual). */
#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *nvrtc_program;

/* X(name, parameters): each returns 0 for success. */
#define FUNCTIONS(X)                                                                                         \
    X(nvrtcVersion, (int *, int *))                                                                          \
    X(nvrtcCreateProgram,                                                                                    \
      (nvrtc_program *, const char *, const char *, int, const char *const *, const char *const *))          \
    X(nvrtcDestroyProgram, (nvrtc_program *))                                                                \
    X(nvrtcCompileProgram, (nvrtc_program, int, const char *const *))                                        \
    X(nvrtcGetPTXSize, (nvrtc_program, size_t *))                                                            \
    X(nvrtcGetPTX, (nvrtc_program, char *))                                                                  \
    X(nvrtcGetCUBINSize, (nvrtc_program, size_t *))                                                          \
    X(nvrtcGetCUBIN, (nvrtc_program, char *))                                                                \
    X(nvrtcGetProgramLogSize, (nvrtc_program, size_t *))                                                     \
    X(nvrtcGetProgramLog, (nvrtc_program, char *))

struct nvrtc {
    void *library;
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

nvrtc *nvrtc_open(char *why) {
    static const char *const names[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12",
                                        "libnvrtc.so"};
    nvrtc *n = bench_alloc(sizeof *n);
    for (size_t i = 0; i < sizeof names / sizeof *names && !n->library; i++)
        n->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    bool all = n->library != NULL;
    void *symbol;
#define LOAD(name, parameters)                                                                               \
    symbol = all ? dlsym(n->library, #name) : NULL;                                                          \
    all = all && symbol;                                                                                     \
    memcpy(&n->name, &symbol, sizeof symbol);
    FUNCTIONS(LOAD)
#undef LOAD
    if (all) return n;
    snprintf(why, WHY_SIZE, n->library ? "libnvrtc lacks functions" : "there is no libnvrtc");
    free(n);
    return NULL;
}

void nvrtc_version(const nvrtc *n, int *major, int *minor) {
    *major = *minor = 0;
    n->nvrtcVersion(major, minor);
}

static void keep_log(const nvrtc *n, nvrtc_program program, char *why) {
    size_t size = 0;
    n->nvrtcGetProgramLogSize(program, &size);
    char *log = bench_alloc(size + 1);
    if (size) n->nvrtcGetProgramLog(program, log);
    snprintf(why, WHY_SIZE, "NVRTC: %s", log);
    free(log);
}

char *nvrtc_compile(const nvrtc *n, const char *source, int arch, bool ptx, size_t *size, char *why) {
    char option[64];
    snprintf(option, sizeof option, "--gpu-architecture=%s_%d", ptx ? "compute" : "sm", arch);
    const char *options[] = {option, "--std=c++17", "--device-as-default-execution-space"};
    nvrtc_program program = NULL;
    char *image = NULL;
    if (n->nvrtcCreateProgram(&program, source, "kernel.cu", 0, NULL, NULL)) {
        snprintf(why, WHY_SIZE, "NVRTC makes no program");
        return NULL;
    }
    if (n->nvrtcCompileProgram(program, 3, options)) {
        keep_log(n, program, why);
    } else {
        (ptx ? n->nvrtcGetPTXSize : n->nvrtcGetCUBINSize)(program, size);
        image = bench_alloc(*size + 1);
        (ptx ? n->nvrtcGetPTX : n->nvrtcGetCUBIN)(program, image);
    }
    n->nvrtcDestroyProgram(&program);
    return image;
}
