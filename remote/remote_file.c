/* remote_file.c -- see remote_file.h. */
#include "remote/remote_file.h"
#include "remote/url.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRESS = 16 << 10, MOST_WAIT_MS = 10000, RATE_MS = 250 };

int64_t remote_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int remote_wait(remote_file *f) {
    if (!f->deadline_ms) return !pthread_cond_wait(&f->changed, &f->lock);
    if (remote_now_ms() >= f->deadline_ms) return 0;
    const struct timespec end = {.tv_sec = (time_t)(f->deadline_ms / 1000),
                                 .tv_nsec = (long)(f->deadline_ms % 1000) * 1000000};
    (void)pthread_cond_timedwait(&f->changed, &f->lock, &end);
    return 1;
}

void remote_file_fail(remote_file *f, taper_status status, const char *format, ...) {
    if (f->failure.status != TAPER_OK) return;
    va_list args;
    va_start(args, format);
    vsnprintf(f->failure.text, sizeof f->failure.text, format, args);
    va_end(args);
    f->failure.status = status;
    if (f->how.failed) f->how.failed(f->how.user, f->failure.text);
    pthread_cond_broadcast(&f->changed);
}

/* --- the list --- */

remote_request *remote_request_new(remote_file *f) {
    for (size_t k = 0; k < REMOTE_MOST_REQUESTS; k++)
        if (f->request[k].state == REMOTE_FREE) return &f->request[k];
    return NULL;
}

void remote_request_begin(remote_file *f, remote_request *r) {
    r->state = REMOTE_QUEUED;
    r->number = f->numbers++;
    r->tries = 0;
    r->not_before_ms = 0;
    remote_transfers_wake(f->transfers);
}

/* The oldest one that may run now; *wait_ms: until another one may. */
static remote_request *next_request(remote_file *f, int64_t now, int *wait_ms) {
    remote_request *first = NULL;
    for (size_t k = 0; k < REMOTE_MOST_REQUESTS; k++) {
        remote_request *r = &f->request[k];
        if (r->state != REMOTE_QUEUED) continue;
        if (r->not_before_ms > now) {
            if (r->not_before_ms - now < *wait_ms) *wait_ms = (int)(r->not_before_ms - now);
        } else if (!first || r->number < first->number) {
            first = r;
        }
    }
    return first;
}

static void start_requests(remote_file *f, int *wait_ms) {
    const int64_t now = remote_now_ms();
    for (unsigned slot = 0; slot < f->how.parallel; slot++) {
        if (f->in_slot[slot]) continue;
        remote_request *r = next_request(f, now, wait_ms);
        if (!r) return;
        r->state = REMOTE_RUNNING;
        r->slot = slot;
        r->came = 0;
        r->is_refused = 0;
        r->is_moved = f->now != NULL;
        r->answered_end = r->end;
        f->in_slot[slot] = r;
        f->requests++;
        if (!remote_transfers_start(f->transfers, slot, f->now ? f->now : f->url, r->at,
                                    r->end - 1)) {
            f->in_slot[slot] = NULL;
            r->state = REMOTE_FREE;
            remote_file_fail(f, TAPER_ERR_IO, "libcurl does not take this URL; check it");
        }
    }
}

/* --- heads --- */

/* Remember the file by its first answer. */
static void know(remote_file *f, const remote_head *h, uint64_t size) {
    f->head = *h;
    f->size = size;
    f->is_known = 1;
}

static int refuse(remote_file *f, const char *what) {
    remote_file_fail(f, TAPER_ERR_IO, "%s", what);
    return 0;
}

static int changed(remote_file *f) {
    return refuse(f, "the file on the server changed while it was read; run the command again");
}

/* A whole file in place of a range. */
static int take_whole(remote_file *f, remote_request *r, const remote_head *h) {
    if (f->is_known) { /* one server of several, perhaps */
        r->is_refused = 1;
        return 0;
    }
    if (h->is_encoded)
        return refuse(f, "the server compresses the file and serves no ranges; switch off "
                         "compression for it (nginx: gzip off)");
    if (h->has_length && h->length > f->how.most_spool) {
        remote_file_fail(f, TAPER_ERR_LIMIT,
                         "the server serves no ranges, and the file of %llu bytes is above the "
                         "limit of %llu for a file that is read as a whole; download it first",
                         (unsigned long long)h->length, (unsigned long long)f->how.most_spool);
        return 0;
    }
    if (!f->spool && !(f->spool = f->how.spool ? f->how.spool(f->how.user) : tmpfile()))
        return refuse(f, "no temporary file for the answer of a server without ranges; free some "
                         "room, or set TMPDIR");
    rewind(f->spool); /* of an earlier try */
    f->spooled = 0;
    f->head = *h;
    r->end = r->answered_end = UINT64_MAX;
    return 1;
}

static int take_range(remote_file *f, remote_request *r, const remote_head *h) {
    if (h->is_multipart || h->is_bad_range || !h->has_range || h->first != r->at)
        return refuse(f, "the server answers with another range than was asked for; read the file "
                         "with another program, such as curl, and then from there");
    if (!h->has_total)
        return refuse(f, "the server does not tell the length of the file (Content-Range ends in "
                         "/*); read it with curl, and then from there");
    if (h->is_encoded) {
        remote_file_fail(f, TAPER_ERR_IO,
                         "the server compresses ranges (Content-Encoding: %s), whose positions are "
                         "wrong then; switch that off for this file (nginx: gzip off)",
                         h->encoding);
        return 0;
    }
    if (!f->is_known)
        know(f, h, h->total);
    else if (h->total != f->size || !remote_head_is_same(h, &f->head))
        return changed(f);
    if (r->end > f->size) r->end = f->size;
    r->answered_end = h->last + 1 < r->end ? h->last + 1 : r->end;
    return 1;
}

static int is_of_the_moment(int status) {
    return status == 408 || status == 429 || (status >= 500 && status <= 504 && status != 501);
}

static int take_refusal(remote_file *f, remote_request *r, const remote_head *h) {
    const int s = h->status;
    r->is_refused = 1;
    if (r->is_moved) { /* where the redirect led may have expired */
        free(f->now);
        f->now = NULL;
        return 0;
    }
    if (is_of_the_moment(s) && r->tries + 1 < f->how.tries) {
        r->not_before_ms = remote_now_ms() + (int64_t)h->retry_after_s * 1000;
        return 0;
    }
    if (s == 416 && f->is_known) return changed(f);
    if (s == 416) return refuse(f, "the file on the server is empty");
    remote_file_fail(f, TAPER_ERR_IO, "the server answers %d%s", s,
                     s == 404 || s == 410 ? ": there is no such file; check the URL"
                     : s == 401 || s == 403 || s == 407
                         ? ": it refuses access; check the URL and the rights"
                     : is_of_the_moment(s) ? ", after several tries; try again later"
                                           : "; check the URL");
    return 0;
}

static int on_head(void *user, unsigned slot, const remote_head *h) {
    remote_file *f = user;
    pthread_mutex_lock(&f->lock);
    remote_request *r = f->in_slot[slot];
    const int is_fine = h->status == 206   ? take_range(f, r, h)
                        : h->status == 200 ? take_whole(f, r, h)
                                           : take_refusal(f, r, h);
    if (!is_fine) r->is_refused = 1;
    const int is_whole = is_fine && r->end == UINT64_MAX && !f->is_noted;
    f->is_noted |= is_whole;
    pthread_mutex_unlock(&f->lock);
    if (is_whole && f->how.note)
        f->how.note(f->how.user, "the server serves no ranges: the whole file is read");
    return is_fine;
}

/* --- bodies --- */

static int spool(remote_file *f, const void *bytes, size_t n) {
    if (n > f->how.most_spool - f->spooled) {
        remote_file_fail(f, TAPER_ERR_LIMIT,
                         "the server serves no ranges, and the file is above the limit of %llu "
                         "bytes for a file that is read as a whole; download it first",
                         (unsigned long long)f->how.most_spool);
        return 0;
    }
    if (fwrite(bytes, 1, n, f->spool) != n)
        return refuse(f, "cannot write the temporary file of a server without ranges; free some "
                         "room, or set TMPDIR");
    f->spooled += n;
    return 1;
}

/* Take bytes into the page of r->at, and pages that are complete into the cache. */
static int take_bytes(remote_file *f, remote_request *r, const uint8_t *bytes, size_t n) {
    while (n) {
        const size_t in_page = (size_t)(r->at % REMOTE_PAGE);
        size_t part = REMOTE_PAGE - in_page;
        if (part > n) part = n;
        memcpy(r->page + in_page, bytes, part);
        r->at += part, bytes += part, n -= part;
        if (r->at % REMOTE_PAGE && r->at != f->size) break;
        uint8_t *to = remote_cache_add(f->cache, (r->at - 1) / REMOTE_PAGE);
        if (!to) {
            remote_file_fail(f, TAPER_ERR_NOMEM, "no memory for what the server sends");
            return 0;
        }
        memcpy(to, r->page, REMOTE_PAGE);
    }
    return 1;
}

static int on_body(void *user, unsigned slot, const void *bytes, size_t n) {
    remote_file *f = user;
    pthread_mutex_lock(&f->lock);
    remote_request *r = f->in_slot[slot];
    int go_on;
    f->bytes += n;
    f->rate_bytes += n;
    r->came += n;
    if (r->end == UINT64_MAX) {
        go_on = spool(f, bytes, n);
    } else {
        const uint64_t left = r->answered_end - r->at;
        /* what is beyond the range that the server told is nothing that was asked for */
        go_on = take_bytes(f, r, bytes, n < left ? n : (size_t)left) && n <= left;
    }
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return go_on;
}

/* --- ends --- */

/* Try the rest of a request again, later. */
static void try_again(remote_file *f, remote_request *r, const char *why) {
    const uint64_t left = r->end - r->at;
    r->tries = r->came >= PROGRESS || r->came > left / 4 ? 0 : r->tries + 1;
    if (r->tries >= f->how.tries) {
        remote_file_fail(f, TAPER_ERR_IO, "%s", why);
        return;
    }
    int64_t wait = r->tries ? (int64_t)f->how.wait_ms << (r->tries - 1) : 0;
    const int64_t now = remote_now_ms(), told = r->not_before_ms - now;
    if (wait < told) wait = told;
    if (wait > MOST_WAIT_MS) wait = MOST_WAIT_MS;
    r->not_before_ms = now + wait;
    r->state = REMOTE_QUEUED;
}

/* All of a file that the server sent as a whole. */
static void end_whole(remote_file *f, remote_request *r) {
    if (f->head.has_length && f->spooled != f->head.length) {
        r->at = 0, r->end = f->how.first_bytes; /* from the beginning */
        try_again(f, r, "the server ends before the end of the file; try again later");
        return;
    }
    if (fflush(f->spool) != 0) {
        (void)refuse(f, "cannot write the temporary file of a server without ranges; free some "
                        "room, or set TMPDIR");
        return;
    }
    const remote_head head = f->head;
    know(f, &head, f->spooled);
    f->is_spooled = 1;
    r->state = REMOTE_FREE;
}

static void judge(remote_file *f, remote_request *r, remote_ending ending, const char *why) {
    r->state = REMOTE_FREE;
    if (f->failure.status != TAPER_OK) return;
    if (ending == REMOTE_IMPOSSIBLE || (ending == REMOTE_UNREACHABLE && !f->is_known)) {
        (void)refuse(f, why);
    } else if (r->end == UINT64_MAX) {
        if (ending == REMOTE_ENDED) {
            end_whole(f, r);
            return;
        }
        r->at = 0, r->end = f->how.first_bytes;
        try_again(f, r, why);
    } else if (r->at < r->end || !f->is_known) {
        try_again(f, r,
                  ending == REMOTE_BROKEN || ending == REMOTE_UNREACHABLE ? why
                  : r->is_refused
                      ? "the server does not answer with ranges any more; try again later"
                      : "the server sends less than it says; try again later");
    }
}

/* Later requests go where the redirect led. Not with credentials: there they would not be known. */
static void follow(remote_file *f, const char *where) {
    if (f->now || !f->is_known || !remote_is_url(where) || !strcmp(where, f->url) ||
        remote_url_has_credentials(f->url))
        return;
    f->now = strdup(where);
}

static void on_end(void *user, unsigned slot, remote_ending ending, const char *where,
                   const char *why) {
    remote_file *f = user;
    pthread_mutex_lock(&f->lock);
    remote_request *r = f->in_slot[slot];
    f->in_slot[slot] = NULL;
    if (ending == REMOTE_ENDED && !r->is_refused) follow(f, where);
    judge(f, r, ending, why);
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

const remote_listener remote_file_listener = {NULL, on_head, on_body, on_end};

/* --- the thread --- */

static void measure_rate(remote_file *f) {
    const int64_t now = remote_now_ms(), took = now - f->rate_since_ms;
    if (took < RATE_MS) return;
    const uint64_t rate = f->rate_bytes * 1000 / (uint64_t)took;
    if (rate) f->rate = f->rate ? (f->rate + rate) / 2 : rate;
    f->rate_bytes = 0;
    f->rate_since_ms = now;
}

void *remote_file_run(void *file) {
    remote_file *f = file;
    pthread_mutex_lock(&f->lock);
    f->rate_since_ms = remote_now_ms();
    while (!f->closing) {
        int wait_ms = 1000;
        if (f->failure.status == TAPER_OK) start_requests(f, &wait_ms);
        measure_rate(f);
        pthread_mutex_unlock(&f->lock);
        remote_transfers_run(f->transfers, wait_ms);
        pthread_mutex_lock(&f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}
