/* Programs with limits, by job objects; see process.h. */
#include "util/process.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/windows/windows.h"

enum { LOOK_MS = 5, MAX_COMMAND = 32767 };

typedef struct command {
    char text[MAX_COMMAND + 1];
    size_t length;
} command;

static void put(command *c, char letter) {
    if (c->length < MAX_COMMAND) c->text[c->length] = letter;
    c->length++;
}

/* An argument as the C library's start-up takes it apart again: backslashes count in front of a quote only. */
static void put_argument(command *c, const char *argument) {
    if (c->length) put(c, ' ');
    put(c, '"');
    for (const char *at = argument;; at++) {
        size_t slashes = strspn(at, "\\");
        at += slashes;
        if (*at == 0 || *at == '"') slashes = slashes * 2 + (*at == '"');
        while (slashes--) put(c, '\\');
        if (!*at) break;
        put(c, *at);
    }
    put(c, '"');
}

static HANDLE limited_job(const qn__process *process) {
    HANDLE job = CreateJobObjectA(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (process->memory) {
        limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_MEMORY;
        limits.ProcessMemoryLimit = (SIZE_T)process->memory;
    }
    if (process->cpu_seconds) {
        limits.BasicLimitInformation.LimitFlags |= JOB_OBJECT_LIMIT_PROCESS_TIME;
        limits.BasicLimitInformation.PerProcessUserTimeLimit.QuadPart =
            (LONGLONG)process->cpu_seconds * 10000000;
    }
    if (job) (void)SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

static HANDLE open_for(const char *path, DWORD access, DWORD how) {
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    return CreateFileA(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, how,
                       FILE_ATTRIBUTE_NORMAL, NULL);
}

static bool start(const qn__process *process, HANDLE job, command *c, PROCESS_INFORMATION *started) {
    STARTUPINFOA info = {.cb = sizeof info, .dwFlags = STARTF_USESTDHANDLES};
    info.hStdInput = open_for("NUL", GENERIC_READ, OPEN_EXISTING);
    info.hStdOutput = open_for("NUL", GENERIC_WRITE, OPEN_EXISTING);
    info.hStdError = open_for(process->errors, GENERIC_WRITE, CREATE_ALWAYS);
    const bool runs = CreateProcessA(process->args[0], c->text, NULL, NULL, TRUE,
                                     CREATE_SUSPENDED | CREATE_NO_WINDOW, NULL, NULL, &info, started);
    errno = runs ? 0 : qn__windows_error();
    CloseHandle(info.hStdInput);
    CloseHandle(info.hStdOutput);
    CloseHandle(info.hStdError);
    if (!runs) return false;
    (void)AssignProcessToJobObject(job, started->hProcess);
    ResumeThread(started->hThread);
    CloseHandle(started->hThread);
    return true;
}

/* False when the deadline passes or it is stopped. */
static bool wait_for(const qn__process *process, HANDLE running) {
    const uint64_t begin = qn__now_ns();
    const uint64_t timeout = process->seconds ? (uint64_t)process->seconds * 1000000000u : UINT64_MAX;
    while (WaitForSingleObject(running, LOOK_MS) == WAIT_TIMEOUT)
        if ((process->stop && atomic_load(process->stop)) || qn__time_left(begin, timeout) == 0) return false;
    return true;
}

int qn__process_run(const qn__process *process) {
    static const DWORD first_fault = 128;
    PROCESS_INFORMATION started;
    command c = {.length = 0};
    for (size_t i = 0; process->args[i]; i++) put_argument(&c, process->args[i]);
    if (c.length > MAX_COMMAND) {
        errno = E2BIG;
        return QN__PROCESS_FAILED;
    }
    c.text[c.length] = 0;
    HANDLE job = limited_job(process);
    if (!job || !start(process, job, &c, &started)) {
        const int error = errno;
        if (job) CloseHandle(job);
        errno = error ? error : EAGAIN;
        return QN__PROCESS_FAILED;
    }
    DWORD status = first_fault;
    if (wait_for(process, started.hProcess))
        GetExitCodeProcess(started.hProcess, &status);
    else
        TerminateJobObject(job, status);
    CloseHandle(started.hProcess);
    CloseHandle(job);
    return status < first_fault ? (int)status : QN__PROCESS_KILLED;
}
#endif
