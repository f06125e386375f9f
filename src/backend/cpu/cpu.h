/* The CPU backend's own objects. A stream is a list of commands and a thread; a launch's work-groups run on
   the pool that all streams share. Memory is host memory. */
#ifndef QN__CPU_H
#define QN__CPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/common/host_queue.h"
#include "emit/cpu_abi.h"
#include "util/pool.h"
#include "vm/vm.h"

enum { QN__CPU_MAX_GROUP = 4096, QN__CPU_LOCAL_MEMORY = 256 << 10, QN__CPU_SUB_GROUP = 32 };

struct qn__driver {
    const qn__services *services;
    char compiler[4096]; /* path; "" when kernels are interpreted */
};

/* Memory for a work-group that a thread of the pool, or a stream for the thread that runs its commands, keeps
   from one to the next. */
typedef struct qn__cpu_worker {
    unsigned char *memory;          /* as allocated */
    unsigned char *local, *scratch; /* in it, aligned to QN__CPU_ALIGN */
    uint64_t local_size, scratch_size;
} qn__cpu_worker;

typedef struct qn__cpu_block qn__cpu_block;

struct qn__gpu {
    const qn__services *services;
    const char *compiler;
    qn__pool *pool;
    qn__cpu_worker *workers; /* by the pool's number of the thread; 0 is not used */
    unsigned num_workers;
    uint64_t memory; /* bytes of the machine */
    char description[192], driver[128], cache_key[768];
    bool traps;              /* a fault in a kernel ends the launch */
    bool has_tile_registers; /* AMX, and leave to use it */
    bool has_pair_products;  /* AVX-512's for bf16, and they pay */
    unsigned machine;        /* of machine.c's table: the last one that this is as good as, counted from 1 */
    atomic_bool refuses_native; /* the C compiler: -march=native */
    atomic_bool swept;          /* work folders that others have left are gone */
    pthread_mutex_t compile_lock;
    pthread_cond_t compile_left;
    unsigned compiling; /* compilers that run in the background */
    pthread_mutex_t memory_lock;
    qn__cpu_block *blocks;      /* live memory */
    qn__cpu_block *dead_blocks; /* released once no kernel runs that may have found it */
    unsigned lookers;           /* launches that have looked memory up */
};

typedef struct qn__cpu_background qn__cpu_background;

struct qn__code {
    qn__gpu *gpu;
    void *library; /* dlopen handle, or NULL when interpreted */
    int folder;    /* of the cache, open for as long as gdb may read the library through it; -1: none */
    const qn__code_info *info;
    struct qn__cpu_code_kernel {
        _Atomic(qn_cpu_kernel *) function; /* NULL: interpreted, for now or for good */
        qn__vm_program *program;
        uint64_t code_size; /* bytes; 0: not known */
        bool uses_sync;
        atomic_uint_fast64_t
            work; /* the time of 1,024 work-items in the last launch of the function; 0: not known */
    } * kernels;
    qn__arena arena;                /* the interpreter's programs */
    qn__cpu_background *background; /* what compiles it meanwhile (background.h), or NULL */
};

/* memory.c */
qn_status qn__cpu_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                void **host, char *why);
void qn__cpu_memory_destroy(qn__gpu *gpu, qn__memory *memory);
qn_status qn__cpu_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                              uint64_t *address, char *why);
void qn__cpu_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size);
/* The live memory that the address lies in. *looks, false at first, tells that the launch has found some: it then calls
   qn__cpu_memory_leave once at its end, and up to that nothing that it has found is released. */
bool qn__cpu_memory_find(qn__gpu *gpu, bool *looks, uint64_t address, uint64_t *begin, uint64_t *size);
void qn__cpu_memory_leave(qn__gpu *gpu);
/* code.c */
/* machine.c: processors by name. The number of the best that a processor with these flags is as good as. */
unsigned qn__cpu_machine(const char *flags);
/* Of a processor with these words of /proc/cpuinfo: it has AMX for bf16 and bytes, and the system lets us use it. */
bool qn__cpu_has_tile_registers(const char *flags);
/* It has AVX-512's products of pairs of bf16, and they are quicker than those of f32: AMD's, of which Zen 5 was measured (1.8 times the
   rate). Intel's have half of it on Sapphire Rapids. `vendor`: as /proc/cpuinfo says it. */
bool qn__cpu_has_pair_products(const char *vendor, const char *flags);
uint32_t qn__cpu_vector_bytes(const qn__gpu *gpu); /* of its SIMD registers; 0: not known */
const char *qn__cpu_find_machine(const qn__gpu *gpu, const char *name, char *why);
uint32_t qn__cpu_runs_binary(const qn__gpu *gpu, const char *name);
/* object.c */
qn_status qn__cpu_code_object(qn__gpu *gpu, const qn__code_source *source, char **object, size_t *size,
                              char *why);

qn_status qn__cpu_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
void qn__cpu_code_unload(qn__gpu *gpu, qn__code *code);
/* background.c */
qn_status qn__cpu_code_wait(qn__code *code, uint64_t timeout_ns, char *why);
/* run.c: whether the machine has the memory for a launch; else the status, with the numbers. */
qn_status qn__cpu_check_memory(const qn__gpu *gpu, const qn__command *command, char *why);
/* Runs a launch to its end on the pool and on this thread, which uses the qn__cpu_worker `own`. NULL, or a message that
   says why it failed, which may lie in `why`. */
const char *qn__cpu_run(qn__gpu *gpu, const qn__command *command, void *own, qn__host_running *running,
                        char *why);

#endif
