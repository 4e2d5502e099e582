/* group_reader.c -- see group_reader.h. */
#include "group_reader.h"
#include <stdlib.h>
#include <string.h>

/* The group's tables, the model's or with raised planes, and its state. */
static taper_status open_state(codec_group_reader *r, const taper_model *model,
                               const formats_front *front, const codec_grid *grid,
                               taper_error *error) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, r->group, &n);
    if (n) TAPER_TRY(codec_raised_planes_make(&r->raised, &model->tables, raised, n, error));
    return codec_group_alloc(&r->state, n ? &r->raised : &model->tables, grid, r->images, error);
}

/* Bytes of that state for so many windows. */
static uint64_t state_bytes(const taper_model *model, const formats_front *front, uint32_t g,
                            uint64_t windows) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, g, &n);
    return codec_group_bytes(&model->tables, windows) +
           codec_raised_planes_bytes(&model->tables, raised, n);
}

taper_status codec_group_reader_open(codec_group_reader *r, const taper_model *model,
                                     const formats_front *front, uint32_t g, uint64_t max_memory,
                                     taper_error *error) {
    *r = (codec_group_reader){.group = g,
                              .images = front->group_first[g + 1] - front->group_first[g]};
    r->chunk = formats_buffer_make(SIZE_MAX / 4);
    r->kept = formats_buffer_make(SIZE_MAX / 4);
    r->first = calloc((size_t)r->images + 1, sizeof *r->first);
    codec_grid *grid = calloc((size_t)r->images + 1, sizeof *grid);
    taper_status status =
        r->first && grid ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a group");
    uint64_t windows = 0;
    for (uint32_t i = 0; i < r->images && status == TAPER_OK; i++) {
        uint32_t place = front->group_first[g] + i;
        const formats_geometry *image = &front->geometry[formats_front_image(front, place)];
        grid[i] = codec_windows_grid(model->window, image->width, image->height);
        windows += (uint64_t)grid[i].columns * grid[i].rows;
        if (state_bytes(model, front, g, windows) > max_memory)
            status = formats_fail(error, TAPER_ERR_LIMIT,
                                  "group %u needs more than %llu bytes to decode; raise "
                                  "--max-memory if you trust the file",
                                  g, (unsigned long long)max_memory);
        r->first[i + 1] = (uint32_t)windows;
    }
    if (status == TAPER_OK) status = open_state(r, model, front, grid, error);
    free(grid);
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

void codec_group_reader_close(codec_group_reader *r) {
    if (!r) return;
    codec_group_free(&r->state);
    codec_raised_planes_free(&r->raised);
    formats_buffer_free(&r->chunk), formats_buffer_free(&r->kept);
    free(r->first);
    *r = (codec_group_reader){0};
}

taper_status codec_group_reader_feed(codec_group_reader *r, const void *bytes, size_t n) {
    return formats_write_bytes(&r->chunk, bytes, n);
}

int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group) {
    return front->tail && layer + 1 == front->layers && group >= front->first_cut;
}

/* --- chunks ---------------------------------------------------------------------------- */

static uint64_t chunk_length(const formats_front *f, uint32_t layer, uint32_t group) {
    uint64_t c = (uint64_t)layer * f->groups + group;
    return f->chunk_at[c + 1] - f->chunk_at[c];
}

/* Passes of the group's state up to the end of a layer. */
static uint32_t layer_end(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    return codec_raised_planes_end(r->state.tables, formats_front_layer_end(f, layer, r->group));
}

static void step(codec_group_reader *r) {
    r->bytes_used += r->chunk.size;
    r->layer++;
    r->here = r->started = 0;
    formats_buffer_clear(&r->chunk);
}

/* Decode the kept layers anew, which were good. */
static void begin_again(codec_group_reader *r, const formats_front *f) {
    const uint8_t *from = r->kept.data;
    codec_group_forget(&r->state);
    for (uint32_t layer = 0; layer < r->layer; layer++) {
        size_t length = (size_t)chunk_length(f, layer, r->group);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, from, length, !codec_chunk_is_cut(f, layer, r->group));
        codec_chunk_decode(&r->state, &rc, layer_end(r, f, layer));
        from += length;
    }
}

static void go_no_further(codec_group_reader *r, const formats_front *f) {
    if (r->started) begin_again(r, f);
    r->bad = 1;
    r->here = r->started = 0;
    formats_buffer_free(&r->chunk), formats_buffer_free(&r->kept);
}

void codec_group_reader_decode(codec_group_reader *r, const formats_front *f) {
    if (r->bad || r->layer >= f->layers) return;
    int whole = r->here && !codec_chunk_is_cut(f, r->layer, r->group);
    if (!whole && !r->chunk.size) return; /* nothing of it is there */
    uint32_t end = layer_end(r, f, r->layer);
    if (!r->started)
        r->plausible =
            codec_chunk_is_plausible(&r->state, end, chunk_length(f, r->layer, r->group));
    if (whole && !r->plausible) {
        go_no_further(r, f);
        return;
    }
    if (r->started)
        codec_rc_decoder_extend(&r->rc, r->chunk.data, r->chunk.size, whole);
    else
        codec_rc_decoder_init(&r->rc, r->chunk.data, r->chunk.size, whole);
    r->started = 1;
    codec_chunk_decode(&r->state, &r->rc, end);
}

taper_status codec_group_reader_settle(codec_group_reader *r, const formats_front *f, int holds) {
    if (r->bad) return TAPER_OK;
    if (!holds) {
        go_no_further(r, f);
        return TAPER_OK;
    }
    if (r->layer + 1 < f->layers)
        TAPER_TRY(formats_write_bytes(&r->kept, r->chunk.data, r->chunk.size));
    r->here = 1;
    codec_group_reader_decode(r, f);
    if (!r->bad) step(r);
    if (r->layer == f->layers) formats_buffer_free(&r->kept);
    return TAPER_OK;
}

int codec_group_reader_is_done(const codec_group_reader *r, const formats_front *f) {
    return r->layer + (r->here && !r->bad) == f->layers;
}

static taper_status read_source(const taper_source *source, uint64_t at, void *to, size_t n,
                                taper_error *error) {
    taper_status status = source->read(source->user, at, to, n);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "cannot read %zu bytes at %llu of the container", n,
                              (unsigned long long)at);
}

/* --- from a source --------------------------------------------------------------------- */

/* Does the checksum over the block that holds this chunk hold? Also 1 when the block is not all
 * there. */
static taper_status check_block(const formats_front *f, uint32_t layer, uint32_t g,
                                const taper_source *source, formats_buffer *scratch, int *holds,
                                taper_error *error) {
    uint64_t per = f->chunks_per_checksum, blocks = (f->groups + per - 1) / per, block = g / per;
    uint64_t first = (uint64_t)layer * f->groups + block * per;
    uint64_t last = (uint64_t)layer * f->groups +
                    ((block + 1) * per < f->groups ? (block + 1) * per : f->groups);
    uint64_t at = f->front_size + f->chunk_at[first], end = f->front_size + f->chunk_at[last];
    *holds = 1;
    if (end > source->size) return TAPER_OK;
    formats_buffer_clear(scratch);
    uint8_t *to = formats_buffer_extend(scratch, (size_t)(end - at));
    if (!to && end > at)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for chunks of %llu bytes",
                            (unsigned long long)(end - at));
    TAPER_TRY(read_source(source, at, to, (size_t)(end - at), error));
    *holds = formats_crc32c(0, to, (size_t)(end - at)) == f->checksum[layer * blocks + block];
    return TAPER_OK;
}

taper_status codec_group_reader_load(codec_group_reader *r, const formats_front *f, uint32_t g,
                                     const taper_source *source, taper_error *error) {
    formats_buffer scratch = formats_buffer_make(SIZE_MAX / 4);
    taper_status status = TAPER_OK;
    while (r->layer < f->layers && !r->bad) {
        uint64_t c = (uint64_t)r->layer * f->groups + g, at = f->front_size + f->chunk_at[c];
        uint64_t length = f->chunk_at[c + 1] - f->chunk_at[c];
        uint64_t here = at >= source->size           ? 0
                        : source->size - at < length ? source->size - at
                                                     : length;
        if (at > source->size || (here < length && here == 0))
            break; /* empty chunks beyond a cut are not there either */
        int holds = 1;
        if (here == length) status = check_block(f, r->layer, g, source, &scratch, &holds, error);
        r->bad = !holds;
        if (status != TAPER_OK || r->bad) break;
        uint8_t *to = formats_buffer_extend(&r->chunk, (size_t)here);
        if (here && !to)
            status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk of %llu bytes",
                                  (unsigned long long)here);
        else if (here)
            status = read_source(source, at, to, (size_t)here, error);
        if (status != TAPER_OK) break;
        r->here = here == length;
        codec_group_reader_decode(r, f);
        if (here < length) break;
        if (!r->bad) step(r);
    }
    formats_buffer_free(&scratch);
    return status;
}

/* Bytes that the open groups take. */
static uint64_t open_bytes(const codec_group_readers *rs) {
    uint64_t sum = 0;
    for (uint32_t t = 0; t < FORMATS_MAX_TRACKS; t++) {
        const codec_group *g = &rs->of_track[t].state;
        if (g->tables) sum += codec_group_bytes(g->tables, g->n);
    }
    return sum;
}

taper_status codec_group_readers_turn(codec_group_readers *rs, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, uint64_t max_memory,
                                      codec_group_reader **out, taper_error *error) {
    codec_group_reader *r = *out = &rs->of_track[front->group_track ? front->group_track[g] : 0];
    if (r->images && r->group == g) return TAPER_OK;
    codec_group_reader_close(r);
    uint64_t others = open_bytes(rs), left = others < max_memory ? max_memory - others : 0;
    taper_status status = codec_group_reader_open(r, model, front, g, left, error);
    if (status == TAPER_ERR_LIMIT && others) {
        codec_group_readers_close(rs);
        status = codec_group_reader_open(r, model, front, g, max_memory, error);
    }
    r->state.pool = rs->pool;
    if (status == TAPER_OK) status = codec_group_reader_load(r, front, g, source, error);
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

void codec_group_readers_close(codec_group_readers *rs) {
    for (uint32_t t = 0; t < FORMATS_MAX_TRACKS; t++) codec_group_reader_close(&rs->of_track[t]);
}

taper_status codec_front_load(const taper_source *source, const taper_limits *given,
                              formats_front *front, taper_error *error) {
    taper_limits limits = formats_limits_or_default(given);
    formats_buffer bytes = formats_buffer_make(SIZE_MAX / 4);
    taper_status status = TAPER_OK;
    uint64_t need = FORMATS_HEADER_SIZE;
    memset(front, 0, sizeof *front);
    while (status == TAPER_OK && bytes.size < need) {
        uint64_t have = bytes.size, want = need < source->size ? need : source->size;
        if (want <= have) break;
        if (want > limits.max_memory)
            status = formats_fail(
                error, TAPER_ERR_LIMIT,
                "the container's front matter takes %llu bytes; raise --max-memory if you trust it",
                (unsigned long long)want);
        uint8_t *to =
            status == TAPER_OK ? formats_buffer_extend(&bytes, (size_t)(want - have)) : NULL;
        if (status == TAPER_OK && !to)
            status =
                formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's front matter");
        if (status == TAPER_OK)
            status = read_source(source, have, to, (size_t)(want - have), error);
        if (status == TAPER_OK) status = formats_front_need(bytes.data, bytes.size, &need, error);
    }
    if (status == TAPER_OK)
        status = formats_front_read(bytes.size ? bytes.data : (const uint8_t *)"", bytes.size,
                                    &limits, front, error);
    formats_buffer_free(&bytes);
    return status;
}

taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error) {
    if (front->model_id != model->info.id)
        return formats_fail(
            error, TAPER_ERR_MODEL,
            "container was made with model %016llx, this is %016llx; give the right one with -m",
            (unsigned long long)front->model_id, (unsigned long long)model->info.id);
    uint32_t passes = formats_front_passes(front, front->layers - 1);
    if (passes > model->tables.n_passes)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims %u passes, its model has %u", passes,
                            model->tables.n_passes);
    for (uint32_t g = 0, n; front->raised_at && g < front->groups; g++) {
        const formats_raised *raised = formats_front_raised(front, g, &n);
        if (!codec_raised_planes_fit(&model->tables, raised, n))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "group %u raises planes that its model cannot have", g);
    }
    for (uint32_t i = 0; i < front->images; i++)
        if (front->geometry[i].channels > model->window.channels)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "image %u is in colour but the model is grey", i);
    return TAPER_OK;
}
