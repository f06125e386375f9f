/* Kernels that go outside of their memory where a driver runs them on the processor, without checks (Mesa's lavapipe, PoCL): the system ends
   the process then, which is to leave a sentence behind, and a status. On the CPU device the library ends the launch. */
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
             "quern: run: %.200s: the process accesses what is no memory: most likely a kernel does; quern "
             "check, or "
             "--safe, names the line\n",
             tool_files());
    watch(SIGSEGV);
#ifdef SIGBUS
    watch(SIGBUS);
#endif
}
