/* Faults as POSIX signals; see trap.h. The handler finds out by a thread's own value whether it runs what is to be caught:
   reading one is safe in a handler, where thread-local variables of a library that was opened at run time may not be. It runs on
   the thread's stack for signals, where the host has given it one. */
#include "util/trap.h"

#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "util/compiler.h"

typedef struct frame {
    sigjmp_buf back;
    volatile sig_atomic_t signal, paused, is_nowhere;
    void *volatile address;
    sigset_t mask; /* of the thread when the fault came */
} frame;

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE};

static struct {
    pthread_mutex_t lock;
    unsigned users;
    bool has_key;
    pthread_key_t frames; /* the thread's frame, or NULL */
    struct sigaction before[QN__COUNT(caught)];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is not ours ---- */

/* As if the host's handler had been called by the system. */
static void call_host(const struct sigaction *host, int signal, siginfo_t *info, void *context) {
    sigset_t blocked = host->sa_mask, before;
    if (!(host->sa_flags & SA_NODEFER)) sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    if (host->sa_flags & SA_SIGINFO)
        host->sa_sigaction(signal, info, context);
    else
        host->sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The faulting instruction is run again, and the system does what it does without a handler; what was sent is sent again. */
static void let_happen(int signal, bool is_sent) {
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
    if (is_sent) raise(signal);
}

static void pass_on(int signal, siginfo_t *info, void *context) {
    const bool is_sent = info->si_code <= 0; /* by kill, raise, sigqueue */
    for (size_t i = 0; i < QN__COUNT(caught); i++) {
        struct sigaction *host = &process.before[i];
        if (caught[i] != signal) continue;
        const bool takes_info = host->sa_flags & SA_SIGINFO;
        if (!takes_info && host->sa_handler == SIG_IGN && is_sent) return;
        if (!takes_info && (host->sa_handler == SIG_DFL || host->sa_handler == SIG_IGN)) {
            let_happen(signal, is_sent);
            return;
        }
        const struct sigaction called = *host;
        if (called.sa_flags & SA_RESETHAND) *host = (struct sigaction){.sa_handler = SIG_DFL};
        call_host(&called, signal, info, context);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
    frame *f = pthread_getspecific(process.frames);
    if (!f || f->paused || info->si_code <= 0) {
        pass_on(signal, info, context);
        return;
    }
    f->signal = signal;
    f->address = info->si_addr;
#ifdef SI_KERNEL
    f->is_nowhere = info->si_code == SI_KERNEL; /* x86 */
#endif
    if (context) /* a handler of the host's in front of this one may have blocked more */
        f->mask = ((const ucontext_t *)context)->uc_sigmask;
    siglongjmp(f->back, 1);
}

/* ---- taking over ---- */

static void take_over(void) {
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < QN__COUNT(caught); i++) sigaction(caught[i], &ours, &process.before[i]);
}

/* A handler that the host has installed since stays; it may call ours, which then passes on. */
static void give_back(void) {
    for (size_t i = 0; i < QN__COUNT(caught); i++) {
        struct sigaction now;
        if (sigaction(caught[i], NULL, &now)) continue;
        if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal)
            sigaction(caught[i], &process.before[i], NULL);
    }
}

static bool is_in_place(void) {
    struct sigaction now;
    return !sigaction(caught[0], NULL, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal;
}

bool qn__traps_open(void) {
    pthread_mutex_lock(&process.lock);
    if (!process.has_key) process.has_key = pthread_key_create(&process.frames, NULL) == 0;
    const bool opened = process.has_key;
    /* Where the host has put a handler in front of ours, it stays there: each would call the other. */
    if (opened && process.users++ == 0 && !is_in_place()) take_over();
    pthread_mutex_unlock(&process.lock);
    return opened;
}

void qn__traps_close(void) {
    pthread_mutex_lock(&process.lock);
    if (--process.users == 0) give_back();
    pthread_mutex_unlock(&process.lock);
}

/* ---- catching ---- */

/* How a thread computes, which a handler does not leave as it was: the control words alone, as fegetenv takes longer than a small
   work-group. */
#if defined(__x86_64__)
typedef struct numbers {
    unsigned sse;
    unsigned short x87;
} numbers;

static void keep_numbers(numbers *n) {
    __asm__ volatile("stmxcsr %0" : "=m"(n->sse));
    __asm__ volatile("fnstcw %0" : "=m"(n->x87));
}
static void put_numbers(const numbers *n) {
    __asm__ volatile("ldmxcsr %0" : : "m"(n->sse));
    __asm__ volatile("fldcw %0" : : "m"(n->x87));
}
#else
typedef fenv_t numbers;

static void keep_numbers(numbers *n) { fegetenv(n); }
static void put_numbers(const numbers *n) { fesetenv(n); }
#endif

bool qn__trap(void (*body)(void *user), void *user, qn__trapped *what) {
    frame f;
    numbers before;
    void *const outer = pthread_getspecific(process.frames);
    f.paused = f.is_nowhere = 0;
    keep_numbers(&before);
    sigemptyset(&f.mask);
    if (sigsetjmp(f.back, 0)) { /* without the mask, which would be a call of the system each time */
        pthread_setspecific(process.frames, outer);
        pthread_sigmask(SIG_SETMASK, &f.mask, NULL);
        put_numbers(&before);
        *what = (qn__trapped){f.signal == SIGFPE, f.is_nowhere, (uint64_t)(uintptr_t)f.address};
        return false;
    }
    pthread_setspecific(process.frames, &f);
    body(user);
    pthread_setspecific(process.frames, outer);
    return true;
}

bool qn__trap_pause(bool paused) {
    frame *f = process.has_key ? pthread_getspecific(process.frames) : NULL;
    const bool before = f && f->paused;
    if (f) f->paused = paused;
    return before;
}
