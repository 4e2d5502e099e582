/* replies.c -- see replies.h. */
#include "serve/replies.h"
#include "serve/live.h"
#include "serve/mhd.h"
#include "serve/request/conditions.h"
#include "serve/request/media.h"
#include "serve/request/range.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef LATE_LIBRARY
enum { SMALL = 16 << 10, BLOCK = 16 << 10, PART_HEAD = 256 };
#define METHODS "GET, HEAD, OPTIONS"

/* --- what all responses have --- */

static void add(serve_request *r, struct MHD_Response *response, const char *name,
                const char *value) {
    r->server->mhd->MHD_add_response_header(response, name, value);
}

static const char *field(serve_request *r, const char *name) {
    return r->server->mhd->MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

/* Queue a response and give it up. */
static void queue(serve_request *r, unsigned status, struct MHD_Response *response,
                  uint64_t bytes) {
    if (!response) return; /* without a response the connection is closed */
    add(r, response, "Access-Control-Allow-Origin", "*");
    add(r, response, "Access-Control-Expose-Headers",
        "Accept-Ranges, Content-Length, Content-Range, ETag, Link, Retry-After");
    add(r, response, "X-Content-Type-Options", "nosniff");
    if (atomic_load(&r->server->is_ending)) add(r, response, "Connection", "close");
    r->status = status, r->bytes = !strcmp(r->method, "HEAD") ? 0 : bytes;
    r->is_queued = r->server->mhd->MHD_queue_response(r->connection, status, response) == MHD_YES;
    r->server->mhd->MHD_destroy_response(response);
}

static struct MHD_Response *of_bytes(serve_request *r, void *bytes, size_t n) {
    struct MHD_Response *response =
        r->server->mhd->MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) free(bytes);
    return response;
}

static struct MHD_Response *of_nothing(serve_request *r) {
    return r->server->mhd->MHD_create_response_from_buffer(0, (void *)(uintptr_t) "",
                                                           MHD_RESPMEM_PERSISTENT);
}

static void add_age(serve_request *r, struct MHD_Response *response, bool is_final) {
    char text[64];
    const unsigned age = r->server->options->max_age_seconds;
    snprintf(text, sizeof text, "public, max-age=%u", age);
    add(r, response, "Cache-Control", is_final ? (age ? text : "no-cache") : "no-store");
}

/* --- short ones --- */

void serve_reply_text(serve_request *r, unsigned status, const char *text) {
    const size_t n = strlen(text);
    char *line = malloc(n + 1);
    if (line) memcpy(line, text, n), line[n] = '\n';
    struct MHD_Response *response = line ? of_bytes(r, line, n + 1) : NULL;
    if (response) {
        add(r, response, "Content-Type", "text/plain; charset=utf-8");
        add(r, response, "Cache-Control", "no-store");
        if (status == 503) add(r, response, "Retry-After", "1");
        if (status == 405) add(r, response, "Allow", METHODS);
    }
    queue(r, status, response, n + 1);
}

void serve_reply_redirect(serve_request *r, unsigned status, const char *location) {
    struct MHD_Response *response = of_nothing(r);
    if (response) add(r, response, "Location", location);
    queue(r, status, response, 0);
}

void serve_reply_options(serve_request *r) {
    struct MHD_Response *response = of_nothing(r);
    if (response) {
        add(r, response, "Allow", METHODS);
        add(r, response, "Access-Control-Allow-Methods", METHODS);
        add(r, response, "Access-Control-Allow-Headers",
            "Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since");
        add(r, response, "Access-Control-Max-Age", "86400");
    }
    queue(r, 204, response, 0);
}

static serve_conditions conditions_of(serve_request *r) {
    return (serve_conditions){.if_match = field(r, "If-Match"),
                              .if_none_match = field(r, "If-None-Match"),
                              .if_range = field(r, "If-Range"),
                              .if_modified_since = field(r, "If-Modified-Since"),
                              .if_unmodified_since = field(r, "If-Unmodified-Since")};
}

bool serve_reply_condition(serve_request *r, const char *tag, int64_t modified) {
    const serve_conditions conditions = conditions_of(r);
    const serve_version version = {.tag = *tag ? tag : NULL, .modified = modified};
    const int status = serve_conditions_check(&conditions, &version);
    if (!status) return false;
    struct MHD_Response *response = of_nothing(r);
    if (response && *tag) {
        add(r, response, "ETag", tag);
        add_age(r, response, true);
    }
    queue(r, (unsigned)status, response, 0);
    return true;
}

/* --- answers --- */

static void release_blob(void *blob) { serve_blob_release(blob); }

void serve_reply_answer(serve_request *r, const serve_answer *answer, const char *tag,
                        const serve_file *file) {
    serve_blob *blob = answer->body;
    char date[SERVE_DATE_BYTES];
    if (!blob) {
        serve_reply_text(r, 503, "the server has no memory left: try again");
        return;
    }
    struct MHD_Response *response =
        r->server->mhd->MHD_create_response_from_buffer_with_free_callback_cls(
            blob->size, blob->bytes, release_blob, blob);
    if (!response) return;
    serve_blob_hold(blob);
    const bool is_final = answer->is_final && answer->status == 200;
    add(r, response, "Content-Type", answer->type);
    if (*answer->link) add(r, response, "Link", answer->link);
    if (answer->status == 503) add(r, response, "Retry-After", "1");
    if (is_final && *tag) add(r, response, "ETag", tag);
    if (is_final && file) {
        serve_date_write(file->modified_ns / 1000000000, date);
        add(r, response, "Last-Modified", date);
    }
    if (answer->status == 200 && !answer->is_final)
        add(r, response, "Cache-Control", "no-cache");
    else
        add_age(r, response, is_final);
    queue(r, answer->status, response, blob->size);
}

/* --- files --- */

/* A file, or a prefix of it, for one request. */
typedef struct content {
    serve_file *file;
    uint64_t size;
    char tag[SERVE_TAG_BYTES + 24];
    bool is_growing; /* size is that of the whole, of which a part is here */
    char total[24];  /* size as text */
} content;

static void add_fields(serve_request *r, struct MHD_Response *response, const content *c,
                       const char *type) {
    char date[SERVE_DATE_BYTES];
    serve_date_write(c->file->modified_ns / 1000000000, date);
    add(r, response, "Content-Type", type);
    add(r, response, "Accept-Ranges", "bytes");
    if (!c->is_growing) {
        add(r, response, "Last-Modified", date);
        add(r, response, "ETag", c->tag);
    }
    add_age(r, response, !c->is_growing);
}

/* n bytes from `first` on: read at once if they are few, else by the system (sendfile), which does
 * not mind if the file shrinks. */
static struct MHD_Response *of_file(serve_request *r, const content *c, uint64_t first,
                                    uint64_t n) {
    if (c->is_growing) return serve_live_response(r, c->file, first, n);
    if (n <= SMALL) {
        char *bytes = malloc(n ? (size_t)n : 1);
        if (!bytes) return NULL;
        if (serve_file_read(c->file, first, bytes, (size_t)n) == (int64_t)n)
            return of_bytes(r, bytes, (size_t)n);
        free(bytes);
        return NULL;
    }
    const int descriptor = dup(c->file->descriptor);
    if (descriptor < 0) return NULL;
    struct MHD_Response *response =
        r->server->mhd->MHD_create_response_from_fd_at_offset64(n, descriptor, first);
    if (!response) close(descriptor);
    return response;
}

static void send_range(serve_request *r, const content *c, const serve_range *range) {
    char text[80];
    const uint64_t n = range->last - range->first + 1;
    struct MHD_Response *response = of_file(r, c, range->first, n);
    if (!response) {
        serve_reply_text(r, 503, "the file cannot be read now: try again");
        return;
    }
    snprintf(text, sizeof text, "bytes %llu-%llu/%s", (unsigned long long)range->first,
             (unsigned long long)range->last, c->total);
    add(r, response, "Content-Range", text);
    add_fields(r, response, c, c->file->type);
    queue(r, 206, response, n);
}

static void send_whole(serve_request *r, const content *c) {
    struct MHD_Response *response = of_file(r, c, 0, c->size);
    if (!response) {
        serve_reply_text(r, 503, "the file cannot be read now: try again");
        return;
    }
    add_fields(r, response, c, c->file->type);
    queue(r, 200, response, c->size);
}

static void send_outside(serve_request *r, const content *c, const char *text) {
    char range[40];
    char *line = strdup(text);
    struct MHD_Response *response = line ? of_bytes(r, line, strlen(line)) : NULL;
    if (response) {
        snprintf(range, sizeof range, "bytes */%s", c->total);
        add(r, response, "Content-Range", range);
        add(r, response, "Content-Type", "text/plain; charset=utf-8");
        add(r, response, "Cache-Control", "no-store");
    }
    queue(r, 416, response, strlen(text));
}

/* --- several ranges: multipart/byteranges --- */

typedef struct parts {
    serve_file *file;
    size_t n;
    serve_range range[SERVE_MOST_RANGES];
    char head[SERVE_MOST_RANGES][PART_HEAD]; /* what comes before each */
    char tail[64];                           /* and behind the last */
} parts;

static void free_parts(void *user) {
    parts *p = user;
    serve_file_release(p->file);
    free(p);
}

/* Bytes of a text from *at on, where *at counts down as texts are passed. */
static size_t copy_text(const char *text, uint64_t *at, char *to, size_t room) {
    const size_t n = strlen(text);
    if (*at >= n) {
        *at -= n;
        return 0;
    }
    const size_t count = n - (size_t)*at < room ? n - (size_t)*at : room;
    memcpy(to, text + *at, count);
    return count;
}

static ssize_t read_parts(void *user, uint64_t at, char *to, size_t room) {
    const parts *p = user;
    for (size_t i = 0; i < p->n; i++) {
        const size_t count = copy_text(p->head[i], &at, to, room);
        if (count) return (ssize_t)count;
        const uint64_t size = p->range[i].last - p->range[i].first + 1;
        if (at < size) {
            const size_t n = size - at < room ? (size_t)(size - at) : room;
            const int64_t got = serve_file_read(p->file, p->range[i].first + at, to, n);
            return got > 0 ? (ssize_t)got : MHD_CONTENT_READER_END_WITH_ERROR;
        }
        at -= size;
    }
    const size_t count = copy_text(p->tail, &at, to, room);
    return count ? (ssize_t)count : MHD_CONTENT_READER_END_OF_STREAM;
}

static void send_parts(serve_request *r, const content *c, const serve_range *range, size_t n) {
    static const char boundary[] = "taper-7d4c1f0b9a3e52686f1c2e90";
    parts *p = calloc(1, sizeof *p);
    if (!p) return;
    uint64_t size = 0;
    serve_file_hold(p->file = c->file);
    p->n = n;
    for (size_t i = 0; i < n; i++) {
        p->range[i] = range[i];
        snprintf(p->head[i], PART_HEAD,
                 "\r\n--%s\r\nContent-Type: %s\r\nContent-Range: bytes %llu-%llu/%s\r\n\r\n",
                 boundary, c->file->type, (unsigned long long)range[i].first,
                 (unsigned long long)range[i].last, c->total);
        size += strlen(p->head[i]) + range[i].last - range[i].first + 1;
    }
    snprintf(p->tail, sizeof p->tail, "\r\n--%s--\r\n", boundary);
    size += strlen(p->tail);
    struct MHD_Response *response =
        r->server->mhd->MHD_create_response_from_callback(size, BLOCK, read_parts, p, free_parts);
    if (!response) {
        free_parts(p);
        return;
    }
    char type[96];
    snprintf(type, sizeof type, "multipart/byteranges; boundary=%s", boundary);
    add_fields(r, response, c, type);
    queue(r, 206, response, size);
}

/* --- what is asked of a file --- */

static void send_ranges(serve_request *r, const content *c, const char *asked) {
    serve_range range[SERVE_MOST_RANGES];
    size_t n;
    switch (serve_ranges_read(asked, c->size, r->server->options->ranges, range, &n)) {
    case SERVE_RANGES_IGNORED: send_whole(r, c); break;
    case SERVE_RANGES_OUTSIDE: send_outside(r, c, "no range is within the file\n"); break;
    case SERVE_RANGES_TOO_MANY: send_outside(r, c, "too many ranges\n"); break;
    case SERVE_RANGES_HERE:
        if (n == 1)
            send_range(r, c, range);
        else if (c->is_growing)
            send_whole(r, c);
        else
            send_parts(r, c, range, n);
    }
}

/* A container that is shorter than its front matter says is growing, with --live. */
static bool is_growing(const serve_request *r, const serve_file *file) {
    return r->server->options->is_live && atomic_load(&file->total) > file->size;
}

void serve_reply_file(serve_request *r, serve_file *file, const serve_query *query) {
    content c = {.file = file, .size = file->size, .is_growing = is_growing(r, file)};
    const int64_t modified = file->modified_ns / 1000000000;
    if (c.is_growing) c.size = atomic_load(&file->total);
    snprintf(c.tag, sizeof c.tag, "%s", file->tag);
    if (query->bytes && query->bytes < c.size) {
        c.size = query->bytes;
        if (c.size <= file->size) c.is_growing = false;
        snprintf(c.tag + strlen(c.tag) - 1, 24, ".%llx\"", (unsigned long long)c.size);
    }
    snprintf(c.total, sizeof c.total, "%llu", (unsigned long long)c.size);
    const serve_conditions conditions = conditions_of(r);
    const serve_version version = {.tag = c.is_growing ? NULL : c.tag, .modified = modified};
    if (!c.is_growing && serve_reply_condition(r, c.tag, modified)) return;
    const char *asked = !strcmp(r->method, "GET") ? field(r, "Range") : NULL;
    if (asked && serve_range_applies(&conditions, &version, (int64_t)time(NULL)))
        send_ranges(r, &c, asked);
    else
        send_whole(r, &c);
}
#endif
