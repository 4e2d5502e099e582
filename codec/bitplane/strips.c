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

/* The grid of strip i of an image. */
static codec_grid strip_grid(codec_grid grid, uint32_t strips, uint32_t i) {
    const uint32_t row = codec_strip_row(grid, strips, i);
    return (codec_grid){grid.columns, codec_strip_row(grid, strips, i + 1) - row};
}

/* What only coding needs has blocks of its own: they are freed before rendering, and the picture
 * then fits in their place. */
static void lay_out(codec_strips *s, const codec_code_tables *tables, codec_group_shape shape,
                    codec_group_layout *at) {
    const int one = shape.images == 1;
    const codec_grid grid = {shape.columns, one ? (uint32_t)(shape.windows / shape.columns) : 0};
    const uint32_t n = one ? codec_strips_count(&grid, 1) : 1;
    s->n = n;
    s->coder = formats_lay(&at->kept, n, sizeof *s->coder);
    s->first = formats_lay(&at->kept, n + (uint64_t)1, sizeof *s->first);
    s->rc = formats_lay(&at->coding, n, sizeof *s->rc);
    if (n > 1) codec_interleaved_lay_out(&s->segments, n, &at->coding);
    for (uint32_t i = 0; i < n; i++) {
        codec_chunk_coder counted; /* only what is laid out is set */
        const codec_grid part = strip_grid(grid, n, i);
        if (n > 1) shape = codec_group_shape_of(&part, 1);
        codec_chunk_coder_lay_out(s->coder ? &s->coder[i] : &counted, tables, &shape, at);
    }
}

uint64_t codec_strips_bytes(const codec_code_tables *tables, const codec_group_shape *shape) {
    codec_strips strips = {0};
    codec_group_layout at = {0};
    lay_out(&strips, tables, *shape, &at);
    return codec_group_layout_bytes(&at);
}

static void begin(codec_strips *s, const codec_grid *grid, size_t n_images,
                  formats_account *account) {
    codec_interleaved_begin(&s->segments, account);
    for (uint32_t i = 0; i < s->n; i++) {
        const codec_grid part = strip_grid(*grid, s->n, i);
        codec_chunk_coder_begin(&s->coder[i], s->n > 1 ? &part : grid, s->n > 1 ? 1 : n_images);
        s->first[i + 1] = s->first[i] + s->coder[i].group.n;
    }
}

taper_status codec_strips_alloc(codec_strips *strips, const codec_code_tables *tables,
                                const codec_grid *grid, size_t n_images, formats_account *account,
                                taper_error *error) {
    const codec_group_shape shape = codec_group_shape_of(grid, n_images);
    codec_group_layout at = {0};
    *strips = (codec_strips){0};
    lay_out(strips, tables, shape, &at);
    taper_status status = codec_group_take(&strips->blocks, &at, &shape, account, error);
    if (status == TAPER_OK) {
        lay_out(strips, tables, shape, &at);
        begin(strips, grid, n_images, account);
    } else
        *strips = (codec_strips){0};
    return status;
}

void codec_strips_free(codec_strips *strips) {
    if (!strips) return;
    codec_interleaved_end(&strips->segments);
    codec_group_release(&strips->blocks);
    *strips = (codec_strips){0};
}

void codec_strips_reset(codec_strips *strips) {
    for (uint32_t i = 0; i < strips->n; i++) codec_chunk_coder_reset(&strips->coder[i]);
    codec_strips_end_chunk(strips);
}

void codec_strips_end_coding(codec_strips *strips) {
    codec_interleaved_end(&strips->segments);
    for (uint32_t i = 0; i < strips->n; i++) codec_chunk_coder_end_coding(&strips->coder[i]);
    codec_group_end_coding(&strips->blocks);
    strips->rc = NULL;
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
