/* A ring's telemetry as a file that is written anew every quarter of a second, for who looks from another process: `quern rings`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "ring/internal.h"

enum { EVERY_NS = 250000000, ROOM = 16384 };

struct qn__ring_report {
    uint64_t written_ns;
    char path[400], beside[408], text[ROOM];
};

#if !defined(_WIN32)

/* What the user of a set-user-ID program wants does not count: files would be made with its rights. */
static const char *wanted_folder(void) {
    const bool is_privileged = geteuid() != getuid() || getegid() != getgid();
    const char *folder = is_privileged ? NULL : getenv("QUERN_RINGS");
    return folder && *folder ? folder : NULL;
}

static unsigned long process_id(void) { return (unsigned long)getpid(); }
static void make_folder(const char *path) { mkdir(path, 0700); }

/* A new file, whatever others have put in its place. */
static FILE *open_new(const char *path) {
    unlink(path);
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

#else

static const char *wanted_folder(void) { return NULL; }
static unsigned long process_id(void) { return 0; }
static void make_folder(const char *path) { (void)path; }
static FILE *open_new(const char *path) { return fopen(path, "w"); }

#endif

static qn_status report_to(qn_ring *ring, const char *folder) {
    struct qn__ring_report *report = ring->allocator.allocate(ring->allocator.user, sizeof *report);
    if (!report) return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_report: out of host memory");
    report->written_ns = 0;
    const int length = snprintf(report->path, sizeof report->path, "%s/%lu-%llx.json", folder, process_id(),
                                (unsigned long long)(uintptr_t)ring);
    snprintf(report->beside, sizeof report->beside, "%s.new", report->path);
    qn_status status = QN_OK;
    if (length < 0 || (size_t)length >= sizeof report->path)
        status = qn__ring_fail(ring, QN_ERROR_RANGE, "qn_ring_report: the folder's name is too long");
    make_folder(folder);
    pthread_mutex_lock(&ring->receive_lock);
    if (!status && atomic_load(&ring->report))
        status =
            qn__ring_fail(ring, QN_ERROR_STATE, "qn_ring_report: ring '%s' reports already", ring->label);
    if (!status) status = qn__ring_service_start(ring, "qn_ring_report");
    if (!status) atomic_store(&ring->report, report);
    qn__ring_service_due(ring);
    pthread_mutex_unlock(&ring->receive_lock);
    if (status) ring->allocator.release(ring->allocator.user, report);
    return status;
}

qn_status qn_ring_report(qn_ring *ring, const char *folder) {
    const qn_status status = qn__ring_check(ring, "qn_ring_report");
    if (status) return status;
    if (!folder) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_report: folder is NULL");
#if defined(_WIN32)
    return qn__ring_fail(ring, QN_ERROR_UNSUPPORTED, "qn_ring_report: not on this system");
#else
    return report_to(ring, folder);
#endif
}

void qn__ring_report_if_asked(qn_ring *ring) {
    const char *folder = wanted_folder();
    if (folder) report_to(ring, folder); /* without a file the ring goes on all the same */
}

/* Readers see the old file or the new one, never a part. */
static void write_file(struct qn__ring_report *report) {
    FILE *file = open_new(report->beside);
    if (!file) return;
    const bool written = fputs(report->text, file) >= 0;
    if (fclose(file) == 0 && written)
        rename(report->beside, report->path);
    else
        remove(report->beside);
}

void qn__ring_write_report(qn_ring *ring) {
    struct qn__ring_report *report = atomic_load(&ring->report);
    if (!report) return;
    const uint64_t now = qn__ring_now();
    if (report->written_ns && now - report->written_ns < EVERY_NS) return;
    report->written_ns = now;
    if (!qn_ring_format_stats(ring, QN_RING_JSON, report->text, sizeof report->text, NULL))
        write_file(report);
}

void qn__ring_end_report(qn_ring *ring) {
    struct qn__ring_report *report = atomic_exchange(&ring->report, NULL);
    if (!report) return;
    remove(report->path);
    ring->allocator.release(ring->allocator.user, report);
}
