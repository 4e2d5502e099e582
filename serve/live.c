/* live.c -- see live.h. A response that has sent all that is there suspends its connection; the
 * main thread looks at the file several times a second and resumes it. */
#include "serve/live.h"
#include "serve/mhd.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifdef LATE_LIBRARY
enum { BLOCK = 16 << 10 };

/* One response; in the list while it waits. */
typedef struct stream {
    serve_request *request;
    serve_file *file;
    uint64_t first, n, needed; /* needed: the file must be longer than that */
    int64_t since_ms;
    bool has_failed;
    struct stream *next;
} stream;

struct serve_live {
    pthread_mutex_t lock;
    stream *waiting;
};

serve_live *serve_live_open(void) {
    serve_live *live = calloc(1, sizeof *live);
    if (live) pthread_mutex_init(&live->lock, NULL);
    return live;
}

void serve_live_close(serve_live *live) {
    if (!live) return;
    pthread_mutex_destroy(&live->lock);
    free(live);
}

/* Suspended first, so that the main thread resumes it only afterwards. */
static void wait_for(stream *s, uint64_t offset) {
    serve_server *server = s->request->server;
    s->needed = offset, s->since_ms = serve_now_ms();
    server->mhd->MHD_suspend_connection(s->request->connection);
    pthread_mutex_lock(&server->live->lock);
    s->next = server->live->waiting;
    server->live->waiting = s;
    pthread_mutex_unlock(&server->live->lock);
}

static ssize_t read_stream(void *user, uint64_t at, char *to, size_t room) {
    stream *s = user;
    const uint64_t left = s->n - at;
    const size_t n = left < room ? (size_t)left : room;
    if (s->has_failed) return MHD_CONTENT_READER_END_WITH_ERROR;
    const int64_t got = serve_file_read(s->file, s->first + at, to, n);
    if (got < 0) return MHD_CONTENT_READER_END_WITH_ERROR;
    if (got == 0) wait_for(s, s->first + at);
    return (ssize_t)got;
}

static void free_stream(void *user) {
    stream *s = user;
    serve_file_release(s->file);
    free(s);
}

struct MHD_Response *serve_live_response(serve_request *request, serve_file *file, uint64_t first,
                                         uint64_t n) {
    stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (stream){.request = request, .file = file, .first = first, .n = n};
    serve_file_hold(file);
    struct MHD_Response *response = request->server->mhd->MHD_create_response_from_callback(
        n, BLOCK, read_stream, s, free_stream);
    if (!response) free_stream(s);
    return response;
}

static bool has_grown(const stream *s) {
    struct stat st;
    return fstat(s->file->descriptor, &st) != 0 || (uint64_t)st.st_size > s->needed;
}

void serve_live_sweep(serve_server *server, int64_t most_ms, bool all) {
    const int64_t now = serve_now_ms();
    pthread_mutex_lock(&server->live->lock);
    for (stream **at = &server->live->waiting; *at;) {
        stream *s = *at;
        const bool goes_on = has_grown(s);
        if (!goes_on && !all && now - s->since_ms <= most_ms) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        s->has_failed = !goes_on;
        server->mhd->MHD_resume_connection(s->request->connection);
    }
    pthread_mutex_unlock(&server->live->lock);
}
#endif
