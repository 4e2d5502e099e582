/* access_log.c -- see access_log.h. */
#include "serve/access_log.h"
#include "formats/file.h"
#include "serve/content/text.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* FULL: bytes that are worth a write. Above it one line has room, whose request has a megabyte at
 * most, of which each byte may take six. */
enum { FULL = 32 << 10, CEILING = 8 << 20 };

struct serve_log {
    const char *path;
    int descriptor; /* -1: none */
    formats_buffer text;
    pthread_mutex_t lock;
    time_t second; /* of `stamp` */
    char stamp[32];
};

static int open_path(const char *path) {
    if (!path) return STDERR_FILENO;
    if (!*path) return -1;
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
}

taper_status serve_log_open(serve_log **out, const char *path, taper_error *error) {
    serve_log *log = calloc(1, sizeof *log);
    *out = NULL;
    if (!log) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the log");
    log->path = path;
    log->descriptor = open_path(path);
    if (path && *path && log->descriptor < 0) {
        free(log);
        return formats_fail_errno(error, errno, "open the log");
    }
    log->text = formats_buffer_make(CEILING);
    pthread_mutex_init(&log->lock, NULL);
    *out = log;
    return TAPER_OK;
}

static void flush(serve_log *log) {
    size_t done = 0;
    while (log->descriptor >= 0 && done < log->text.size) {
        const ssize_t n = write(log->descriptor, log->text.data + done, log->text.size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    formats_buffer_clear(&log->text);
}

void serve_log_flush(serve_log *log) {
    pthread_mutex_lock(&log->lock);
    flush(log);
    pthread_mutex_unlock(&log->lock);
}

void serve_log_reopen(serve_log *log) {
    if (!log->path || !*log->path) return;
    pthread_mutex_lock(&log->lock);
    flush(log);
    const int descriptor = open_path(log->path);
    if (descriptor >= 0) {
        close(log->descriptor);
        log->descriptor = descriptor;
    }
    pthread_mutex_unlock(&log->lock);
}

void serve_log_close(serve_log *log) {
    if (!log) return;
    flush(log);
    formats_buffer_free(&log->text);
    if (log->path && log->descriptor >= 0) close(log->descriptor);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

static void put_time(serve_log *log) {
    struct timespec now;
    struct tm t;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != log->second && gmtime_r(&now.tv_sec, &t))
        strftime(log->stamp, sizeof log->stamp, "%Y-%m-%dT%H:%M:%S", &t), log->second = now.tv_sec;
    serve_print(&log->text, "{\"schema\":1,\"time\":\"%s.%03ldZ\",\"address\":\"", log->stamp,
                now.tv_nsec / 1000000);
}

static void put_line(serve_log *log, const serve_log_line *line) {
    put_time(log);
    serve_print(&log->text, "%s\",\"method\":", line->address);
    serve_print_json(&log->text, line->method);
    formats_write_bytes(&log->text, ",\"path\":", 8);
    serve_print_json(&log->text, line->target);
    if (line->range) {
        formats_write_bytes(&log->text, ",\"range\":", 9);
        serve_print_json(&log->text, line->range);
    }
    serve_print(&log->text, ",\"status\":%u,\"bytes\":%llu,\"ms\":%lld.%03d,\"complete\":%s}\n",
                line->status, (unsigned long long)line->bytes, (long long)(line->micros / 1000),
                (int)(line->micros % 1000), line->is_complete ? "true" : "false");
}

void serve_log_add(serve_log *log, const serve_log_line *line) {
    if (log->descriptor < 0) return;
    pthread_mutex_lock(&log->lock);
    const size_t before = log->text.size;
    put_line(log, line);
    if (log->text.status != TAPER_OK) log->text.size = before; /* no half of a line */
    if (log->text.status != TAPER_OK || log->text.size >= FULL) flush(log);
    pthread_mutex_unlock(&log->lock);
}
