/* Runs a program and waits for it, with limits. The host may ignore SIGCHLD or reap every child it sees, so the exit
   status does not come from waitpid: a shell between sets the limits and writes the status into a pipe. */
#ifndef QN__PROCESS_H
#define QN__PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct qn__process {
    const char *const *args; /* args[0] is the program's path; ends in NULL */
    const char *errors;      /* path of the file that its standard error is written to */
    uint64_t memory;         /* bytes of address space that each of its processes may have; 0: any */
    unsigned cpu_seconds;    /* of processor time for each of its processes; 0: any */
    unsigned seconds;        /* until all of its processes are killed; 0: never */
    const atomic_bool *stop; /* true: they are killed within some milliseconds; or NULL */
} qn__process;

enum { QN__PROCESS_KILLED = -1, QN__PROCESS_FAILED = -2 };

/* The exit status; QN__PROCESS_KILLED when a signal, the deadline or `stop` ended it; QN__PROCESS_FAILED, with errno, when it
   could not be started. */
int qn__process_run(const qn__process *process);

#endif
