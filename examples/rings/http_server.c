/* A web server with one route, GET /score?x=NUMBER&y=NUMBER, whose answers a kernel computes that stays on the device. Requests are
   sent without waiting: the connection sleeps until the ring's callback has the reply. Needs libmicrohttpd.
   Usage: quern_ring_http_server [PICTURE.svg]       some load by threads of its own, and what it took
          quern_ring_http_server --port PORT         serves until its standard input ends */
#include <arpa/inet.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "shared.h"

enum { CLIENTS = 4, REQUESTS = 2000 };

typedef struct point {
    float x, y;
} point;

/* A logistic regression; the host has it, too, to compare with. */
#define SCORE(x, y, exp) (1 / (1 + exp(-(1.5f * (x)-0.5f * (y) + 0.25f * (x) * (y)))))

static const char source[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct point { float x, y; } point;\n"
    "void score(qn_ring *ring, local const point *in) {\n"
    "    const float score = 1 / (1 + exp(-(1.5f * in->x - 0.5f * in->y + 0.25f * in->x * in->y)));\n"
    "    qn_ring_reply(ring, &score, sizeof score);\n"
    "}\n";

typedef struct server {
    qn_ring *ring;
    struct MHD_Daemon *daemon;
    uint16_t port;
    _Atomic uint32_t asleep; /* connections that wait for the ring */
} server;

/* ---- requests ---- */

typedef struct request {
    server *server;
    struct MHD_Connection *connection;
    bool asked;
    qn_status status;
    float score;
} request;

static void have_score(void *user, qn_status status, const qn_ring_message *message, const void *payload) {
    request *r = user;
    server *s = r->server; /* the request may be gone once its connection is awake */
    (void)message;
    r->status = status;
    if (!status) memcpy(&r->score, payload, sizeof r->score);
    MHD_resume_connection(r->connection);
    s->asleep--;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", "application/json");
    const enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* false: there is no such number. */
static bool read_number(struct MHD_Connection *connection, const char *name, float *number) {
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    char *end = NULL;
    if (text) *number = strtof(text, &end);
    return text && end != text && *end == 0 && isfinite(*number);
}

static enum MHD_Result ask(server *s, request *r) {
    point in;
    if (!read_number(r->connection, "x", &in.x) || !read_number(r->connection, "y", &in.y))
        return answer(r->connection, MHD_HTTP_BAD_REQUEST, "{\"error\": \"give numbers x and y\"}\n");
    r->asked = true;
    s->asleep++;
    MHD_suspend_connection(r->connection);
    const qn_status status = qn_ring_call_async(s->ring, &in, sizeof in, have_score, r, 10 * SECOND);
    if (status) have_score(r, status, NULL, NULL); /* there is no callback then */
    return MHD_YES;
}

/* Called when a request is there, and again when its connection was woken. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload, size_t *size,
                              void **state) {
    request *r = *state;
    char text[96];
    (void)version, (void)upload, (void)size;
    if (!r) {
        r = *state = calloc(1, sizeof *r);
        if (!r) return MHD_NO;
        r->connection = connection;
        r->server = user;
        return MHD_YES;
    }
    if (r->asked && r->status) {
        snprintf(text, sizeof text, "{\"error\": \"%s\"}\n", qn_status_text(r->status));
        return answer(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
    }
    if (r->asked) {
        snprintf(text, sizeof text, "{\"score\": %.7g}\n", (double)r->score);
        return answer(connection, MHD_HTTP_OK, text);
    }
    if (strcmp(method, "GET") != 0 || strcmp(url, "/score") != 0)
        return answer(connection, MHD_HTTP_NOT_FOUND, "{\"error\": \"there is GET /score?x=1&y=2\"}\n");
    return ask(user, r);
}

static void finish(void *user, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why) {
    (void)user, (void)connection, (void)why;
    free(*state);
    *state = NULL;
}

/* A ring that is stopped refuses what still comes; connections that sleep get their answers first. */
static void stop(server *s) {
    if (s->ring) qn_ring_stop(s->ring, QN_RING_DRAIN, SECOND);
    for (int i = 0; i < 1000 && s->asleep; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (s->daemon) MHD_stop_daemon(s->daemon);
    qn_ring_destroy(s->ring);
}

/* Port 0: one that is free. */
static bool serve(server *s, uint16_t port) {
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    s->daemon = MHD_start_daemon(flags, port, NULL, NULL, handle, s, MHD_OPTION_NOTIFY_COMPLETED, finish,
                                 NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (info) s->port = info->port;
    return info != NULL;
}

/* ---- load ---- */

typedef struct client {
    pthread_t thread;
    uint16_t port;
    uint32_t number, wrong;
    uint64_t *times;
} client;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* One request over a connection that stays; whether the answer is right. */
static bool get_score(int socket, float x, float y) {
    char text[512], *at = NULL;
    const int length = snprintf(text, sizeof text, "GET /score?x=%g&y=%g HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                (double)x, (double)y);
    if (send(socket, text, (size_t)length, 0) != length) return false;
    for (size_t got = 0; !at || !strchr(at, '\n');) {
        const ssize_t more = recv(socket, text + got, sizeof text - 1 - got, 0);
        if (more <= 0) return false;
        got += (size_t)more;
        text[got] = 0;
        at = strstr(text, "\r\n\r\n");
        if (at) at += 4;
    }
    const char *score = strstr(at, "\"score\": ");
    return score && fabsf(strtof(score + 9, NULL) - SCORE(x, y, expf)) < 1e-5f;
}

static void *load(void *argument) {
    client *c = argument;
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(c->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    const bool open = connect(connection, (const struct sockaddr *)&address, sizeof address) == 0;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint64_t begin = now_ns();
        const bool right = open && get_score(connection, (float)(i % 64) / 16 - 2, (float)c->number / 8);
        c->wrong += !right;
        c->times[i] = now_ns() - begin;
    }
    close(connection);
    return NULL;
}

static int by_time(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The table, and all times as bars. */
static void report(uint64_t *times, uint32_t count, uint64_t took, const char *path) {
    qn_ring_latency all = {.count = count};
    qsort(times, count, sizeof *times, by_time);
    for (uint32_t i = 0; i < count; i++) {
        int bucket = 0;
        while (bucket < QN_RING_BUCKETS - 1 && times[i] >> (bucket + 1)) bucket++;
        all.histogram[bucket]++;
    }
    all.p50_ns = times[count / 2];
    all.p99_ns = times[count / 100 * 99];
    all.max_ns = times[count - 1];
    printf("requests  a second    p50         p99         longest\n%-8u  %-10.0f  %-8.1f us %-8.1f us %-8.1f "
           "us\n",
           (unsigned)count, count / ((double)took * 1e-9), (double)all.p50_ns / 1e3, (double)all.p99_ns / 1e3,
           (double)all.max_ns / 1e3);
    if (path) draw_latency(&all, "GET /score under load", path);
}

static bool put_load(const server *s, const char *path) {
    client clients[CLIENTS];
    uint64_t *times = malloc(sizeof *times * CLIENTS * REQUESTS);
    uint32_t wrong = 0, started = 0;
    if (!times) return false;
    const uint64_t begin = now_ns();
    for (; started < CLIENTS; started++) {
        client *c = &clients[started];
        *c = (client){.port = s->port, .number = started, .times = times + started * REQUESTS};
        if (pthread_create(&c->thread, NULL, load, c)) break;
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(clients[i].thread, NULL);
        wrong += clients[i].wrong;
    }
    if (started) report(times, started * REQUESTS, now_ns() - begin, path);
    printf("%u of %u answers wrong\n", (unsigned)wrong, (unsigned)(started * REQUESTS));
    free(times);
    return started == CLIENTS && !wrong;
}

int main(int argc, char **argv) {
    const bool serves = argc > 2 && strcmp(argv[1], "--port") == 0;
    const qn_ring_desc desc = {.program = {.source = source},
                               .handler = "score",
                               .message_type = "point",
                               .message_size = sizeof(point),
                               .reply_size = sizeof(float),
                               .label = "score"};
    qn_context *context = NULL;
    qn_device *device = NULL;
    server s = {0};
    bool good = false;
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = start_ring(device, &desc, &s.ring);
    if (status) {
        fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    } else if (!serve(&s, serves ? (uint16_t)atoi(argv[2]) : 0)) {
        fprintf(stderr, "the server does not start\n");
    } else if (serves) {
        printf("http://localhost:%u/score?x=1&y=2\n", (unsigned)s.port);
        fflush(stdout);
        while (getchar() != EOF) {
        }
        good = true;
    } else {
        good = put_load(&s, argc > 1 ? argv[1] : NULL);
        printf("of which the ring:\n");
        report_ring(s.ring, "", NULL);
    }
    stop(&s);
    qn_context_destroy(context);
    return !good;
}
