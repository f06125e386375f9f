/* Nothing is caught on Windows, where kernels are interpreted; see trap.h. */
#include "util/trap.h"

bool qn__traps_open(void) { return false; }
void qn__traps_close(void) {}

bool qn__trap(void (*body)(void *user), void *user, qn__trapped *what) {
    (void)what;
    body(user);
    return true;
}

bool qn__trap_pause(bool paused) { return paused; }
