/* strips.c -- see strips.h. */
#include "codec/bitplane/strips.h"
#include "codec/backend/pool.h"
#include <stdlib.h>
#include <string.h>

uint32_t codec_strips_most(uint64_t windows) {
    uint64_t n = 0; /* the root, bit by bit */
    for (uint64_t bit = (uint64_t)1 << 27; bit; bit >>= 1)
        if ((n + bit) * (n + bit) <= windows / CODEC_STRIP_WINDOWS) n += bit;
    return n ? (uint32_t)n : 1;
}

uint32_t codec_strips_count(const codec_grid *grid, size_t n_images) {
    if (n_images != 1) return 1;
    uint32_t most = codec_strips_most((uint64_t)grid->columns * grid->rows),
             rows = grid->rows / CODEC_STRIP_ROWS;
    return most < rows ? most : rows ? rows : 1;
}

/* --- memory ------------------------------------------------------------------------------- */

uint64_t codec_strips_bytes(const codec_code_tables *t, uint64_t windows) {
    uint64_t all = codec_chunk_coder_bytes(t, windows), n = codec_strips_most(windows);
    if (n < 2 || all == UINT64_MAX) return all;
    /* Each strip has its probabilities, and up to 47 positions more than windows. */
    uint64_t more = codec_chunk_coder_bytes(t, 32) + sizeof(codec_chunk_coder) +
                    sizeof(codec_rc_decoder) + sizeof(uint32_t) + codec_interleaved_bytes(1);
    return all + n * more;
}

uint64_t codec_strips_coding_bytes(const codec_strips *strips) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < strips->n; i++)
        bytes +=
            codec_chunk_coder_coding_bytes(strips->coder[i].group.tables, strips->coder[i].group.n);
    return bytes;
}

static int take_lists(codec_strips *strips, uint32_t n, formats_account *account) {
    strips->coder = calloc(n, sizeof *strips->coder);
    strips->first = calloc((size_t)n + 1, sizeof *strips->first);
    strips->rc = calloc(n, sizeof *strips->rc);
    return strips->coder && strips->first && strips->rc &&
           (n == 1 || codec_interleaved_open(&strips->segments, n, account) == TAPER_OK);
}

/* Open the coder of strip i. */
static taper_status open_strip(codec_strips *strips, uint32_t i, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error) {
    codec_chunk_coder *c = &strips->coder[i];
    const uint32_t row = codec_strip_row(*grid, strips->n, i),
                   end = codec_strip_row(*grid, strips->n, i + 1);
    const codec_grid part = {grid->columns, end - row};
    TAPER_TRY(strips->n == 1 ? codec_chunk_coder_open(c, tables, grid, n_images, error)
                             : codec_chunk_coder_open(c, tables, &part, 1, error));
    strips->first[i + 1] = strips->first[i] + c->group.n;
    return TAPER_OK;
}

/* What only coding needs is allocated behind the rest of all strips, and the norms side by side:
 * they are freed before rendering, and the picture then fits in their place. */
taper_status codec_strips_alloc(codec_strips *strips, const codec_code_tables *tables,
                                const codec_grid *grid, size_t n_images, formats_account *account,
                                taper_error *error) {
    const uint32_t n = codec_strips_count(grid, n_images);
    *strips = (codec_strips){0};
    taper_status status = TAPER_OK;
    if (!take_lists(strips, n, account))
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u strips", n);
    else
        strips->n = n;
    for (uint32_t i = 0; i < strips->n && status == TAPER_OK; i++)
        status = open_strip(strips, i, tables, grid, n_images, error);
    for (uint32_t i = 0; i < strips->n && status == TAPER_OK; i++)
        status = codec_group_begin_coding(&strips->coder[i].group, error);
    for (uint32_t i = 0; i < strips->n && status == TAPER_OK; i++)
        status = codec_chunk_coder_begin_contexts(&strips->coder[i], error);
    if (status != TAPER_OK) codec_strips_free(strips);
    return status;
}

void codec_strips_free(codec_strips *strips) {
    if (!strips) return;
    for (uint32_t i = 0; i < strips->n; i++) codec_chunk_coder_free(&strips->coder[i]);
    if (strips->segments.n) codec_interleaved_close(&strips->segments);
    free(strips->coder), free(strips->first), free(strips->rc);
    *strips = (codec_strips){0};
}

void codec_strips_reset(codec_strips *strips) {
    for (uint32_t i = 0; i < strips->n; i++) codec_chunk_coder_reset(&strips->coder[i]);
    codec_strips_end_chunk(strips);
}

void codec_strips_end_coding(codec_strips *strips) {
    if (strips->segments.n) codec_interleaved_close(&strips->segments);
    for (uint32_t i = 0; i < strips->n; i++) codec_chunk_coder_end_coding(&strips->coder[i]);
}

uint32_t codec_strip_of(const codec_strips *strips, uint32_t window) {
    uint32_t low = 0, high = strips->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (strips->first[middle] <= window)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const codec_group *codec_strips_last(const codec_strips *strips) {
    const codec_group *last = &strips->coder[0].group;
    for (uint32_t i = 1; i < strips->n; i++)
        if (strips->coder[i].group.pass < last->pass) last = &strips->coder[i].group;
    return last;
}

/* --- encoding ----------------------------------------------------------------------------- */

/* Segments of a chunk: each has at least LEAST bytes a strip and a quarter of what was written
 * before, and ends after a multiple of STEP passes. After MOST_SEGMENTS the last takes the rest. */
enum { STEP = 8, LEAST = 1024, MOST_SEGMENTS = 96 };

/* The strings of a chunk while they are encoded. */
typedef struct strings {
    uint32_t n, segments;
    formats_buffer *string; /* [n] */
    codec_rc_encoder *rc;   /* [n] */
    uint64_t *mark;         /* [MOST_SEGMENTS + 1][n] where segments end, after zeros */
    uint64_t before;        /* bytes of the container's data before the chunk */
} strings;

static taper_status open_strings(strings *s, uint32_t n, uint64_t before) {
    *s = (strings){.n = n, .before = before};
    s->string = calloc(n, sizeof *s->string);
    s->rc = calloc(n, sizeof *s->rc);
    s->mark = calloc((size_t)n * (MOST_SEGMENTS + 1), sizeof *s->mark);
    if (!s->string || !s->rc || !s->mark) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        s->string[i] = formats_buffer_make(FORMATS_MOST_BYTES);
        codec_rc_encoder_init(&s->rc[i], &s->string[i]);
    }
    return TAPER_OK;
}

static void close_strings(strings *s) {
    for (uint32_t i = 0; s->string && i < s->n; i++) formats_buffer_free(&s->string[i]);
    free(s->string), free(s->rc), free(s->mark);
}

static uint64_t *mark_of(const strings *s, uint32_t segment) {
    return s->mark + (size_t)segment * s->n;
}

static uint64_t bytes_at(const strings *s, uint32_t segment) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += mark_of(s, segment)[i];
    return sum;
}

/* End a segment here. */
static void end_segment(strings *s) {
    s->segments++;
    for (uint32_t i = 0; i < s->n; i++) mark_of(s, s->segments)[i] = s->string[i].size;
}

/* End a segment if it is long enough. */
static void end_long_segment(strings *s) {
    uint64_t sum = 0, written = bytes_at(s, s->segments);
    for (uint32_t i = 0; i < s->n; i++) sum += s->string[i].size;
    uint64_t least = (uint64_t)LEAST * s->n, part = (s->before + written) / 4;
    if (s->segments + 1 < MOST_SEGMENTS && sum - written >= (part > least ? part : least))
        end_segment(s);
}

/* Nonzero if what is still to be encoded cannot change a byte of the segments: a carry ends at the
 * first byte below 255. */
static int segments_are_final(const strings *s) {
    const uint64_t *mark = mark_of(s, s->segments);
    for (uint32_t i = 0; i < s->n; i++) {
        const formats_buffer *string = &s->string[i];
        uint64_t at = mark[i];
        while (at < string->size && string->data[at] == 255) at++;
        if (at == string->size) return 0;
    }
    return 1;
}

static taper_status write_segments(const strings *s, formats_buffer *out) {
    for (uint32_t k = 0; k < s->segments; k++)
        TAPER_TRY(codec_segment_write(s->string, mark_of(s, k), mark_of(s, k + 1), s->n, out));
    return out->status;
}

/* Encode the passes of all strips, until the segments have more than `most` bytes; 0: all. */
static taper_status encode_strings(codec_strips *strips, strings *s, const int16_t *code,
                                   uint32_t end, uint64_t most, int *ended) {
    for (uint32_t pass = strips->coder->group.pass; pass < end && !*ended;) {
        pass = end - pass < STEP ? end : pass + STEP;
        for (uint32_t i = 0; i < strips->n; i++)
            TAPER_TRY(codec_chunk_encode_passes(&strips->coder[i], code + strips->first[i], pass,
                                                &s->rc[i], NULL));
        end_long_segment(s);
        *ended = most && bytes_at(s, s->segments) > most && segments_are_final(s);
    }
    return TAPER_OK;
}

static taper_status encode_strips(codec_strips *strips, strings *s, const int16_t *code,
                                  uint32_t end, uint64_t most, formats_buffer *out, int *ended) {
    TAPER_TRY(encode_strings(strips, s, code, end, most, ended));
    for (uint32_t i = 0; i < strips->n; i++) {
        codec_rc_encoder_finish(&s->rc[i]);
        TAPER_TRY(s->string[i].status);
    }
    if (!*ended) { /* the rest; without bytes there is no segment */
        uint64_t written = bytes_at(s, s->segments);
        end_segment(s);
        if (bytes_at(s, s->segments) == written) s->segments--;
    }
    return write_segments(s, out);
}

taper_status codec_strips_encode(codec_strips *strips, const int16_t *code, size_t stride,
                                 uint32_t end, uint64_t most, formats_buffer *out, int *ended) {
    strings s;
    *ended = 0;
    for (uint32_t i = 0; i < strips->n; i++) strips->coder[i].code_stride = stride;
    if (strips->n == 1) return codec_chunk_encode(strips->coder, code, end, out, NULL);
    taper_status status = open_strings(&s, strips->n, out->size);
    if (status == TAPER_OK)
        status = encode_strips(strips, &s, code, end,
                               most > out->size ? most - out->size : most != 0, out, ended);
    close_strings(&s);
    return status;
}

/* --- decoding ----------------------------------------------------------------------------- */

typedef struct decode_task {
    codec_strips *strips;
    uint32_t end;
} decode_task;

static void decode_strip(void *context, size_t i) {
    const decode_task *t = context;
    codec_chunk_decode(&t->strips->coder[i], &t->strips->rc[i], t->end);
}

static void set_string(codec_strips *strips, uint32_t i, const uint8_t *bytes, size_t size,
                       int whole) {
    if (strips->started)
        codec_rc_decoder_extend(&strips->rc[i], bytes, size, whole);
    else
        codec_rc_decoder_init(&strips->rc[i], bytes, size, whole);
}

taper_status codec_strips_decode(codec_strips *strips, codec_chunk_bytes chunk, uint32_t end) {
    decode_task task = {strips, end};
    if (strips->n == 1) {
        set_string(strips, 0, chunk.bytes, chunk.size, chunk.whole);
        strips->coder->contexts.pool = strips->pool;
    } else {
        TAPER_TRY(codec_interleaved_read(&strips->segments, chunk.bytes, chunk.size));
        for (uint32_t i = 0; i < strips->n; i++)
            set_string(strips, i, strips->segments.string[i].data, strips->segments.string[i].size,
                       chunk.whole);
    }
    strips->started = 1;
    codec_pool_run(strips->pool, decode_strip, &task, strips->n);
    return TAPER_OK;
}

void codec_strips_end_chunk(codec_strips *strips) {
    strips->started = 0;
    if (strips->n > 1) codec_interleaved_clear(&strips->segments);
}

int codec_strips_are_plausible(const codec_strips *strips, uint32_t end, uint64_t size) {
    uint64_t least = 0;
    for (uint32_t i = 0; i < strips->n; i++)
        least += codec_chunk_least_bytes(&strips->coder[i].group, end);
    return least <= size + (uint64_t)CODEC_CHUNK_TRIMMED * strips->n;
}
