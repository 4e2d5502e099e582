/* strip_reader.c -- see strip_reader.h. */
#include "codec/decoder/strip_reader.h"
#include <stdlib.h>
#include <string.h>

/* --- the chunks of the image ---------------------------------------------------------------- */

/* The state of reading: the segments of the current chunk, and how far passes are known where it
 * begins. */
typedef struct reading {
    codec_strip_reader *reader;
    const codec_chunk_source *from;
    uint32_t group;
    const codec_strips_wanted *wanted;
    codec_interleaved segments;
    formats_buffer pending; /* bytes of the chunk that are not taken yet */
    codec_group known;      /* of all strips: depth, fraction and pass; no levels */
    formats_block block;
    taper_error *error;
} reading;

static void lay_out_reading(reading *t, uint32_t units, formats_layout *at) {
    codec_interleaved_lay_out(&t->segments, t->reader->strips, at);
    t->known.depth = formats_lay(at, units, 1);
    t->known.fraction = formats_lay(at, units, 1);
}

/* taper_sink.write: the next bytes of the chunk. */
static taper_status take_bytes(void *user, const void *bytes, size_t n) {
    reading *t = user;
    codec_interleaved *s = &t->segments;
    formats_buffer *pending = &t->pending;
    TAPER_TRY(formats_write_bytes(pending, bytes, n));
    TAPER_TRY(codec_interleaved_read(s, pending->data, pending->size));
    if (s->bad) s->at = pending->size;
    memmove(pending->data, pending->data + s->at, pending->size - s->at);
    pending->size -= s->at;
    s->at = 0;
    return TAPER_OK;
}

static void clear_strings(reading *t) {
    codec_interleaved_clear(&t->segments);
    formats_buffer_clear(&t->pending);
}

static uint32_t last_wanted(const codec_strip_reader *r, uint32_t end) {
    uint32_t most = r->pass_limit < r->known_passes ? r->pass_limit : r->known_passes;
    return end < most ? end : most;
}

/* Go to the pass `end`, with what finishing passes does to depth and fraction. */
static void know_passes(codec_group *g, uint32_t end) {
    for (; g->pass < end; g->pass++) {
        const codec_pass pass = g->tables->pass[g->pass];
        const int is_last = pass.fraction + 1u >= g->tables->fractions;
        g->fraction[pass.unit] = is_last ? 0 : (uint8_t)(pass.fraction + 1);
        g->depth[pass.unit] = (uint8_t)(g->depth[pass.unit] + is_last);
    }
}

/* As codec_strips_are_plausible. */
static int is_plausible(const reading *t, uint32_t end, uint64_t size) {
    const codec_strip_reader *r = t->reader;
    uint64_t least = 0;
    for (uint32_t i = 0; i < r->strips; i++) {
        uint8_t sides = 0; /* windows have neighbours */
        codec_group strip = t->known;
        strip.n = r->grid.columns * (codec_strip_row(r->grid, r->strips, i + 1) -
                                     codec_strip_row(r->grid, r->strips, i));
        strip.sides = &sides;
        least += codec_chunk_least_bytes(&strip, end);
    }
    return least <= size + (uint64_t)CODEC_CHUNK_TRIMMED * r->strips;
}

static taper_status no_memory(const codec_strip_reader *r, taper_status status, uint64_t bytes,
                              taper_error *error) {
    if (status == TAPER_ERR_LIMIT)
        return formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                 formats_account_step(r->account, bytes),
                                 "the data of this image take %llu bytes, more memory than is left",
                                 (unsigned long long)bytes);
    return status == TAPER_ERR_NOMEM
               ? formats_fail(error, status, "no memory for the data of an image")
               : status;
}

static void begin_segments(reading *t) {
    codec_interleaved_begin(&t->segments, t->reader->account);
    t->segments.first = t->wanted->first, t->segments.end = t->wanted->end;
}

/* Keep the strings of the chunk as a layer. */
static void keep_layer(reading *t, uint32_t end, int whole) {
    codec_strip_reader *r = t->reader;
    codec_layer_strings *layer = &r->layer[r->layers++];
    memcpy(layer->string, t->segments.string, r->strips * sizeof *layer->string);
    layer->end = end, layer->whole = whole;
    begin_segments(t);
    clear_strings(t);
}

/* Read the next layer; *more: nonzero if there may be another one. */
static taper_status read_layer(reading *t, int *more) {
    codec_strip_reader *r = t->reader;
    const formats_front *f = t->from->front;
    if (formats_front_layer_kind(f, r->layer_at) == FORMATS_LAYER_MODEL) {
        r->layer_at++, *more = 1;
        return TAPER_OK;
    }
    codec_file_range chunk = codec_chunk_range(f, r->layer_at, t->group);
    const uint64_t length = chunk.size;
    const uint32_t end =
        codec_raised_planes_end(r->tables, formats_front_layer_end(f, r->layer_at, t->group));
    chunk.size = codec_chunk_bytes_there(t->from, chunk);
    *more = 0;
    if (chunk.at > t->from->source->size || (!chunk.size && length)) return TAPER_OK;
    const int here = chunk.size == length,
              whole = here && !codec_chunk_is_cut(f, r->layer_at, t->group);
    const taper_sink to = {t, take_bytes};
    int holds = 1;
    if (length)
        TAPER_TRY(no_memory(
            r,
            codec_checked_chunk_read(t->from, r->layer_at, t->group, chunk, &to, &holds, t->error),
            chunk.size, t->error));
    r->bad = !holds || (whole && !is_plausible(t, end, length));
    if (r->bad) {
        for (uint32_t i = 0; i < r->strips; i++) formats_buffer_free(&t->segments.string[i]);
        return TAPER_OK;
    }
    r->bytes_used += chunk.size;
    keep_layer(t, end, whole);
    if (!here) return TAPER_OK;
    r->layer_at++;
    if (whole) know_passes(&t->known, last_wanted(r, end));
    *more = whole;
    return TAPER_OK;
}

static taper_status read_layers(reading *t) {
    codec_strip_reader *r = t->reader;
    const formats_front *f = t->from->front;
    for (int more = 1; more && r->layer_at < f->layers && t->known.pass < r->most;)
        TAPER_TRY(read_layer(t, &more));
    r->passes = t->known.pass;
    r->is_done =
        r->layer_at == f->layers &&
        codec_raised_planes_end(r->tables, formats_front_layer_end(f, f->layers - 1, t->group)) <=
            r->known_passes;
    return TAPER_OK;
}

static taper_status read_chunks(reading *t) {
    codec_strip_reader *r = t->reader;
    const uint32_t units = r->tables->units;
    formats_layout at = {0};
    lay_out_reading(t, units, &at);
    taper_status status = formats_block_take(&t->block, &at, r->account);
    if (status != TAPER_OK) return no_memory(r, status, at.used, t->error);
    lay_out_reading(t, units, &at);
    t->known.tables = r->tables;
    begin_segments(t);
    t->pending = formats_buffer_make(FORMATS_MOST_BYTES);
    t->pending.account = r->account;
    status = read_layers(t);
    codec_interleaved_end(&t->segments);
    formats_buffer_free(&t->pending);
    formats_block_free(&t->block);
    return status;
}

/* --- opening -------------------------------------------------------------------------------- */

static void lay_out(codec_strip_reader *r, uint32_t layers, formats_layout *at) {
    r->layer = formats_lay(at, layers, sizeof *r->layer);
    for (uint32_t l = 0; l < layers; l++) {
        formats_buffer *string = formats_lay(at, r->strips, sizeof *string);
        if (r->layer) r->layer[l].string = string;
    }
}

static taper_status open_tables(codec_strip_reader *r, const taper_model *model,
                                const formats_front *f, uint32_t g, taper_error *error) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(f, g, &n);
    const formats_geometry *image = &f->geometry[formats_front_image(f, f->group_first[g])];
    r->grid = codec_windows_grid(model->window, image->width, image->height);
    r->strips = codec_strips_count(&r->grid, 1);
    r->tables = n ? &r->raised : &model->tables;
    if (!n) return TAPER_OK;
    return codec_raised_planes_make(&r->raised, &model->tables, raised, n, r->account, error);
}

taper_status codec_strip_reader_open(codec_strip_reader *r, const taper_model *model,
                                     const codec_chunk_source *from, uint32_t g,
                                     const codec_strips_wanted *wanted, formats_account *account,
                                     taper_error *error) {
    const formats_front *f = from->front;
    *r = (codec_strip_reader){
        .account = account, .number = f->first_group + g, .pass_limit = UINT32_MAX};
    TAPER_TRY(open_tables(r, model, f, g, error));
    if (wanted->passes < UINT32_MAX)
        r->pass_limit = codec_raised_planes_end(r->tables, wanted->passes);
    r->known_passes = codec_model_known_passes(model, r->tables);
    r->most = last_wanted(r, r->tables->n_passes);
    formats_layout at = {0};
    lay_out(r, f->layers, &at);
    taper_status status = formats_block_take(&r->lists, &at, account);
    if (status == TAPER_OK) {
        lay_out(r, f->layers, &at);
        reading t = {.reader = r, .from = from, .group = g, .wanted = wanted, .error = error};
        status = read_chunks(&t);
    } else
        no_memory(r, status, at.used, error);
    if (status != TAPER_OK) codec_strip_reader_close(r);
    return status;
}

void codec_strip_reader_close(codec_strip_reader *r) {
    for (uint32_t l = 0; l < r->layers; l++)
        for (uint32_t i = 0; i < r->strips; i++) formats_buffer_free(&r->layer[l].string[i]);
    codec_raised_planes_free(&r->raised);
    formats_block_free(&r->lists);
    *r = (codec_strip_reader){0};
}

int codec_strip_reader_is_even(const codec_strip_reader *r) {
    return !r->layers || r->layer[r->layers - 1].whole;
}

/* --- strips --------------------------------------------------------------------------------- */

static codec_grid strip_grid(codec_grid grid, uint32_t strips, uint32_t i) {
    const uint32_t row = codec_strip_row(grid, strips, i);
    return (codec_grid){grid.columns, codec_strip_row(grid, strips, i + 1) - row};
}

uint64_t codec_read_strip_bytes(const codec_code_tables *tables, codec_grid grid) {
    const uint32_t strips = codec_strips_count(&grid, 1);
    const codec_grid part = {grid.columns, (grid.rows - 1) / strips + 1};
    const codec_group_shape shape = codec_group_shape_of(&part, 1);
    codec_chunk_coder counted = {0};
    codec_group_layout at = {0};
    codec_chunk_coder_lay_out(&counted, tables, &shape, &at);
    return codec_group_layout_bytes(&at);
}

taper_status codec_strip_reader_take(codec_strip_reader *r, uint32_t i, codec_read_strip *out,
                                     taper_error *error) {
    const codec_grid part = strip_grid(r->grid, r->strips, i);
    const codec_group_shape shape = codec_group_shape_of(&part, 1);
    codec_group_layout at = {0};
    *out = (codec_read_strip){0};
    codec_chunk_coder_lay_out(&out->coder, r->tables, &shape, &at);
    out->coder = (codec_chunk_coder){0};
    const taper_status status = codec_group_take(&out->blocks, &at, &shape, r->account, NULL);
    if (status != TAPER_OK) return no_memory(r, status, codec_group_layout_bytes(&at), error);
    codec_chunk_coder_lay_out(&out->coder, r->tables, &shape, &at);
    codec_chunk_coder_begin(&out->coder, &part, 1);
    return TAPER_OK;
}

void codec_strip_reader_decode(const codec_strip_reader *r, uint32_t i, uint32_t most,
                               codec_read_strip *strip) {
    codec_chunk_coder *c = &strip->coder;
    if (most > r->most) most = r->most;
    for (uint32_t l = 0; l < r->layers && c->group.pass < most; l++) {
        const codec_layer_strings *layer = &r->layer[l];
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, layer->string[i].data, layer->string[i].size, layer->whole);
        if (!codec_chunk_decode(c, &rc, layer->end < most ? layer->end : most)) break;
    }
}

void codec_read_strip_end_coding(codec_read_strip *strip) {
    codec_chunk_coder_end_coding(&strip->coder);
    codec_group_end_coding(&strip->blocks);
}

void codec_read_strip_free(codec_read_strip *strip) {
    codec_group_release(&strip->blocks);
    *strip = (codec_read_strip){0};
}
