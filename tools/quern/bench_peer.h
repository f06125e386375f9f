/* Other libraries for the same work, opened at run time where they are. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench.h"

/* Their names, for messages. */
#define BENCH_PEERS "cublas (on CUDA devices), openblas, blis, mkl (on the processor)"

enum { BENCH_MAX_PEERS = 8, BENCH_WHY = 256 };

/* A library that multiplies matrices. */
typedef struct bench_peer bench_peer;
typedef struct bench_peer_type {
    const char *name;
    qn_device_kind kind; /* of devices that it is a peer on */
    bool on_host;        /* it is done when the call returns */
    /* Where it is not there, NULL and a sentence in `why` (BENCH_WHY bytes). */
    void *(*open)(const bench_device *d, char *why);
    bool (*takes)(const bench_type *type);
    /* c = a b; of the operands' pointers. */
    bool (*multiply)(void *peer, const bench_product *p, const uint64_t pointers[3]);
    void (*close)(void *peer);
} bench_peer_type;

struct bench_peer {
    const bench_peer_type *type;
    void *peer;
    const bench_device *d;
};

extern const bench_peer_type bench_cublas, bench_openblas, bench_blis, bench_mkl;

/* Opens those for the device that `against` lists ("all", or names with commas), and prints which of them are not there. */
uint32_t bench_peers_open(const bench_device *d, const char *against, bench_peer peers[BENCH_MAX_PEERS]);
void bench_peers_close(bench_peer *peers, uint32_t count);
/* False: there is no such peer. */
bool bench_peers_known(const char *against);
/* The product by the peer, checked. Exit status, after a message. */
int bench_peer_measure(const bench_peer *peer, bench_product *p, bench_time *time);

/* The first of these names (NULL ends them) that can be opened. */
void *bench_library_open(const char *const *names, char *why);
/* Sets *function, which is a pointer to a function, to the symbol; false: it has none, which `why` says. */
bool bench_library_find(void *library, const char *symbol, void *function, char *why);

#endif
