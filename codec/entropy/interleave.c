/* interleave.c -- see interleave.h. */
#include "codec/entropy/interleave.h"
#include <string.h>

/* Where the piece of this round begins, in a string of this length. length <= CODEC_SEGMENT_MOST,
 * and there are at most as many rounds as two times the mean length: the product fits. */
static uint64_t piece_at(uint64_t round, uint64_t rounds, uint64_t length) {
    return round * length / rounds;
}

static uint64_t rounds_of(uint64_t total, uint32_t n) {
    const uint64_t in_round = (uint64_t)CODEC_SEGMENT_PIECE * n;
    return (total + in_round - 1) / in_round;
}

/* --- writing ------------------------------------------------------------------------------ */

taper_status codec_segment_write(const formats_buffer *string, const uint64_t *from,
                                 const uint64_t *to, uint32_t n, formats_buffer *out) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        formats_write_varint(out, to[i] - from[i]);
        total += to[i] - from[i];
    }
    const uint64_t rounds = rounds_of(total, n);
    for (uint64_t r = 0; r < rounds; r++)
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t length = to[i] - from[i], at = piece_at(r, rounds, length),
                           end = piece_at(r + 1, rounds, length);
            if (end > at)
                formats_write_bytes(out, string[i].data + from[i] + at, (size_t)(end - at));
        }
    return out->status;
}

/* --- reading ------------------------------------------------------------------------------ */

void codec_interleaved_lay_out(codec_interleaved *s, uint32_t n, formats_layout *at) {
    *s = (codec_interleaved){.n = n};
    s->string = formats_lay(at, n, sizeof *s->string);
    s->length = formats_lay(at, n, sizeof *s->length);
}

void codec_interleaved_begin(codec_interleaved *s, formats_account *account) {
    s->first = 0, s->end = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
        s->string[i] = formats_buffer_make(FORMATS_MOST_BYTES);
        s->string[i].account = account;
    }
}

void codec_interleaved_end(codec_interleaved *s) {
    for (uint32_t i = 0; i < s->n; i++) formats_buffer_free(&s->string[i]);
    *s = (codec_interleaved){0};
}

void codec_interleaved_clear(codec_interleaved *s) {
    for (uint32_t i = 0; i < s->n; i++) formats_buffer_clear(&s->string[i]);
    s->rounds = s->round = 0;
    s->which = s->taken = 0;
    s->at = 0;
    s->bad = 0;
}

/* Read the lengths of the next segment. Returns 0 if they are incomplete, or not legal. */
static int read_lengths(codec_interleaved *s, const uint8_t *bytes, size_t size) {
    formats_cursor in = formats_cursor_over(bytes + s->at, size - s->at);
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        s->length[i] = (uint32_t)formats_read_varint_max(&in, CODEC_SEGMENT_MOST);
        total += s->length[i];
    }
    s->bad = in.status == TAPER_ERR_CORRUPT || (in.status == TAPER_OK && !total);
    if (in.status != TAPER_OK || s->bad) return 0;
    s->at += in.at;
    s->rounds = rounds_of(total, s->n);
    s->round = 0;
    s->which = s->taken = 0;
    return 1;
}

/* Take the next piece of a string, or what is known of it. */
static taper_status take_piece(codec_interleaved *s, const uint8_t *bytes, size_t size) {
    const uint64_t length = s->length[s->which], piece = piece_at(s->round + 1, s->rounds, length) -
                                                         piece_at(s->round, s->rounds, length);
    const uint64_t left = piece - s->taken;
    const size_t n = left < size - s->at ? (size_t)left : size - s->at;
    const int is_kept = s->which >= s->first && s->which < s->end;
    if (n && is_kept) TAPER_TRY(formats_write_bytes(&s->string[s->which], bytes + s->at, n));
    s->at += n;
    s->taken += (uint32_t)n;
    if (n < left) return TAPER_OK;
    s->taken = 0;
    if (++s->which < s->n) return TAPER_OK;
    s->which = 0;
    if (++s->round == s->rounds) s->rounds = 0;
    return TAPER_OK;
}

taper_status codec_interleaved_read(codec_interleaved *s, const uint8_t *bytes, size_t size) {
    while (s->at < size && !s->bad) {
        if (!s->rounds && !read_lengths(s, bytes, size)) return TAPER_OK;
        while (s->rounds && s->at < size) TAPER_TRY(take_piece(s, bytes, size));
    }
    return TAPER_OK;
}
