/* Faults of code that is not the library's own, caught on the thread that runs it: what would end the process ends a call. The
   process's handlers of SIGSEGV, SIGBUS and SIGFPE are taken over while anybody wants that, and get all other faults and signals as
   before. Signals belong to the process, and so does what the handler knows: the one mutable global of the library. */
#ifndef QN__TRAP_H
#define QN__TRAP_H

#include <stdbool.h>
#include <stdint.h>

/* Counted: each true is for one qn__traps_close. False: the system has nothing of the kind. Any thread. */
bool qn__traps_open(void);
void qn__traps_close(void);

typedef struct qn__trapped {
    bool computes;    /* an operation that the processor refuses; else an access */
    bool is_nowhere;  /* the access is to an address that cannot be, which the system does not tell */
    uint64_t address; /* of the access */
} qn__trapped;

/* Runs body(user); false where a fault ended it, which `what` then tells. What the body holds then stays held: it must be code that
   takes nothing. */
bool qn__trap(void (*body)(void *user), void *user, qn__trapped *what);
/* Within it: whether faults of this thread go to the process, as those of a callback of the host's have to. Gives what held before. */
bool qn__trap_pause(bool paused);

#endif
