/* A line with a fault has a comment, `// finds: race` or `// finds: race, divergence`. Of a race it may stand at either of the
   two accesses. A line `// also: performance sm_90` asks for what is found only when asked. */
#include "cl_findings.h"

#include <quern/check.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "// finds: ";

typedef struct expected {
    unsigned line;
    char kind[32];
    bool came;
} expected;

enum { MOST = 64 };

/* The next word of a list with commas; NULL at its end. */
static const char *next_kind(const char *at, const char *end, char *kind, size_t size) {
    while (at < end && (*at == ' ' || *at == ',')) at++;
    const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
    if (at >= end || !length || length >= size) return NULL;
    memcpy(kind, at, length);
    kind[length] = 0;
    return at + length;
}

static unsigned read_expected(const cl_case *test, expected list[MOST]) {
    unsigned count = 0, line = 1;
    for (const char *at = test->source, *next; *at; at = next, line++) {
        const size_t length = strcspn(at, "\n");
        const char *end = at + length, *found = strstr(at, mark);
        next = end + (*end == '\n');
        if (!found || found >= end) continue;
        found += strlen(mark);
        while (count < MOST && (found = next_kind(found, end, list[count].kind, sizeof list->kind))) {
            list[count].line = line;
            list[count++].came = false;
        }
    }
    return count;
}

static const struct {
    const char *name;
    uint32_t bit;
} words[] = {{"performance", QN_CHECK_PERFORMANCE},
             {"unused", QN_CHECK_UNUSED},
             {"buffers", QN_CHECK_BUFFERS},
             {"overflows", QN_CHECK_OVERFLOWS}};

static void read_also(const cl_case *test, qn_check_desc *desc) {
    const char *at = strstr(test->source, "\n// also: ");
    const char *end = at ? strchr(at + 1, '\n') : NULL;
    for (size_t i = 0; end && i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(at, words[i].name);
        if (found && found < end) desc->also |= words[i].bit;
    }
    const char *arch = at ? strstr(at, "sm_90") : NULL;
    if (arch && arch < end) desc->arch = "sm_90";
}

/* Kernels of tests are short: those that do not end are to be known for it soon. */
void cl_findings_begin(const cl_case *test, qn_device *device) {
    qn_device_info info;
    qn_check_desc desc = {.budget = 1 << 18};
    read_also(test, &desc);
    if (qn_device_get_info(device, &info) == QN_OK && info.kind == QN_DEVICE_CHECK)
        qn_check_configure(device, &desc);
}

bool cl_findings_expected(const cl_case *test) { return strstr(test->source, mark) != NULL; }

bool cl_findings_tells(const cl_case *test, const char *message) {
    expected list[MOST];
    const unsigned wanted = read_expected(test, list);
    const size_t length = strlen(test->path);
    const char *at = strstr(message, test->path);
    if (!at || at[length] != ':') return false;
    const unsigned long line = strtoul(at + length + 1, NULL, 10);
    bool is_told = false;
    for (unsigned n = 0; n < wanted; n++) is_told = is_told || list[n].line == line;
    return is_told;
}

static bool is_at(const qn_finding *finding, const expected *e) {
    const char *name = qn_finding_kind_name(finding->kind);
    if (!name || strcmp(name, e->kind) != 0) return false;
    return finding->place.line == e->line || (finding->other.file && finding->other.line == e->line);
}

void cl_findings_check(const cl_case *test, qn_device *device, void (*fail)(void *user, const char *text),
                       void *user) {
    expected list[MOST];
    qn_device_info info;
    if (qn_device_get_info(device, &info) || info.kind != QN_DEVICE_CHECK) return;
    const unsigned wanted = read_expected(test, list);
    const uint32_t count = qn_check_count(device);
    for (uint32_t i = 0; i < count; i++) {
        qn_finding finding;
        bool is_expected = false;
        if (qn_check_get(device, i, &finding)) return;
        for (unsigned n = 0; n < wanted; n++)
            if (is_at(&finding, &list[n])) is_expected = list[n].came = true;
        if (!is_expected) fail(user, finding.text);
    }
    for (unsigned n = 0; n < wanted; n++) {
        char text[80];
        if (list[n].came) continue;
        snprintf(text, sizeof text, "line %u: '%s' is not found", list[n].line, list[n].kind);
        fail(user, text);
    }
    qn_check_clear(device);
}
