/* reading.c -- see reading.h, and remote_prefetch of remote.h. */
#include "remote/reading.h"
#include "formats/file.h"
#include <string.h>

/* Of a read at most two of these are requested at a time: what one reader may take of the cache. */
enum { WINDOW = 1 << 20 };

/* --- requests --- */

/* Nonzero if the page is requested already. */
static int is_coming(const remote_file *f, uint64_t page) {
    for (size_t k = 0; k < REMOTE_MOST_REQUESTS; k++) {
        const remote_request *r = &f->request[k];
        if (r->state != REMOTE_FREE && page >= r->at / REMOTE_PAGE &&
            page < (r->end + REMOTE_PAGE - 1) / REMOTE_PAGE)
            return 1;
    }
    return 0;
}

static int is_missing(const remote_file *f, uint64_t page) {
    return !remote_cache_has(f->cache, page) && !is_coming(f, page);
}

/* Request what is missing of bytes at .. end - 1, in requests of at most `piece` bytes. Returns
 * where that ended: before `end` if the list is full. */
static uint64_t request(remote_file *f, uint64_t at, uint64_t end, uint64_t piece) {
    if (end > f->size) end = f->size;
    const uint64_t last = (end + REMOTE_PAGE - 1) / REMOTE_PAGE;
    for (uint64_t page = at / REMOTE_PAGE; page < last;) {
        if (!is_missing(f, page)) {
            page++;
            continue;
        }
        const uint64_t first = page;
        while (page < last && (page - first) * REMOTE_PAGE < piece && is_missing(f, page)) page++;
        remote_request *r = remote_request_new(f);
        if (!r) return first * REMOTE_PAGE;
        r->at = first * REMOTE_PAGE;
        r->end = page * REMOTE_PAGE < f->size ? page * REMOTE_PAGE : f->size;
        remote_request_begin(f, r);
    }
    return end;
}

/* --- reading ahead --- */

/* The stream that this read continues; or a new one, in place of the oldest. As much is read ahead
 * as was read so far. */
static remote_stream *stream_of(remote_file *f, uint64_t offset, size_t n) {
    remote_stream *oldest = &f->stream[0];
    for (size_t k = 0; k < REMOTE_MOST_STREAMS; k++) {
        remote_stream *s = &f->stream[k];
        if (s->used && offset >= s->end && offset - s->end < REMOTE_LEAST_AHEAD) {
            s->ahead += n;
            if (s->ahead > REMOTE_MOST_AHEAD) s->ahead = REMOTE_MOST_AHEAD;
            s->end = offset + n;
            s->used = ++f->reads;
            return s;
        }
        if (s->used < oldest->used) oldest = s;
    }
    *oldest = (remote_stream){.end = offset + n,
                              .ahead = n < REMOTE_MOST_AHEAD ? n : REMOTE_MOST_AHEAD,
                              .used = ++f->reads};
    return oldest;
}

/* Request what a stream will read next, when half of it is still to come. On slow lines that is
 * what a second brings, as what is needed at once would wait behind it. */
static void read_ahead(remote_file *f, const remote_stream *s) {
    uint64_t ahead = s->ahead;
    if (f->rate && ahead > f->rate) ahead = f->rate;
    if (ahead < REMOTE_LEAST_AHEAD || s->end >= f->expected_end) return;
    const uint64_t end = f->expected_end - s->end < ahead ? f->expected_end : s->end + ahead;
    if (!is_missing(f, (s->end + (end - s->end) / 2) / REMOTE_PAGE)) return;
    unsigned listed = 0;
    for (size_t k = 0; k < REMOTE_MOST_REQUESTS; k++) listed += f->request[k].state != REMOTE_FREE;
    if (listed > 2 * f->how.parallel) return;
    const uint64_t piece = ahead / 4 > 64 << 10 ? ahead / 4 : 64 << 10;
    (void)request(f, s->end, end, piece < REMOTE_PIECE ? piece : REMOTE_PIECE);
}

/* --- reads --- */

/* Copy the bytes that are here, from the first on; returns their number. */
static size_t copy_pages(remote_file *f, uint64_t offset, uint8_t *to, size_t n) {
    size_t done = 0;
    while (done < n) {
        const uint64_t at = offset + done;
        const uint8_t *page = remote_cache_find(f->cache, at / REMOTE_PAGE);
        if (!page) break;
        size_t part = REMOTE_PAGE - (size_t)(at % REMOTE_PAGE);
        if (part > n - done) part = n - done;
        memcpy(to + done, page + at % REMOTE_PAGE, part);
        done += part;
    }
    return done;
}

taper_status remote_read(void *user, uint64_t offset, void *to, size_t n) {
    remote_file *f = user;
    if (f->is_spooled) return formats_descriptor_read_at(fileno(f->spool), offset, to, n);
    pthread_mutex_lock(&f->lock);
    remote_stream stream = *stream_of(f, offset, n);
    int is_late = 0;
    for (size_t done = 0; !is_late;) {
        done += copy_pages(f, offset + done, (uint8_t *)to + done, n - done);
        if (done == n || f->failure.status != TAPER_OK) break;
        /* whole windows, so that what is copied does not let small requests follow */
        const uint64_t end = done - done % WINDOW + 2 * (uint64_t)WINDOW;
        (void)request(f, offset + done, offset + (end < n ? end : n), REMOTE_PIECE);
        if (end >= n) read_ahead(f, &stream);
        is_late = !remote_wait(f);
    }
    if (f->failure.status == TAPER_OK) read_ahead(f, &stream);
    const taper_status status =
        f->failure.status == TAPER_OK && is_late ? TAPER_ERR_TRUNCATED : f->failure.status;
    pthread_mutex_unlock(&f->lock);
    return status;
}

void remote_prefetch(remote_file *f, const taper_range *ranges, size_t n, uint64_t gap) {
    pthread_mutex_lock(&f->lock);
    uint64_t room = f->how.cache_bytes / 2;
    for (size_t k = 0; k < n && room && !f->is_spooled;) {
        uint64_t at = ranges[k].offset, end = at + ranges[k].size;
        for (k++; k < n && ranges[k].offset <= end + gap; k++)
            end = ranges[k].offset + ranges[k].size;
        if (end - at > room) end = at + room;
        room -= end - at;
        while (f->failure.status == TAPER_OK && (at = request(f, at, end, REMOTE_PIECE)) < end &&
               at < f->size && remote_wait(f)) {
        }
    }
    pthread_mutex_unlock(&f->lock);
}

void remote_expect_end(remote_file *f, uint64_t end) {
    pthread_mutex_lock(&f->lock);
    f->expected_end = end < f->size ? end : f->size;
    memset(f->stream, 0, sizeof f->stream);
    pthread_mutex_unlock(&f->lock);
}

void remote_set_deadline(remote_file *f, double seconds) {
    pthread_mutex_lock(&f->lock);
    f->deadline_ms = remote_now_ms() + 1 + (int64_t)(1000 * seconds);
    pthread_mutex_unlock(&f->lock);
}

int remote_is_late(const remote_file *f) {
    return f->deadline_ms && remote_now_ms() >= f->deadline_ms;
}
