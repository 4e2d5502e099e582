/* parts.c -- taper_decoder_render_rows, _crop and _scaled: the pixels of an image row by row, of a
 * rectangle of it, and of a small version of it; see taper.h. The basis of a scale is made when it
 * is first needed, and kept. */
#include "codec/decoder/decoder.h"
#include "codec/decoder/strip_reader.h"
#include "codec/pixels/pixel_store.h"
#include "codec/render/picture_renderer.h"
#include "codec/render/row_renderer.h"
#include "codec/render/small_renderer.h"
#include <stdlib.h>
#include <string.h>

/* --- with a small basis --------------------------------------------------------------------- */

/* Memory that the image needs beside the group, with the basis if it is still to be made. */
static uint64_t small_bytes(const taper_decoder *d, const taper_image_info *info, uint32_t scale) {
    const taper_model *m = codec_decoder_model(d);
    codec_grid grid = codec_windows_grid(m->window, info->width, info->height);
    uint64_t bytes = codec_render_small_bytes(m, scale, grid, codec_pool_threads(d->backend.pool));
    if (d->small.scale != scale)
        bytes += codec_small_basis_most_bytes(m->network.units, m->window, scale);
    return bytes;
}

static taper_status shrink_by_basis(taper_decoder *d, const codec_decoder_image *image,
                                    uint32_t scale, taper_image *out, taper_error *error) {
    TAPER_TRY(codec_decoder_need(d, &image->info, small_bytes(d, &image->info, scale), error));
    TAPER_TRY(codec_decoder_make_basis(d, scale, error));
    codec_small_source source = {
        codec_decoder_model(d), &d->small, &image->group->strips, image->first,
        codec_windows_grid(codec_decoder_model(d)->window, image->info.width, image->info.height)};
    taper_status status = codec_render_small(&source, d->backend.pool, out);
    if (status == TAPER_OK) return status;
    return formats_fail(error, status, "no memory to render %u windows", image->n);
}

/* --- without one ---------------------------------------------------------------------------- */

static taper_status shrink_whole(taper_decoder *d, const codec_decoder_image *image, uint32_t scale,
                                 taper_image *out, taper_error *error) {
    codec_picture picture;
    TAPER_TRY(
        codec_decoder_need(d, &image->info, codec_decoder_picture_bytes(d, &image->info), error));
    TAPER_TRY(codec_decoder_picture(d, image, &picture, error));
    if (codec_decoder_model(d)->window.lap)
        codec_lap_postfilter(codec_decoder_model(d)->window, &picture);
    codec_picture_shrink(&picture, scale);
    codec_picture_store(&picture, out);
    codec_picture_free(&picture);
    return TAPER_OK;
}

/* --- strips --------------------------------------------------------------------------------- */

enum {
    /* The state of a group that is decoded as a whole, and kept, at most; half of the decoder's
     * memory, if that is less. And that of the strips that threads decode at once, or a quarter of
     * that memory; one strip may have more. */
    WHOLE_STATE = 192 << 20,
    STRIPS_STATE = 128 << 20
};

/* One image, or a part of it. */
typedef struct part {
    taper_decoder *decoder;
    uint64_t number; /* of the image */
    taper_image_info info;
    const formats_front *leaf; /* with its group */
    codec_row_rendering how;
    taper_completeness done;
    taper_status damage; /* TAPER_OK, or TAPER_ERR_CORRUPT with its text in *error */
    taper_error *error;
} part;

static codec_grid grid_of(const part *p) {
    return codec_windows_grid(codec_decoder_model(p->decoder)->window, p->info.width,
                              p->info.height);
}

/* The strips of the image's group; 1 unless the image is the whole group. */
static uint32_t strips_of(const part *p) {
    const uint32_t g = p->info.group - p->leaf->first_group;
    const codec_grid grid = grid_of(p);
    return codec_strips_count(&grid, p->leaf->group_first[g + 1] - p->leaf->group_first[g]);
}

/* Nonzero: a pixel layer has the image, or its alpha; such layers are decoded as a whole. */
static int has_plane(const taper_image_info *info) {
    return info->is_indexed || !(info->channels & 1);
}

/* The same, and so are images with an exact layer, which goes on from row to row. */
static int is_whole(const part *p) {
    const formats_front *f = p->leaf;
    return has_plane(&p->info) || formats_front_layer_kind(f, f->layers - 1) == FORMATS_LAYER_EXACT;
}

/* Nonzero: strips can be decoded one after the other. Pushed bytes are decoded already. */
static int has_strips(const part *p) {
    return p->decoder->feed != CODEC_FEED_PUSHED && !is_whole(p) && strips_of(p) > 1;
}

/* Nonzero: strips are decoded one after the other, whatever is shown of the image. Else its group
 * is small, or pushed: it can be decoded as a whole, and kept. */
static int goes_by_strips(const part *p) {
    const taper_decoder *d = p->decoder;
    const codec_grid grid = grid_of(p);
    const codec_group_shape shape = codec_group_shape_of(&grid, 1);
    const uint64_t half = d->limits.max_memory / 2, most = half < WHOLE_STATE ? half : WHOLE_STATE;
    return has_strips(p) && codec_strips_bytes(&codec_decoder_model(d)->tables, &shape) > most;
}

/* How many strips are decoded at once. */
static uint32_t strips_at_once(const part *p) {
    const uint64_t each =
        codec_read_strip_bytes(&codec_decoder_model(p->decoder)->tables, grid_of(p));
    const uint64_t quarter = p->decoder->limits.max_memory / 4,
                   state = quarter < STRIPS_STATE ? quarter : STRIPS_STATE,
                   most = each < state ? state / each : 1;
    const unsigned threads = codec_pool_threads(p->decoder->backend.pool);
    return most < threads ? (uint32_t)most : threads;
}

/* The memory of rendering by strips, without the data of the image. */
static uint64_t memory_by_strips(const part *p) {
    const codec_grid grid = grid_of(p);
    const uint32_t rows = (grid.rows - 1) / strips_of(p) + 1;
    return codec_row_renderer_bytes(&p->how, rows) +
           strips_at_once(p) *
               codec_read_strip_bytes(&codec_decoder_model(p->decoder)->tables, grid);
}

/* Strips that are decoded at once. */
typedef struct decoding {
    const codec_strip_reader *reader;
    uint32_t first, most; /* the first strip; passes */
    codec_read_strip *strip;
} decoding;

static void decode_one(void *context, size_t k) {
    const decoding *t = context;
    codec_strip_reader_decode(t->reader, t->first + (uint32_t)k, t->most, &t->strip[k]);
}

static void free_strips(const decoding *t, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) codec_read_strip_free(&t->strip[k]);
}

/* Decode strips t->first .. + n - 1. */
static taper_status decode_strips(const part *p, codec_strip_reader *r, decoding *t, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const taper_status status =
            codec_strip_reader_take(r, t->first + k, &t->strip[k], p->error);
        if (status == TAPER_OK) continue;
        free_strips(t, k);
        return status;
    }
    codec_pool_run(p->decoder->backend.pool, decode_one, t, n);
    for (uint32_t k = 0; k < n; k++) codec_read_strip_end_coding(&t->strip[k]);
    return TAPER_OK;
}

/* The complete passes of all strips, with raised ones. Where the file ends within their strings,
 * only decoding tells; the decoder remembers it for further rectangles. */
static taper_status find_passes(const part *p, codec_strip_reader *r, decoding *t, uint32_t at_once,
                                uint32_t *passes) {
    taper_decoder *d = p->decoder;
    *passes = r->passes;
    if (codec_strip_reader_is_even(r)) return TAPER_OK;
    if (d->strips.is_known && d->strips.image == p->number && d->feed == CODEC_FEED_SOURCE) {
        *passes = d->strips.passes;
        return TAPER_OK;
    }
    t->most = UINT32_MAX;
    for (uint32_t i = 0, n; i < r->strips && t->most > r->passes; i += n) {
        n = r->strips - i < at_once ? r->strips - i : at_once;
        t->first = i;
        TAPER_TRY(decode_strips(p, r, t, n));
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t known = t->strip[k].coder.group.pass;
            t->most = known < t->most ? known : t->most;
        }
        free_strips(t, n);
    }
    *passes = d->strips.passes = t->most;
    d->strips.image = p->number, d->strips.is_known = 1;
    t->most = UINT32_MAX;
    return TAPER_OK;
}

/* Decode and render the strips that the renderer needs. */
static taper_status put_strips(const part *p, codec_strip_reader *r, decoding *t, uint32_t at_once,
                               codec_row_renderer *to) {
    const uint32_t last = to->rows.windows.y + to->rows.windows.height;
    taper_status status = TAPER_OK;
    for (uint32_t i = 0, n = 1; i < r->strips && status == TAPER_OK; i += n, n = 1) {
        if (codec_strip_row(r->grid, r->strips, i + 1) <= to->rows.windows.y) continue;
        while (n < at_once && i + n < r->strips &&
               codec_strip_row(r->grid, r->strips, i + n) < last)
            n++;
        if (codec_strip_row(r->grid, r->strips, i) >= last) break;
        t->first = i;
        TAPER_TRY(decode_strips(p, r, t, n));
        for (uint32_t k = 0; k < n && status == TAPER_OK; k++) {
            const codec_strip_rows rows = {&t->strip[k].coder.group, 0,
                                           codec_strip_row(r->grid, r->strips, i + k),
                                           codec_strip_row(r->grid, r->strips, i + k + 1)};
            status = codec_row_renderer_put(to, rows);
            codec_read_strip_free(&t->strip[k]);
        }
        free_strips(t, n);
    }
    return status;
}

static taper_status render_strips(part *p, codec_strip_reader *r) {
    const uint32_t at_once = strips_at_once(p);
    codec_row_renderer renderer;
    uint32_t passes;
    decoding t = {.reader = r, .strip = calloc(at_once, sizeof *t.strip), .most = UINT32_MAX};
    if (!t.strip) return formats_fail(p->error, TAPER_ERR_NOMEM, "no memory for strips");
    taper_status status = find_passes(p, r, &t, at_once, &passes);
    p->done.passes = p->how.pass = status == TAPER_OK ? codec_model_pass(r->tables, passes) : 0;
    if (status == TAPER_OK) status = codec_row_renderer_begin(&renderer, &p->how);
    if (status == TAPER_OK) {
        status = put_strips(p, r, &t, at_once, &renderer);
        codec_row_renderer_end(&renderer);
    }
    free(t.strip);
    if (status == TAPER_ERR_NOMEM) formats_fail(p->error, status, "no memory to render an image");
    return status;
}

static codec_chunk_source source_of(const part *p) {
    const taper_decoder *d = p->decoder;
    return (codec_chunk_source){p->leaf, &d->reading.source, d->reading.readers.held};
}

/* Nonzero: all bytes of the image are there. */
static int is_there(const part *p) {
    const formats_front *f = p->leaf;
    const codec_chunk_source from = source_of(p);
    const uint32_t g = p->info.group - f->first_group;
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        const codec_file_range chunk = codec_chunk_range(f, layer, g);
        if (codec_chunk_bytes_there(&from, chunk) < chunk.size || codec_chunk_is_cut(f, layer, g))
            return 0;
    }
    return 1;
}

/* The strips that the rendering needs; all if bytes of the image are missing. */
static codec_strips_wanted strips_needed(const part *p) {
    const codec_grid grid = grid_of(p);
    const codec_rectangle needed = codec_picture_rows_windows(p->how.model, grid, p->how.crop);
    const uint32_t n = strips_of(p);
    codec_strips_wanted w = {.end = n, .passes = p->decoder->passes};
    if (!is_there(p)) return w;
    while (codec_strip_row(grid, n, w.first + 1) <= needed.y) w.first++;
    while (codec_strip_row(grid, n, w.end - 1) >= needed.y + needed.height) w.end--;
    return w;
}

/* Nonzero: so little is shown, and was before, that decoding its strips costs less than decoding
 * the group, which is not there yet. */
static int is_a_few_strips(part *p) {
    taper_decoder *d = p->decoder;
    const uint32_t rate_class = codec_container_rate_class(d->container, p->info.group);
    const codec_group_reader *kept = &d->reading.readers.of_rate_class[rate_class];
    if (!has_strips(p) || (kept->images && kept->number == p->info.group)) return 0;
    if (codec_kept_groups_has(&d->supplying.groups, p->info.group)) return 0;
    const codec_strips_wanted w = strips_needed(p);
    const uint32_t before =
        d->parts[rate_class].image == p->number ? d->parts[rate_class].strips : 0;
    d->parts[rate_class].image = p->number;
    d->parts[rate_class].strips = before + (w.end - w.first);
    return d->parts[rate_class].strips < strips_of(p);
}

/* Open a reader of the strips that are needed. Where memory is short, no group is kept. */
static taper_status open_strips(const part *p, codec_strip_reader *r) {
    taper_decoder *d = p->decoder;
    const codec_chunk_source from = source_of(p);
    const codec_strips_wanted wanted = strips_needed(p);
    const uint32_t g = p->info.group - p->leaf->first_group;
    taper_status status = TAPER_ERR_LIMIT;
    for (int alone = goes_by_strips(p); alone < 2 && status == TAPER_ERR_LIMIT; alone++) {
        if (alone) codec_decoder_drop_others(d, FORMATS_MAX_RATE_CLASSES);
        status = codec_decoder_need(d, &p->info, memory_by_strips(p), p->error);
        if (status == TAPER_OK)
            status = codec_strip_reader_open(r, codec_decoder_model(d), &from, g, &wanted,
                                             &d->account, p->error);
    }
    return status;
}

static taper_status render_by_strips(part *p) {
    taper_decoder *d = p->decoder;
    codec_strip_reader r;
    const uint32_t g = p->info.group - p->leaf->first_group;
    if (d->helpers) codec_decoder_free_helpers(d);
    TAPER_TRY(open_strips(p, &r));
    taper_status status = codec_decoder_need(d, &p->info, memory_by_strips(p), p->error);
    if (status == TAPER_OK) status = render_strips(p, &r);
    p->done.passes_in_file = formats_front_layer_end(p->leaf, p->leaf->layers - 1, g);
    p->done.bytes = r.bytes_used;
    p->done.stages = codec_decoder_model(d)->info.stages_known;
    p->done.complete =
        r.is_done || (r.bad && d->feed != CODEC_FEED_SUPPLIED) || d->passes <= p->done.passes;
    if (status == TAPER_OK && r.bad)
        status = p->damage = formats_fail(p->error, TAPER_ERR_CORRUPT,
                                          "layer %u of group %u is damaged (checksum); fetch the "
                                          "file again",
                                          r.layer_at, r.number);
    codec_strip_reader_close(&r);
    return status;
}

/* --- a whole group -------------------------------------------------------------------------- */

/* Render an image whose group is decoded as a whole. */
static taper_status render_loaded(part *p) {
    taper_decoder *d = p->decoder;
    codec_decoder_image image;
    codec_row_renderer renderer;
    const codec_grid grid = grid_of(p);
    const uint64_t bytes = codec_row_renderer_bytes(&p->how, grid.rows);
    TAPER_TRY(codec_decoder_check_memory(d, grid, bytes, p->error));
    TAPER_TRY(codec_decoder_load_image(d, p->number, d->passes, &image, p->error));
    TAPER_TRY(codec_decoder_need(d, &p->info, bytes, p->error));
    const codec_strips *strips = &image.group->strips;
    p->how.pass = codec_group_reader_passes(image.group, p->leaf);
    taper_status status = codec_row_renderer_begin(&renderer, &p->how);
    for (uint32_t i = 0; i < strips->n && status == TAPER_OK; i++) {
        const codec_strip_rows whole = {&strips->coder[i].group, image.first, 0, grid.rows};
        const codec_strip_rows strip = {&strips->coder[i].group, 0,
                                        codec_strip_row(grid, strips->n, i),
                                        codec_strip_row(grid, strips->n, i + 1)};
        status = codec_row_renderer_put(&renderer, strips->n > 1 ? strip : whole);
    }
    codec_row_renderer_end(&renderer);
    if (status == TAPER_ERR_NOMEM) formats_fail(p->error, status, "no memory to render an image");
    TAPER_TRY(status);
    p->done = codec_decoder_completeness(d, image.group);
    return codec_decoder_damage(image.group, p->error);
}

/* --- the interface -------------------------------------------------------------------------- */

static taper_status check_crop(const taper_image_info *info, const taper_crop *crop,
                               taper_error *error) {
    if (crop->width && crop->height && crop->x < info->width && crop->y < info->height &&
        crop->width <= info->width - crop->x && crop->height <= info->height - crop->y)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "the rectangle of %u x %u pixels at %u, %u is not within the image of %u x "
                        "%u",
                        crop->width, crop->height, crop->x, crop->y, info->width, info->height);
}

/* The pixels of a small version that a rectangle of the image lies in. */
static codec_rectangle scaled_crop(const taper_crop *crop, uint32_t scale) {
    const uint32_t x = crop->x / scale, y = crop->y / scale;
    return (codec_rectangle){x, y, (crop->x + crop->width - 1) / scale - x + 1,
                             (crop->y + crop->height - 1) / scale - y + 1};
}

static taper_status make_part(part *p, taper_decoder *d, uint64_t i, const taper_crop *crop,
                              taper_error *error) {
    *p = (part){.decoder = d, .info = {.size = sizeof p->info}, .error = error};
    TAPER_TRY(codec_decoder_find(d, i, &p->info, error));
    p->number = i = p->info.same_as;
    const taper_image_info *info = &p->info;
    const taper_crop all = {0, 0, info->width, info->height};
    if (!crop) crop = &all;
    TAPER_TRY(check_crop(info, crop, error));
    p->leaf = codec_container_leaf_of_image(d->container, (uint32_t)i);
    p->how = (codec_row_rendering){
        .model = codec_decoder_model(d),
        .backend = &d->backend,
        .image = {info->width, info->height, info->channels, info->depth, NULL},
        .crop = {crop->x, crop->y, crop->width, crop->height}};
    return TAPER_OK;
}

static taper_status render_part(part *p) {
    return goes_by_strips(p) || is_a_few_strips(p) ? render_by_strips(p) : render_loaded(p);
}

int codec_decoder_goes_by_strips(taper_decoder *d, uint64_t i) {
    part p;
    return make_part(&p, d, i, NULL, NULL) == TAPER_OK && goes_by_strips(&p);
}

static taper_status scale_whole(taper_decoder *d, uint64_t i, uint32_t scale, taper_image *out,
                                taper_completeness *done, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    int is_small = codec_model_has_small(codec_decoder_model(d), scale);
    uint64_t n = (uint64_t)info.columns * info.rows, bytes = UINT64_MAX / 2;
    if (n < UINT32_MAX)
        bytes = is_small ? small_bytes(d, &info, scale) : codec_decoder_picture_bytes(d, &info);
    const codec_grid grid = {info.columns, info.rows};
    if (!info.is_indexed) TAPER_TRY(codec_decoder_check_memory(d, grid, bytes, error));
    TAPER_TRY(codec_decoder_load_image(d, i, d->passes, &image, error));
    out->width = (info.width - 1) / scale + 1, out->height = (info.height - 1) / scale + 1;
    out->channels = info.channels, out->depth = info.depth;
    if (info.is_indexed) {
        codec_pixels_store(image.pixels, scale, out);
    } else {
        if (image.pixels) out->channels--;
        TAPER_TRY((is_small ? shrink_by_basis : shrink_whole)(d, &image, scale, out, error));
        if (image.pixels) codec_pixels_add_alpha(image.pixels, scale, out);
    }
    if (done) *done = codec_decoder_completeness(d, image.group);
    return codec_decoder_damage(image.group, error);
}

taper_status taper_decoder_render(taper_decoder *d, uint64_t i, taper_image *out,
                                  taper_completeness *done, taper_error *error) {
    TAPER_TRY(formats_need(d, "the decoder", error));
    if (out && out->pixels && codec_decoder_goes_by_strips(d, i))
        return taper_decoder_render_crop(d, i, 1, NULL, out, done, error);
    return codec_decoder_render_loaded(d, i, out, done, error);
}

taper_status taper_decoder_render_scaled(taper_decoder *d, uint64_t i, uint32_t scale,
                                         taper_image *out, taper_completeness *done,
                                         taper_error *error) {
    if (scale == 1) return taper_decoder_render(d, i, out, done, error);
    TAPER_TRY(formats_need(d, "the decoder", error));
    taper_image_info info = {.size = sizeof info};
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    TAPER_TRY(codec_decoder_check_scale(scale, error));
    if (!out || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no memory for the pixels");
    return scale_whole(d, i, scale, out, done, error);
}

/* Rows of a small version, or of an image with a plane. The whole of it is in memory. */
static taper_status rows_of_whole(part *p, uint32_t scale, codec_rectangle crop) {
    enum { ROWS = 64 };
    const taper_image_info *info = &p->info;
    const uint32_t width = (info->width - 1) / scale + 1, height = (info->height - 1) / scale + 1;
    const size_t pixel = (size_t)info->channels * (info->depth / 8u), stride = width * pixel;
    const uint64_t bytes = (uint64_t)height * stride + (uint64_t)ROWS * crop.width * pixel;
    if (formats_account_take(&p->decoder->account, bytes) != TAPER_OK)
        return codec_decoder_refuse(p->decoder, p->decoder->account.used + bytes, p->error);
    taper_image whole = {.pixels = malloc((size_t)height * stride)},
                rows = {crop.width, 0, info->channels, info->depth,
                        malloc(ROWS * crop.width * pixel)};
    taper_status status =
        whole.pixels && rows.pixels
            ? (scale == 1
                   ? codec_decoder_render_loaded(p->decoder, p->number, &whole, &p->done, p->error)
                   : scale_whole(p->decoder, p->number, scale, &whole, &p->done, p->error))
            : formats_fail(p->error, TAPER_ERR_NOMEM, "no memory for the image");
    p->damage = status == TAPER_ERR_CORRUPT ? status : TAPER_OK;
    if (p->damage) status = TAPER_OK;
    for (uint32_t y = 0; y < crop.height && status == TAPER_OK; y += rows.height) {
        rows.height = crop.height - y < ROWS ? crop.height - y : ROWS;
        for (uint32_t k = 0; k < rows.height; k++)
            memcpy((char *)rows.pixels + k * crop.width * pixel,
                   (const char *)whole.pixels + (crop.y + y + k) * stride + crop.x * pixel,
                   crop.width * pixel);
        status = p->how.to.take(p->how.to.user, y, &rows);
    }
    free(whole.pixels), free(rows.pixels);
    formats_account_give(&p->decoder->account, bytes);
    return status == TAPER_OK ? p->damage : status;
}

taper_status taper_decoder_render_rows(taper_decoder *d, uint64_t i, uint32_t scale,
                                       const taper_crop *crop, const taper_row_sink *to,
                                       taper_completeness *done, taper_error *error) {
    part p;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need(to, "the sink of rows", error));
    if (!to->write) return formats_fail(error, TAPER_ERR_ARG, "a function of the sink is NULL");
    TAPER_TRY(make_part(&p, d, i, crop, error));
    TAPER_TRY(codec_decoder_check_scale(scale, error));
    p.how.to = (codec_row_taker){to->user, to->write};
    const taper_crop part_of = {p.how.crop.x, p.how.crop.y, p.how.crop.width, p.how.crop.height};
    const taper_status status = scale == 1 && !is_whole(&p)
                                    ? render_part(&p)
                                    : rows_of_whole(&p, scale, scaled_crop(&part_of, scale));
    if (done) *done = p.done;
    return status;
}

static taper_status copy_rows(void *user, uint32_t first, const taper_image *rows) {
    const taper_image *to = user;
    const size_t stride = (size_t)rows->width * rows->channels * (rows->depth / 8u);
    memcpy((char *)to->pixels + first * stride, rows->pixels, rows->height * stride);
    return TAPER_OK;
}

taper_status taper_decoder_render_crop(taper_decoder *d, uint64_t i, uint32_t scale,
                                       const taper_crop *crop, taper_image *out,
                                       taper_completeness *done, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    if (!out || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no memory for the pixels");
    TAPER_TRY(codec_decoder_check_scale(scale, error));
    const taper_crop all = {0, 0, info.width, info.height};
    if (!crop) crop = &all;
    TAPER_TRY(check_crop(&info, crop, error));
    const codec_rectangle size = scaled_crop(crop, scale);
    out->width = size.width, out->height = size.height;
    out->channels = info.channels, out->depth = info.depth;
    const taper_row_sink to = {out, copy_rows};
    return taper_decoder_render_rows(d, i, scale, crop, &to, done, error);
}

/* --- what was received, without pixels --- */

taper_status taper_decoder_decode(taper_decoder *d, uint64_t i, taper_completeness *done,
                                  taper_error *error) {
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &image.info, error));
    TAPER_TRY(formats_need(done, "the place for how complete it is", error));
    if (codec_decoder_goes_by_strips(d, i))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image %llu is decoded strip by strip; render it",
                            (unsigned long long)i);
    TAPER_TRY(codec_decoder_load_image(d, i, d->passes, &image, error));
    *done = codec_decoder_completeness(d, image.group);
    return codec_decoder_damage(image.group, error);
}
