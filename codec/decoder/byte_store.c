/* byte_store.c -- see byte_store.h. */
#include "codec/decoder/byte_store.h"
#include <stdlib.h>
#include <string.h>

static uint64_t end_of(const codec_byte_piece *p) { return p->at + p->bytes.size; }

/* The first piece that ends at `at` or after it, or n. */
static size_t first_to(const codec_byte_store *s, uint64_t at) {
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (end_of(&s->piece[middle]) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The piece that holds the byte `at`, or, of those behind it, the first; or n. */
static size_t first_from(const codec_byte_store *s, uint64_t at) {
    size_t i = first_to(s, at);
    return i < s->n && end_of(&s->piece[i]) == at ? i + 1 : i;
}

/* Take pieces first .. end - 1 away. */
static void remove_pieces(codec_byte_store *s, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) formats_buffer_free(&s->piece[i].bytes);
    if (end < s->n) memmove(s->piece + first, s->piece + end, (s->n - end) * sizeof *s->piece);
    s->n -= end - first;
}

void codec_byte_store_free(codec_byte_store *s) {
    remove_pieces(s, 0, s->n);
    formats_account_give(s->account, s->capacity * sizeof *s->piece);
    free(s->piece);
    s->piece = NULL;
    s->capacity = 0;
}

/* An empty piece i. */
static taper_status insert_piece(codec_byte_store *s, size_t i, uint64_t at) {
    if (s->n == s->capacity) {
        size_t more = s->capacity / 2 + 4;
        TAPER_TRY(formats_account_take(s->account, more * sizeof *s->piece));
        codec_byte_piece *piece = realloc(s->piece, (s->capacity + more) * sizeof *piece);
        if (!piece) {
            formats_account_give(s->account, more * sizeof *s->piece);
            return TAPER_ERR_NOMEM;
        }
        s->piece = piece;
        s->capacity += more;
    }
    if (i < s->n) memmove(s->piece + i + 1, s->piece + i, (s->n - i) * sizeof *s->piece);
    s->piece[i] = (codec_byte_piece){at, formats_buffer_make(FORMATS_MOST_BYTES)};
    s->piece[i].bytes.account = s->account;
    s->n++;
    return TAPER_OK;
}

/* Make the bytes part of a piece that begins at or before them and has room. */
static void write_over(codec_byte_piece *p, uint64_t at, const uint8_t *bytes, size_t n) {
    size_t from = (size_t)(at - p->at), over = formats_smaller(n, p->bytes.size - from);
    if (over) memcpy(p->bytes.data + from, bytes, over);
    (void)formats_write_bytes(&p->bytes, bytes + over, n - over);
}

taper_status codec_byte_store_put(codec_byte_store *s, uint64_t at, const void *bytes, size_t n,
                                  int *changed) {
    const uint8_t *there;
    uint64_t end = at + n;
    *changed = 0;
    if (!n || (codec_byte_store_run(s, at, &there) >= n && !memcmp(there, bytes, n)))
        return TAPER_OK;
    size_t i = first_to(s, at), last;
    int is_new = i == s->n || s->piece[i].at > at;
    if (is_new) TAPER_TRY(insert_piece(s, i, at));
    for (last = i + 1; last < s->n && s->piece[last].at <= end; last++) continue;
    codec_byte_piece *p = &s->piece[i], *touched = &s->piece[last - 1];
    uint64_t stop = end_of(touched) > end ? end_of(touched) : end;
    taper_status status =
        stop - p->at > FORMATS_MOST_BYTES
            ? TAPER_ERR_LIMIT
            : formats_buffer_reserve(&p->bytes, (size_t)(stop - p->at) - p->bytes.size);
    if (status != TAPER_OK) {
        p->bytes.status = TAPER_OK; /* what it holds is good */
        if (is_new) remove_pieces(s, i, i + 1);
        return status;
    }
    write_over(p, at, bytes, n);
    if (touched != p && end_of(touched) > end)
        write_over(p, end, touched->bytes.data + (end - touched->at),
                   (size_t)(end_of(touched) - end));
    remove_pieces(s, i + 1, last);
    *changed = 1;
    return TAPER_OK;
}

uint64_t codec_byte_store_run(const codec_byte_store *s, uint64_t at, const uint8_t **bytes) {
    size_t i = first_from(s, at);
    if (i == s->n || s->piece[i].at > at) return 0;
    if (bytes) *bytes = s->piece[i].bytes.data + (at - s->piece[i].at);
    return end_of(&s->piece[i]) - at;
}

uint64_t codec_byte_store_next(const codec_byte_store *s, uint64_t at) {
    size_t i = first_from(s, at);
    return i == s->n ? UINT64_MAX : s->piece[i].at > at ? s->piece[i].at : at;
}

uint64_t codec_byte_store_end(const codec_byte_store *s) {
    return s->n ? end_of(&s->piece[s->n - 1]) : 0;
}

void codec_byte_store_keep(codec_byte_store *s, uint64_t first, uint64_t end) {
    remove_pieces(s, 0, first_from(s, first));
    size_t i = first_to(s, end);
    if (i < s->n && s->piece[i].at < end) {
        s->piece[i].bytes.size = (size_t)(end - s->piece[i].at);
        i++;
    }
    remove_pieces(s, i < s->n ? i : s->n, s->n);
    if (!s->n || s->piece[0].at >= first) return;
    codec_byte_piece *p = &s->piece[0];
    size_t before = (size_t)(first - p->at);
    memmove(p->bytes.data, p->bytes.data + before, p->bytes.size - before);
    p->bytes.size -= before;
    p->at = first;
}

taper_status codec_byte_store_read(void *store, uint64_t at, void *to, size_t n) {
    const uint8_t *from;
    if (!n) return TAPER_OK;
    if (codec_byte_store_run(store, at, &from) < n) return TAPER_ERR_TRUNCATED;
    memcpy(to, from, n);
    return TAPER_OK;
}
