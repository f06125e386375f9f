/* Kernels that go outside of their memory. Compiled ones have no checks: on the processor the system ends the process then,
   which is to leave a sentence behind, and a status. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

static char sentence[512]; /* made before: a handler may not print */

static void on_fault(int number) {
    (void)number;
    const ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written; /* there is nobody else to tell */
    _exit(TOOL_RUN_FAILED);
}

/* Who watches already, a sanitizer say, knows better. */
static void watch(int number) {
    void (*before)(int) = signal(number, on_fault);
    if (before != SIG_DFL && before != SIG_ERR) signal(number, before);
}

void faults_watch(void) {
    snprintf(sentence, sizeof sentence,
             "quern: run: %.200s: a kernel accesses memory outside of its buffers and variables; with "
             "QUERN_CC=none "
             "and --device cpu it is interpreted, and the message names the line\n",
             tool_files());
    watch(SIGSEGV);
#ifdef SIGBUS
    watch(SIGBUS);
#endif
}
