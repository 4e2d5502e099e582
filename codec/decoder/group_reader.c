/* group_reader.c -- see group_reader.h. */
#include "codec/decoder/group_reader.h"
#include <stdlib.h>
#include <string.h>

static void lay_out(codec_group_reader *r, codec_grid **grid, formats_layout *at) {
    r->first = formats_lay(at, r->images + (uint64_t)1, sizeof *r->first);
    *grid = formats_lay(at, r->images, sizeof **grid);
}

/* The memory of the group's pixels in pixel layers, with what coding them needs. */
static uint64_t pixel_bytes(const codec_group_reader *r, const formats_front *f) {
    uint64_t planes = 0, pixels = 0;
    for (uint32_t i = 0; f->has_pixels && i < r->images; i++) {
        const formats_geometry *of =
            &f->geometry[formats_front_image(f, f->group_first[r->group] + i)];
        if (!codec_pixels_has_plane(of)) continue;
        planes += codec_pixel_image_bytes(of);
        pixels += (uint64_t)of->width * of->height;
    }
    return planes + 2 * codec_pixel_coding_bytes(pixels);
}

/* Set the grids of the images that have windows and the first window of each image, and check that
 * memory for the group is left. *windowed: the number of these grids. */
static taper_status measure(codec_group_reader *r, const taper_model *model,
                            const formats_front *front, codec_grid *grid, uint32_t *windowed,
                            taper_error *error) {
    const uint64_t left = r->account ? formats_account_left(r->account) : UINT64_MAX;
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, r->group, &n);
    const uint64_t tables =
        codec_raised_planes_bytes(&model->tables, codec_raised_planes_count(raised, n));
    codec_group_shape shape = {0};
    for (uint32_t i = 0; i < r->images; i++) {
        uint32_t place = front->group_first[r->group] + i;
        const formats_geometry *image = &front->geometry[formats_front_image(front, place)];
        if (!image->indexed) {
            grid[*windowed] = codec_windows_grid(model->window, image->width, image->height);
            codec_group_shape_add(&shape, grid[(*windowed)++]);
        }
        r->first[i + 1] = (uint32_t)shape.windows;
    }
    r->has_windows = *windowed > 0;
    if (!r->has_windows) codec_group_shape_add(&shape, grid[(*windowed)++] = (codec_grid){1, 1});
    uint64_t bytes = codec_strips_bytes(&model->tables, &shape);
    if (formats_add_u64(bytes, pixel_bytes(r, front), &bytes) != TAPER_OK) bytes = UINT64_MAX;
    if (bytes <= left && tables <= left - bytes) return TAPER_OK;
    bytes = bytes > UINT64_MAX - tables ? bytes : bytes + tables;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                             formats_account_step(r->account, bytes),
                             "group %u needs %llu bytes or more to decode, of which %llu are left",
                             r->number, (unsigned long long)bytes, (unsigned long long)left);
}

/* The planes of the images that have pixels in pixel layers. */
typedef struct group_images {
    const formats_front *front;
    uint32_t first; /* place */
} group_images;

static const formats_geometry *geometry_of(const void *user, size_t i) {
    const group_images *of = user;
    return &of->front->geometry[formats_front_image(of->front, of->first + (uint32_t)i)];
}

static taper_status open_pixels(codec_group_reader *r, const formats_front *front,
                                taper_error *error) {
    const group_images of = {front, front->group_first[r->group]};
    int any = 0;
    for (uint32_t i = 0; front->has_pixels && i < r->images && !any; i++)
        any = codec_pixels_has_plane(geometry_of(&of, i));
    if (!any) return TAPER_OK;
    const taper_status status =
        codec_pixel_group_open(&r->pixels, r->images, geometry_of, &of, r->account);
    if (status == TAPER_OK) return status;
    return formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                             formats_account_step(r->account, pixel_bytes(r, front)),
                             "no memory for the pixels of group %u", r->number);
}

/* Allocate the state of the group's windows, with the model's tables or tables with raised planes.
 */
static taper_status open_windows(codec_group_reader *r, const taper_model *model,
                                 const formats_front *front, codec_grid *grid, taper_error *error) {
    uint32_t n;
    const formats_raised *raised = formats_front_raised(front, r->group, &n);
    uint32_t windowed = 0;
    TAPER_TRY(measure(r, model, front, grid, &windowed, error));
    if (n)
        TAPER_TRY(
            codec_raised_planes_make(&r->raised, &model->tables, raised, n, r->account, error));
    TAPER_TRY(codec_strips_alloc(&r->strips, n ? &r->raised : &model->tables, grid, windowed,
                                 r->account, error));
    r->known_passes = codec_model_known_passes(model, r->strips.coder->group.tables);
    return TAPER_OK;
}

static uint64_t chunk_length(const formats_front *f, uint32_t layer, uint32_t group) {
    uint64_t c = (uint64_t)layer * f->groups + group;
    return f->chunk_at[c + 1] - f->chunk_at[c];
}

/* The number of passes up to the end of a layer, with raised passes. */
static uint32_t layer_end(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    return codec_raised_planes_end(r->strips.coder->group.tables,
                                   formats_front_layer_end(f, layer, r->group));
}

/* The passes of a layer that ends with pass `end` are decoded to here. */
static uint32_t last_wanted(const codec_group_reader *r, uint32_t end) {
    uint32_t most = r->pass_limit < r->known_passes ? r->pass_limit : r->known_passes;
    return end < most ? end : most;
}

/* Does this layer have passes to decode, or pixels? */
static int has_passes(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    return r->has_windows && formats_front_layer_kind(f, layer) == FORMATS_LAYER_PASSES;
}
static int has_pixels(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    const uint32_t kind = formats_front_layer_kind(f, layer);
    return r->pixels.n && (kind == FORMATS_LAYER_FIRST || kind == FORMATS_LAYER_ALPHA);
}
static int is_exact(const formats_front *f, uint32_t layer) {
    return layer < f->layers && formats_front_layer_kind(f, layer) == FORMATS_LAYER_EXACT;
}

/* Are all passes of the file decoded? */
static int has_all_passes(const codec_group_reader *r, const formats_front *f) {
    return !r->has_windows || codec_strips_last(&r->strips)->pass >= layer_end(r, f, f->layers - 1);
}

/* Move the bytes of the chunk of the exact layer to where they stay. */
static void move_exact(codec_group_reader *r, const formats_front *f, int here) {
    const formats_buffer empty = r->exact;
    r->exact = r->chunk;
    r->exact_whole = here && !codec_chunk_is_cut(f, r->layer, r->group);
    r->chunk = empty;
}

int codec_group_reader_exact(const codec_group_reader *r, const formats_front *f,
                             codec_exact_string *out) {
    if (r->bad || !is_exact(f, f->layers - 1) || r->layer + 1 < f->layers || !has_all_passes(r, f))
        return 0;
    const int is_moved = r->exact.size > 0;
    const formats_buffer *from = is_moved ? &r->exact : &r->chunk;
    const int is_here = r->here && !codec_chunk_is_cut(f, f->layers - 1, r->group);
    *out = (codec_exact_string){from->data, from->size, is_moved ? r->exact_whole : is_here};
    return out->size > 0;
}

static int has_stage(const formats_front *f, uint32_t layer) {
    return formats_front_layer_kind(f, layer) == FORMATS_LAYER_MODEL;
}

/* This layer, or the first one behind it that has something of the group: a cut in front of layers
 * that have nothing takes nothing from it. */
static uint32_t pass_over(const codec_group_reader *r, const formats_front *f, uint32_t layer) {
    while (layer < f->layers &&
           (has_stage(f, layer) || (!chunk_length(f, layer, r->group) && !has_passes(r, f, layer) &&
                                    !has_pixels(r, f, layer))))
        layer++;
    return layer;
}

taper_status codec_group_reader_open(codec_group_reader *r, const taper_model *model,
                                     const formats_front *front, uint32_t g,
                                     formats_account *account, taper_error *error) {
    *r = (codec_group_reader){.group = g,
                              .number = front->first_group + g,
                              .images = front->group_first[g + 1] - front->group_first[g],
                              .pass_limit = UINT32_MAX,
                              .account = account};
    r->chunk = formats_buffer_make(FORMATS_MOST_BYTES);
    r->kept = formats_buffer_make(FORMATS_MOST_BYTES);
    r->exact = formats_buffer_make(FORMATS_MOST_BYTES);
    r->chunk.account = r->kept.account = r->exact.account = account;
    formats_layout at = {0};
    codec_grid *grid;
    lay_out(r, &grid, &at);
    const uint64_t bytes = at.used;
    taper_status status = formats_block_take(&r->lists, &at, account);
    if (status == TAPER_ERR_LIMIT)
        return formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                 formats_account_step(account, bytes),
                                 "a group of %u images takes more memory than is left", r->images);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory for a group");
    lay_out(r, &grid, &at);
    status = open_windows(r, model, front, grid, error);
    if (status == TAPER_OK) status = open_pixels(r, front, error);
    if (status == TAPER_OK)
        r->layer = pass_over(r, front, 0);
    else
        codec_group_reader_close(r);
    return status;
}

void codec_group_reader_close(codec_group_reader *r) {
    if (!r) return;
    codec_strips_free(&r->strips);
    codec_pixel_group_close(&r->pixels);
    codec_raised_planes_free(&r->raised);
    codec_exact_images_free(&r->exact_images);
    formats_buffer_free(&r->chunk), formats_buffer_free(&r->kept), formats_buffer_free(&r->exact);
    formats_block_free(&r->lists);
    *r = (codec_group_reader){0};
}

void codec_group_reader_limit(codec_group_reader *r, uint32_t passes) {
    r->pass_limit = passes;
    if (passes < UINT32_MAX)
        r->pass_limit = codec_raised_planes_end(r->strips.coder->group.tables, passes);
}

taper_status codec_group_reader_feed(codec_group_reader *r, const void *bytes, size_t n) {
    return formats_write_bytes(&r->chunk, bytes, n);
}

/* --- chunks ---------------------------------------------------------------------------- */

static void step(codec_group_reader *r, const formats_front *f) {
    r->bytes_used += r->chunk.size;
    if (is_exact(f, r->layer)) move_exact(r, f, 1);
    r->layer = pass_over(r, f, r->layer + 1);
    r->here = 0, r->pixel_bytes = r->pass_bytes = 0;
    codec_strips_end_chunk(&r->strips);
    formats_buffer_clear(&r->chunk);
}

/* Decode the kept layers, which are undamaged, from the beginning. */
static taper_status begin_again(codec_group_reader *r, const formats_front *f) {
    const uint8_t *from = r->kept.data;
    TAPER_TRY(codec_strips_wake(&r->strips, 1));
    r->pass_bytes = 0;
    codec_strips_reset(&r->strips);
    for (uint32_t layer = 0; layer < r->layer; layer++) {
        if (has_stage(f, layer)) continue;
        size_t length = (size_t)chunk_length(f, layer, r->group);
        codec_chunk_bytes chunk = {from, length, !codec_chunk_is_cut(f, layer, r->group)};
        if (has_passes(r, f, layer)) /* pixels are still there */
            TAPER_TRY(
                codec_strips_decode(&r->strips, chunk, last_wanted(r, layer_end(r, f, layer))));
        codec_strips_end_chunk(&r->strips);
        from += length;
    }
    return TAPER_OK;
}

taper_status codec_group_reader_rebind(codec_group_reader *r, const taper_model *model,
                                       const formats_front *front, taper_error *error) {
    struct codec_pool *pool = r->strips.pool;
    formats_layout at = {.memory = r->lists.memory};
    codec_grid *grid;
    if (!r->images) return TAPER_OK;
    codec_strips_free(&r->strips);
    codec_raised_planes_free(&r->raised);
    lay_out(r, &grid, &at);
    taper_status status = open_windows(r, model, front, grid, error);
    r->strips.pool = pool;
    if (status == TAPER_OK && r->has_windows && (status = begin_again(r, front)) != TAPER_OK)
        formats_fail(error, status, "no memory to decode a group again");
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

static taper_status stop_decoding(codec_group_reader *r, const formats_front *f) {
    const uint32_t kind = formats_front_layer_kind(f, r->layer);
    r->again = r->is_supplied && r->strips.started;
    if (r->again) return TAPER_OK;
    taper_status status = r->strips.started ? begin_again(r, f) : TAPER_OK;
    if (kind != FORMATS_LAYER_PASSES && r->pixels.n) codec_pixel_group_forget(&r->pixels, kind);
    r->bad = 1;
    r->here = 0;
    codec_strips_end_chunk(&r->strips);
    formats_buffer_free(&r->chunk);
    return status;
}

static taper_status no_memory_for_chunk(const formats_account *account, taper_status status,
                                        uint64_t bytes, taper_error *error) {
    return status == TAPER_ERR_LIMIT
               ? formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                                   formats_account_step(account, bytes),
                                   "a chunk takes %llu bytes, more memory than is left",
                                   (unsigned long long)bytes)
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a chunk of %llu bytes",
                              (unsigned long long)bytes);
}

/* Decode what is there of the current chunk, of a layer of pixels. A chunk that has not grown is
 * not decoded again. */
static taper_status decode_pixels(codec_group_reader *r, const formats_front *f, int whole) {
    int plausible;
    if (!whole && r->chunk.size == r->pixel_bytes) return TAPER_OK;
    r->pixel_bytes = r->chunk.size;
    TAPER_TRY(codec_pixel_group_decode(&r->pixels, formats_front_layer_kind(f, r->layer),
                                       r->chunk.data, r->chunk.size, whole, &plausible));
    return plausible ? TAPER_OK : stop_decoding(r, f);
}

static taper_status decode(codec_group_reader *r, const formats_front *f) {
    if (r->bad || r->layer >= f->layers) return TAPER_OK;
    int whole = r->here && !codec_chunk_is_cut(f, r->layer, r->group);
    if (!whole && !r->chunk.size) return TAPER_OK; /* no byte of it is available */
    if (has_pixels(r, f, r->layer)) return decode_pixels(r, f, whole);
    if (!has_passes(r, f, r->layer)) return TAPER_OK;
    uint32_t end = layer_end(r, f, r->layer);
    if (!r->strips.started && codec_strips_last(&r->strips)->pass >= last_wanted(r, end))
        return TAPER_OK;
    if (!r->strips.started)
        r->plausible =
            codec_strips_are_plausible(&r->strips, end, chunk_length(f, r->layer, r->group));
    if (whole && !r->plausible) return stop_decoding(r, f);
    if (!whole && r->chunk.size == r->pass_bytes) return TAPER_OK;
    TAPER_TRY(codec_strips_wake(&r->strips, 1));
    TAPER_TRY(codec_strips_decode(
        &r->strips, (codec_chunk_bytes){r->chunk.data, r->chunk.size, whole}, last_wanted(r, end)));
    r->pass_bytes = r->chunk.size;
    return TAPER_OK;
}

taper_status codec_group_reader_decode(codec_group_reader *r, const formats_front *f,
                                       taper_error *error) {
    taper_status status = decode(r, f);
    return status == TAPER_OK
               ? status
               : no_memory_for_chunk(r->account, status,
                                     r->chunk.size + codec_strips_missing(&r->strips), error);
}

taper_status codec_group_reader_end_chunk(codec_group_reader *r, const formats_front *f,
                                          uint32_t layer, int holds) {
    if (r->bad || r->layer != layer) return TAPER_OK;
    if (!holds && chunk_length(f, layer, r->group)) return stop_decoding(r, f);
    if (r->layer + 1 < f->layers && !r->is_supplied)
        TAPER_TRY(formats_write_bytes(&r->kept, r->chunk.data, r->chunk.size));
    r->here = 1;
    TAPER_TRY(decode(r, f));
    if (!r->bad && !r->again) step(r, f);
    if (r->layer == f->layers) formats_buffer_free(&r->kept);
    return TAPER_OK;
}

/* The layer up to which all chunks of the group are here. */
static uint32_t layer_reached(const codec_group_reader *r, const formats_front *f) {
    return pass_over(r, f, r->layer + (r->here && !r->bad));
}

uint32_t codec_group_reader_passes(const codec_group_reader *r, const formats_front *f) {
    const codec_group *last = codec_strips_last(&r->strips);
    if (r->has_windows) return codec_model_pass(last->tables, last->pass);
    const uint32_t reached = layer_reached(r, f);
    return reached ? formats_front_layer_end(f, reached - 1, r->group) : 0;
}

int codec_group_reader_is_done(const codec_group_reader *r, const formats_front *f) {
    return layer_reached(r, f) == f->layers &&
           (!r->has_windows || layer_end(r, f, f->layers - 1) <= r->known_passes);
}

const codec_pixel_image *codec_group_reader_pixels(const codec_group_reader *r, uint32_t i) {
    return r->pixels.n ? &r->pixels.image[i] : NULL;
}

/* --- from a source --------------------------------------------------------------------- */

/* Load and decode the next layer; *more: nonzero if there may be another one. */
static taper_status load_layer(codec_group_reader *r, codec_checked_block *block,
                               const codec_chunk_source *from, int *more, taper_error *error) {
    const formats_front *f = from->front;
    codec_file_range chunk = codec_chunk_range(f, r->layer, r->group);
    uint64_t length = chunk.size;
    chunk.size = codec_chunk_bytes_there(from, chunk);
    *more = 0;
    if (chunk.at > from->source->size || (!chunk.size && length))
        return TAPER_OK; /* empty chunks after a cut count as missing */
    uint8_t none, *to = chunk.size ? formats_buffer_extend(&r->chunk, (size_t)chunk.size) : &none;
    if (!to) return no_memory_for_chunk(r->account, r->chunk.status, chunk.size, error);
    int holds = 1;
    if (length)
        TAPER_TRY(
            codec_checked_block_read(block, from, r->layer, r->group, chunk, to, &holds, error));
    r->here = chunk.size == length;
    taper_status status = holds ? decode(r, f) : stop_decoding(r, f);
    if (status != TAPER_OK) return no_memory_for_chunk(r->account, status, chunk.size, error);
    if (r->bad || !r->here) return TAPER_OK;
    step(r, f);
    *more = 1;
    return TAPER_OK;
}

void codec_group_reader_end(codec_group_reader *r, const formats_front *f) {
    codec_strips_end_coding(&r->strips);
    r->bytes_used += r->chunk.size;
    if (is_exact(f, r->layer) && !r->bad) move_exact(r, f, 0);
    formats_buffer_free(&r->chunk);
}

/* Are there wanted layers? Goes to the next one: layers of passes behind the pass `most` are passed
 * over where pixels follow. */
static int is_wanted(codec_group_reader *r, const formats_front *f, uint32_t most) {
    uint32_t layer = r->layer;
    while (layer < f->layers && r->has_windows && !has_pixels(r, f, layer) &&
           !(is_exact(f, layer) && has_all_passes(r, f)) &&
           codec_strips_last(&r->strips)->pass >= most)
        layer++;
    if (layer < f->layers) r->layer = layer;
    return layer < f->layers;
}

static taper_status load(codec_group_reader *r, codec_group_readers *rs, const formats_front *f,
                         const taper_source *source, taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(f, r->group);
    if (rs->pass_limit) codec_group_reader_limit(r, rs->pass_limit[rate_class]);
    const uint32_t most = last_wanted(r, UINT32_MAX);
    const codec_chunk_source from = {f, source, rs->held};
    for (int more = 1; more && is_wanted(r, f, most);)
        TAPER_TRY(load_layer(r, &rs->block, &from, &more, error));
    codec_group_reader_end(r, f); /* it is decoded once, as far as the source goes */
    return TAPER_OK;
}

void codec_group_readers_keep(codec_group_readers *rs, uint32_t rate_class) {
    for (uint32_t t = 0; t < FORMATS_MAX_RATE_CLASSES; t++)
        if (t != rate_class) codec_group_reader_close(&rs->of_rate_class[t]);
}

taper_status codec_group_readers_open(codec_group_readers *rs, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, codec_group_reader **out,
                                      taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(front, g);
    codec_group_reader *r = *out = &rs->of_rate_class[rate_class];
    if (r->images && r->group == g) return TAPER_OK;
    taper_status status = TAPER_ERR_LIMIT;
    for (int alone = 0; alone < 2 && status == TAPER_ERR_LIMIT; alone++) {
        codec_group_reader_close(r);
        if (alone) codec_group_readers_keep(rs, rate_class);
        status = codec_group_reader_open(r, model, front, g, rs->account, error);
        r->strips.pool = rs->pool;
        if (status == TAPER_OK) status = load(r, rs, front, source, error);
    }
    if (status != TAPER_OK) codec_group_reader_close(r);
    return status;
}

void codec_group_readers_close(codec_group_readers *rs) {
    codec_group_readers_keep(rs, FORMATS_MAX_RATE_CLASSES);
    codec_checked_block_free(&rs->block);
}
