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
 * then fits in their place. So have levels, which are packed while other images are in work. */
static void lay_out(codec_strips *s, const codec_code_tables *tables, codec_group_shape shape,
                    codec_group_layout *at) {
    const int one = shape.images == 1;
    const codec_grid grid = {shape.columns, one ? (uint32_t)(shape.windows / shape.columns) : 0};
    const uint32_t n = one ? codec_strips_count(&grid, 1) : 1;
    s->n = n;
    s->coder = formats_lay(&at->core, n, sizeof *s->coder);
    s->first = formats_lay(&at->core, n + (uint64_t)1, sizeof *s->first);
    s->rc = formats_lay(&at->core, n, sizeof *s->rc);
    if (n > 1) codec_interleaved_lay_out(&s->segments, n, &at->core);
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
        strips->shape = shape;
        begin(strips, grid, n_images, account);
    } else
        *strips = (codec_strips){0};
    return status;
}

/* Set the arrays again, of which some are without memory now. */
static void lay_out_again(codec_strips *s, codec_group_layout *at) {
    const codec_interleaved segments = s->segments;
    at->core = (formats_layout){.memory = s->blocks.core.memory};
    lay_out(s, s->coder->group.tables, s->shape, at);
    s->segments = segments;
}

taper_status codec_strips_take(codec_strips *s, int for_coding) {
    codec_strips counted = {0};
    codec_group_layout at = {0};
    codec_group_blocks *b = &s->blocks;
    formats_account *account = b->core.account;
    const int has_levels = codec_strips_have_levels(s);
    lay_out(&counted, s->coder->group.tables, s->shape, &at);
    if (has_levels)
        at.levels = (formats_layout){.memory = b->levels.memory};
    else
        TAPER_TRY(formats_block_take(&b->levels, &at.levels, account));
    taper_status status = TAPER_OK;
    if (for_coding) status = formats_block_take(&b->coding, &at.coding, account);
    if (for_coding && status == TAPER_OK)
        status = formats_block_take_unset(&b->unset, &at.unset, account);
    if (status != TAPER_OK) {
        formats_block_free(&b->coding);
        if (!has_levels) formats_block_free(&b->levels);
        return status;
    }
    if (!for_coding) at.coding = at.unset = (formats_layout){0};
    lay_out_again(s, &at);
    return TAPER_OK;
}

void codec_strips_give(codec_strips *s) {
    codec_group_layout at = {0};
    codec_group_end_coding(&s->blocks);
    formats_block_free(&s->blocks.levels);
    lay_out_again(s, &at);
}

void codec_strips_free(codec_strips *strips) {
    if (!strips) return;
    formats_block_free(&strips->parked);
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
    strips->rc = NULL, strips->coding_at = 0;
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
 * before, and ends after a multiple of CODEC_STRIPS_STEP passes. After MOST_SEGMENTS the last takes
 * the rest. */
enum { LEAST = 1024, MOST_SEGMENTS = 96 };

/* The segments of a chunk while it is encoded. */
typedef struct segmenting {
    uint32_t n, segments;
    uint64_t *mark;  /* [MOST_SEGMENTS + 1][n] where segments end, after zeros */
    uint64_t before; /* bytes of the container's data before the chunk */
    uint64_t most;   /* see codec_strips_encode; of this chunk */
    int ended;
} segmenting;

static uint64_t *mark_of(const segmenting *s, uint32_t segment) {
    return s->mark + (size_t)segment * s->n;
}

static uint64_t bytes_at(const segmenting *s, uint32_t segment) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += mark_of(s, segment)[i];
    return sum;
}

/* End a segment here. */
static void end_segment(segmenting *s, const codec_strip_sizes *now) {
    s->segments++;
    for (uint32_t i = 0; i < s->n; i++) mark_of(s, s->segments)[i] = now[i].size;
}

/* Nonzero if what is still to be encoded cannot change a byte of the segments: a carry ends at the
 * first byte below 255. */
static int segments_are_final(const segmenting *s, const codec_strip_sizes *now) {
    for (uint32_t i = 0; i < s->n; i++)
        if (now[i].below <= mark_of(s, s->segments)[i]) return 0;
    return 1;
}

/* All strips have the same passes, and strings of these sizes: end a segment if it is long enough,
 * and the chunk if it is. */
static void take_sizes(segmenting *s, const codec_strip_sizes *now) {
    uint64_t sum = 0, written = bytes_at(s, s->segments);
    for (uint32_t i = 0; i < s->n; i++) sum += now[i].size;
    uint64_t least = (uint64_t)LEAST * s->n, part = (s->before + written) / 4;
    if (s->segments + 1 < MOST_SEGMENTS && sum - written >= (part > least ? part : least))
        end_segment(s, now);
    s->ended = s->most && bytes_at(s, s->segments) > s->most && segments_are_final(s, now);
}

/* All passes are encoded. The rest is a segment; without bytes there is none. */
static void take_rest(segmenting *s, const formats_buffer *string) {
    uint64_t written = bytes_at(s, s->segments);
    s->segments++;
    for (uint32_t i = 0; i < s->n; i++) mark_of(s, s->segments)[i] = string[i].size;
    if (bytes_at(s, s->segments) == written) s->segments--;
}

static taper_status write_segments(const segmenting *s, const formats_buffer *string,
                                   formats_buffer *out) {
    for (uint32_t k = 0; k < s->segments; k++)
        TAPER_TRY(codec_segment_write(string, mark_of(s, k), mark_of(s, k + 1), s->n, out));
    return out->status;
}

static taper_status open_segments(segmenting *s, uint32_t n, uint64_t most, uint64_t before) {
    *s = (segmenting){.n = n, .before = before, .most = most > before ? most - before : most != 0};
    s->mark = calloc((size_t)n * (MOST_SEGMENTS + 1), sizeof *s->mark);
    return s->mark ? TAPER_OK : TAPER_ERR_NOMEM;
}

codec_strip_sizes codec_strip_sizes_of(const formats_buffer *string) {
    uint64_t below = string->size;
    while (below && string->data[below - 1] == 255) below--;
    return (codec_strip_sizes){string->size, below};
}

taper_status codec_strips_join(const codec_encoded_strips *of, uint64_t most, formats_buffer *out,
                               int *ended) {
    segmenting s;
    TAPER_TRY(open_segments(&s, of->n, most, out->size));
    for (uint32_t step = 0; step < of->steps && !s.ended; step++)
        take_sizes(&s, of->sizes + (size_t)step * of->n);
    if (!s.ended) take_rest(&s, of->string);
    const taper_status status = write_segments(&s, of->string, out);
    *ended = s.ended;
    free(s.mark);
    return status;
}

/* The strings of a chunk while they are encoded. */
typedef struct strings {
    segmenting segments;
    formats_buffer *string;  /* [n] */
    codec_rc_encoder *rc;    /* [n] */
    codec_strip_sizes *size; /* [n] */
} strings;

static taper_status open_strings(strings *s, uint32_t n, uint64_t most, uint64_t before) {
    *s = (strings){0};
    TAPER_TRY(open_segments(&s->segments, n, most, before));
    s->string = calloc(n, sizeof *s->string);
    s->rc = calloc(n, sizeof *s->rc);
    s->size = calloc(n, sizeof *s->size);
    if (!s->string || !s->rc || !s->size) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        s->string[i] = formats_buffer_make(FORMATS_MOST_BYTES);
        codec_rc_encoder_init(&s->rc[i], &s->string[i]);
    }
    return TAPER_OK;
}

static void close_strings(strings *s) {
    for (uint32_t i = 0; s->string && i < s->segments.n; i++) formats_buffer_free(&s->string[i]);
    free(s->string), free(s->rc), free(s->size), free(s->segments.mark);
}

/* Encode the passes of all strips, until the limit of the segments ends it. */
static taper_status encode_strings(codec_strips *strips, strings *s, const int16_t *code,
                                   uint32_t end) {
    for (uint32_t pass = strips->coder->group.pass; pass < end && !s->segments.ended;) {
        pass = end - pass < CODEC_STRIPS_STEP ? end : pass + CODEC_STRIPS_STEP;
        for (uint32_t i = 0; i < strips->n; i++) {
            TAPER_TRY(codec_chunk_encode_passes(&strips->coder[i], code + strips->first[i], pass,
                                                &s->rc[i], NULL));
            s->size[i] = codec_strip_sizes_of(&s->string[i]);
        }
        take_sizes(&s->segments, s->size);
    }
    return TAPER_OK;
}

static taper_status encode_strips(codec_strips *strips, strings *s, const int16_t *code,
                                  uint32_t end, formats_buffer *out) {
    TAPER_TRY(encode_strings(strips, s, code, end));
    for (uint32_t i = 0; i < strips->n; i++) {
        codec_rc_encoder_finish(&s->rc[i]);
        TAPER_TRY(s->string[i].status);
    }
    if (!s->segments.ended) take_rest(&s->segments, s->string);
    return write_segments(&s->segments, s->string, out);
}

taper_status codec_strips_encode(codec_strips *strips, const int16_t *code, size_t stride,
                                 uint32_t end, uint64_t most, formats_buffer *out, int *ended) {
    strings s;
    *ended = 0;
    for (uint32_t i = 0; i < strips->n; i++) strips->coder[i].code_stride = stride;
    if (strips->n == 1) return codec_chunk_encode(strips->coder, code, end, out, NULL);
    taper_status status = open_strings(&s, strips->n, most, out->size);
    if (status == TAPER_OK) status = encode_strips(strips, &s, code, end, out);
    *ended = s.segments.ended;
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
