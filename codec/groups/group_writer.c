/* group_writer.c -- see group_writer.h. */
#include "codec/groups/group_writer.h"
#include "codec/bitplane/quantiser.h"
#include "codec/exact/exact.h"
#include "codec/taper_quality.h"
#include <stdlib.h>

enum { SMALL_MEMORY = 1 << 12 }; /* for small allocations, which are not counted separately */

/* --- memory ----------------------------------------------------------------------------- */

static uint64_t pass_bytes(const taper_model *model, uint64_t windows) {
    return codec_group_stride(windows) * model->tables.units * sizeof(int16_t) + SMALL_MEMORY;
}

/* The chunk of the exact layer may be longer than the pixels before it is coded in plain bits. */
static uint64_t exact_chunk_bytes(const codec_group_size *size) {
    return size->exact ? 2 * size->all_bytes + SMALL_MEMORY : 0;
}

/* Memory of the exact layer beside its chunk: lossy images, windows of one, and coders. */
static uint64_t exact_bytes(const taper_model *model, const codec_group_size *size) {
    if (!size->exact) return 0;
    return size->all_bytes + size->images * sizeof(taper_image) +
           size->most_windows * model->network.inputs * sizeof(int16_t) * 4 +
           3 * codec_exact_bytes(size->width, 4);
}

uint64_t codec_group_chunk_bytes(const taper_model *model, const codec_group_size *size) {
    return pass_bytes(model, size->shape.windows) + size->pixel_chunk_bytes +
           exact_chunk_bytes(size);
}

void codec_group_size_add(codec_group_size *size, const formats_geometry *of, codec_grid grid,
                          uint64_t bytes) {
    const uint64_t windows = (uint64_t)grid.columns * grid.rows;
    size->images++;
    size->all_bytes += bytes;
    if (of->width > size->width) size->width = of->width;
    if (codec_pixels_has_plane(of)) {
        size->pixels += (uint64_t)of->width * of->height;
        size->plane_bytes += codec_pixel_image_bytes(of);
        size->pixel_chunk_bytes += codec_pixel_chunk_bytes(of);
    }
    if (of->indexed) return;
    codec_group_shape_add(&size->shape, grid);
    size->most_windows = windows > size->most_windows ? windows : size->most_windows;
    size->most_bytes = bytes > size->most_bytes ? bytes : size->most_bytes;
}

/* Windows as floats: those of the largest image and those that fill its last block; and a block of
 * codes. */
typedef struct analysis {
    float *pixels, *code;
} analysis;

static void lay_out_analysis(analysis *a, const taper_model *m, uint64_t most_windows,
                             formats_layout *at) {
    const uint64_t windows = most_windows + CODEC_ROWS_AT_ONCE;
    a->pixels = formats_lay(at, windows * m->network.inputs, sizeof *a->pixels);
    a->code = formats_lay(at, CODEC_ROWS_AT_ONCE * (uint64_t)m->tables.units, sizeof *a->code);
}

/* Of the images that have windows. */
typedef struct lists {
    codec_group_images of;
    codec_grid *grid;            /* [n] */
    codec_clipping_image *parts; /* [n] */
    size_t *number;              /* [n] of each image in the group */
    codec_lossy_images lossy;    /* of the group; with the exact layer */
    const taper_image *original; /* of the group */
} lists;

static void lay_out_lists(lists *of, uint64_t images, formats_layout *at) {
    of->grid = formats_lay(at, images, sizeof *of->grid);
    of->parts = formats_lay(at, images, sizeof *of->parts);
    of->number = formats_lay(at, images, sizeof *of->number);
    of->of.image = formats_lay(at, images, sizeof *of->of.image);
    of->of.code = formats_lay(at, images, sizeof *of->of.code);
}

/* Fill the lists. Returns the number of windows. */
static uint64_t list_images(const codec_group_writer *w, const codec_group_images *images,
                            lists *of) {
    uint64_t windows = 0;
    for (size_t i = 0; i < images->n; i++) {
        if (images->indexed && images->indexed[i]) continue;
        const taper_image *image = &images->image[i];
        const size_t n = of->of.n++;
        of->of.image[n] = *image, of->number[n] = i;
        if (images->code) of->of.code[n] = images->code[i];
        of->grid[n] = codec_windows_grid(w->model->window, image->width, image->height);
        windows += (uint64_t)of->grid[n].columns * of->grid[n].rows;
    }
    of->of.is_codes = images->is_codes;
    if (!images->code) of->of.code = NULL;
    return windows;
}

/* The codes of a group: [units][stride]. */
typedef struct codes {
    int16_t *value;
    size_t stride;
    formats_block block;
} codes;

static void lay_out_codes(codes *q, const taper_model *m, uint64_t windows, formats_layout *at) {
    q->stride = codec_group_stride(windows);
    q->value = formats_lay(at, m->tables.units * (uint64_t)q->stride, sizeof *q->value);
}

uint64_t codec_group_write_bytes(const taper_model *m, const codec_group_size *size) {
    formats_layout codes_at = {0}, floats_at = {0}, at = {0};
    const uint64_t windows = size->shape.windows;
    analysis a;
    lists of;
    codes q;
    const uint64_t pixel_bytes = size->plane_bytes + size->pixel_chunk_bytes +
                                 2 * codec_pixel_coding_bytes(size->pixels) +
                                 size->images * sizeof(codec_pixel_image);
    if (windows >= (uint64_t)1 << 32) return UINT64_MAX;
    const uint64_t exact = exact_bytes(m, size) + exact_chunk_bytes(size);
    if (!windows) return pixel_bytes + exact + SMALL_MEMORY + size->images * sizeof(lists);
    lay_out_codes(&q, m, windows, &codes_at);
    lay_out_analysis(&a, m, size->most_windows, &floats_at);
    lay_out_lists(&of, size->images, &at);
    uint64_t floats = floats_at.used + codec_network_scratch_bytes(&m->network),
             coding = codec_strips_bytes(&m->tables, &size->shape) +
                      2 * pass_bytes(m, windows), /* with strings of strips */
        most = codes_at.used + coding;
    if (!size->has_codes && codes_at.used + floats > most) most = codes_at.used + floats;
    if (size->measured && coding + floats + size->most_bytes > most)
        most = coding + floats + size->most_bytes;
    uint64_t most_raised = (uint64_t)m->tables.units * CODEC_MAX_PLANES;
    if (size->pixels) most += pixel_bytes;
    most += exact;
    return most + at.used + SMALL_MEMORY + codec_raised_planes_bytes(&m->tables, most_raised);
}

/* --- codes ------------------------------------------------------------------------------ */

/* Quantise the codes of the n windows of *a, which begin at window `first`. Works in blocks to save
 * memory. */
static taper_status quantise_windows(const codec_group_writer *w, const analysis *a, uint32_t n,
                                     uint32_t first, const codes *q) {
    const codec_code_tables *t = &w->model->tables;
    codec_backend backend = *w->backend;
    for (uint32_t at = 0; at < n; at += CODEC_ROWS_AT_ONCE) {
        uint32_t rows = n - at < CODEC_ROWS_AT_ONCE ? n - at : CODEC_ROWS_AT_ONCE;
        TAPER_TRY(codec_network_encode(w->network, &backend,
                                       a->pixels + (size_t)at * w->network->inputs, rows, a->code));
        for (uint32_t u = 0; u < t->units; u++)
            for (uint32_t r = 0; r < rows; r++)
                q->value[u * q->stride + first + at + r] =
                    codec_quantise_wide(t, u, a->code[(size_t)r * t->units + u]);
    }
    return TAPER_OK;
}

/* Copy given codes. */
static void copy_codes(const codec_group_images *images, const codec_grid *grid, uint32_t units,
                       const codes *q) {
    size_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const int16_t *code = images->code[i];
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        for (size_t r = 0; r < windows; r++)
            for (uint32_t u = 0; u < units; u++)
                q->value[u * q->stride + first + r] = code[r * units + u];
        first += windows;
    }
}

static taper_status quantise_images(const codec_group_writer *w, const codec_group_images *images,
                                    const codec_grid *grid, const codes *q) {
    codec_window window = w->model->window;
    size_t inputs = codec_window_values(window), most = 0;
    for (size_t i = 0; i < images->n; i++) {
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        most = windows > most ? windows : most;
    }
    formats_layout at = {0};
    formats_block block;
    analysis a;
    lay_out_analysis(&a, w->model, most, &at);
    TAPER_TRY(formats_block_take_unset(&block, &at, NULL));
    lay_out_analysis(&a, w->model, most, &at);
    taper_status status = TAPER_OK;
    uint32_t first = 0, waiting = 0; /* quantised windows, windows in `pixels` */
    for (size_t i = 0; i < images->n && status == TAPER_OK; i++) {
        codec_windows_read(window, &images->image[i], a.pixels + waiting * inputs);
        waiting += grid[i].columns * grid[i].rows;
        if (waiting < CODEC_ROWS_AT_ONCE && i + 1 < images->n) continue;
        status = quantise_windows(w, &a, waiting, first, q);
        first += waiting;
        waiting = 0;
    }
    formats_block_free(&block);
    return status;
}

/* Fill the codes and choose which planes to raise. Given codes are already quantised and lose
 * nothing. */
static taper_status fill_codes(const codec_group_writer *w, const codec_group_images *images,
                               const lists *of, const codes *q, codec_written_group *written) {
    const codec_code_tables *t = &w->model->tables;
    uint32_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const taper_image *image = &images->image[i];
        uint32_t windows = of->grid[i].columns * of->grid[i].rows;
        of->parts[i] = (codec_clipping_image){
            first, windows, (uint64_t)image->width * image->height * w->model->window.channels};
        first += windows;
    }
    if (images->code)
        copy_codes(images, of->grid, t->units, q);
    else
        TAPER_TRY(quantise_images(w, images, of->grid, q));
    return codec_clipping_choose(t, q->value, q->stride, of->parts, images->n,
                                 images->is_codes ? 0 : CODEC_CLIPPING_MAY_LOSE, &written->raised,
                                 &written->n_raised);
}

/* Coding that ends at a limit leaves PAST bytes behind it, so that the bytes before it are known to
 * be right. */
enum { PAST = 24, LOOKED_AT = 8 };

/* The bytes up to `most` of a string whose coding ended at a limit. Of the bytes behind them, the
 * first are looked at; carries of what was coded and not written may have changed the others. They
 * passed these, or later ones could, only if these are all 0 or all 255. */
static int limit_is_clean(const formats_buffer *out, uint64_t begin, uint64_t most) {
    int zeros = 0, ones = 0;
    if (begin > most) return 1; /* the string before has ended */
    for (size_t i = 0; i < LOOKED_AT; i++) {
        zeros += out->data[most + i] == 0;
        ones += out->data[most + i] == 255;
    }
    return zeros < LOOKED_AT && ones < LOOKED_AT;
}

/* Encode layers until the ceiling of `out` ends it. *layer: the layer that is then incomplete.
 * most: as in codec_group_writer; several strips end behind it without a ceiling. */
static taper_status write_until(const codec_layer_ends *layers, uint64_t most, codec_strips *strips,
                                const codes *q, formats_buffer *out, uint64_t *chunk_at,
                                uint32_t *layer) {
    const uint64_t limit = most && strips->n > 1 ? chunk_at[0] + most : 0;
    int ended = 0;
    for (uint32_t l = *layer = 0; l < layers->n; *layer = ++l) {
        const codec_group *g = &strips->coder->group;
        uint32_t end = codec_raised_planes_end(g->tables, layers->end[(size_t)l * layers->stride]);
        if (g->pass < end && !ended) /* otherwise the chunk is empty */
            TAPER_TRY(codec_strips_encode(strips, q->value, q->stride, end, limit, out, &ended));
        chunk_at[l + 1] = out->size;
    }
    return TAPER_OK;
}

/* Encode layers from the first pass on. most: as in codec_group_writer; 0: no limit. */
static taper_status write_layers(const codec_layer_ends *layers, uint64_t most,
                                 codec_strips *strips, const codes *q, formats_buffer *out,
                                 uint64_t *chunk_at) {
    const size_t ceiling = out->ceiling, start = (size_t)chunk_at[0];
    uint32_t layer;
    const int is_limited =
        strips->n == 1 && most && most < ceiling && ceiling - most > start + PAST;
    if (is_limited) out->ceiling = start + (size_t)most + PAST;
    taper_status status = write_until(layers, most, strips, q, out, chunk_at, &layer);
    out->ceiling = ceiling;
    if (status != TAPER_ERR_LIMIT || !is_limited) return status;
    out->status = TAPER_OK;
    for (uint32_t l = layer; l < layers->n; l++) chunk_at[l + 1] = out->size;
    if (limit_is_clean(out, chunk_at[layer], start + most)) return TAPER_OK;
    out->size = start;
    codec_strips_reset(strips);
    return write_until(layers, 0, strips, q, out, chunk_at, &layer);
}

/* Encode all layers, or the longer ones if these leave bytes unused. */
static taper_status write_chunks(const codec_group_writer *w, codec_strips *strips, const codes *q,
                                 formats_buffer *out, codec_written_group *written) {
    uint64_t *at = written->chunk_at;
    TAPER_TRY(write_layers(&w->layers, w->most, strips, q, out, at));
    if (!w->longer.n || out->size - at[0] >= w->least) return TAPER_OK;
    written->is_longer = 1;
    out->size = (size_t)at[0];
    codec_strips_reset(strips);
    return write_layers(&w->longer, w->most, strips, q, out, at);
}

/* Encode the layers of a group and measure its quality. Groups with raised planes have their own
 * tables. The codes are freed before the measurement. */
static taper_status write_group(const codec_group_writer *w, const lists *of, codes *q,
                                formats_buffer *out, codec_written_group *written,
                                taper_error *error) {
    const codec_group_images *images = &of->of;
    const codec_code_tables *tables = &w->model->tables;
    codec_code_tables raised = {0};
    codec_strips strips = {0};
    taper_status status = TAPER_OK;
    if (written->n_raised) {
        status = codec_raised_planes_make(&raised, tables, written->raised, written->n_raised, NULL,
                                          error);
        tables = &raised;
    }
    if (status == TAPER_OK)
        status = codec_strips_alloc(&strips, tables, of->grid, images->n, NULL, error);
    if (status == TAPER_OK) status = write_chunks(w, &strips, q, out, written);
    formats_block_free(&q->block);
    if (status == TAPER_OK && w->measure && !images->is_codes)
        status = codec_group_quality(w->model, w->backend, &strips, images->image, images->n,
                                     &written->least);
    if (status == TAPER_OK && w->exact)
        status = codec_lossy_images_render(&of->lossy, of->original, of->number, images->n,
                                           w->model, w->backend, &strips);
    codec_strips_free(&strips);
    codec_raised_planes_free(&raised);
    return status;
}

void codec_written_group_free(codec_written_group *written) {
    free(written->chunk_at), free(written->raised);
    *written = (codec_written_group){0};
}

static taper_status open_codes(codes *q, const taper_model *m, uint64_t windows) {
    formats_layout at = {0};
    if (windows > INT32_MAX) return TAPER_ERR_NOMEM;
    lay_out_codes(q, m, windows, &at);
    TAPER_TRY(formats_block_take_unset(&q->block, &at, NULL));
    lay_out_codes(q, m, windows, &at);
    return TAPER_OK;
}

/* Encode the layers of passes. */
static taper_status write_passes(const codec_group_writer *w, lists *of, uint64_t windows,
                                 formats_buffer *out, codec_written_group *written,
                                 taper_error *error) {
    codes q = {0};
    taper_status status = open_codes(&q, w->model, windows);
    if (status == TAPER_OK) status = fill_codes(w, &of->of, of, &q, written);
    if (status == TAPER_OK) status = write_group(w, of, &q, out, written, error);
    formats_block_free(&q.block);
    if (status == TAPER_OK && of->of.n) written->least.image = of->number[written->least.image];
    return status;
}

/* --- pixel layers ------------------------------------------------------------------------ */

/* The geometries of the images of a group. */
static formats_geometry geometry_of(const codec_group_images *images, size_t i) {
    const taper_image *image = &images->image[i];
    const uint8_t alpha = !(image->channels & 1);
    return (formats_geometry){image->width, image->height, (uint8_t)(image->channels - alpha),
                              image->depth, alpha,         images->indexed && images->indexed[i]};
}

static const formats_geometry *listed_geometry(const void *user, size_t i) {
    return (const formats_geometry *)user + i;
}

/* Append the chunks of the pixel layers. */
static taper_status encode_pixels(const codec_group_images *images, const formats_geometry *of,
                                  formats_buffer *out, codec_written_group *written) {
    codec_pixel_group pixels;
    taper_status status = codec_pixel_group_open(&pixels, images->n, listed_geometry, of, NULL);
    for (size_t i = 0; i < images->n && status == TAPER_OK; i++)
        status = codec_pixel_image_take(&pixels, i, &images->image[i]);
    for (int kind = FORMATS_LAYER_FIRST; kind < FORMATS_LAYER_KINDS && status == TAPER_OK; kind++) {
        status = codec_pixel_group_encode(&pixels, (formats_layer_kind)kind, out);
        written->pixel_at[kind] = out->size;
    }
    codec_pixel_group_close(&pixels);
    return status;
}

static taper_status write_pixels(const codec_group_images *images, formats_buffer *out,
                                 codec_written_group *written) {
    formats_geometry *of = malloc(images->n * sizeof *of);
    int any = 0;
    if (!of) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < images->n; i++) {
        of[i] = geometry_of(images, i);
        any |= codec_pixels_has_plane(&of[i]);
    }
    for (int kind = 0; kind < FORMATS_LAYER_KINDS; kind++) written->pixel_at[kind] = out->size;
    const taper_status status = any ? encode_pixels(images, of, out, written) : TAPER_OK;
    free(of);
    return status;
}

/* Make what the exact layer needs of images without windows. */
static taper_status begin_exact(const codec_group_writer *w, const codec_group_images *images,
                                lists *of) {
    if (!w->exact) return TAPER_OK;
    of->original = images->image;
    TAPER_TRY(codec_lossy_images_make(&of->lossy, images->image, images->n));
    for (size_t i = 0; i < images->n; i++)
        if (images->indexed && images->indexed[i])
            codec_lossy_image_index(&of->lossy.image[i], &images->image[i]);
    return TAPER_OK;
}

/* --- a group ----------------------------------------------------------------------------- */

taper_status codec_group_write(const codec_group_writer *w, const codec_group_images *images,
                               formats_buffer *out, codec_written_group *written,
                               taper_error *error) {
    formats_layout at = {0};
    formats_block block;
    lists of = {0};
    *written = (codec_written_group){.chunk_at = written->chunk_at,
                                     .least = {.psnr_db = 2 * TAPER_PSNR_CEILING_DB}};
    lay_out_lists(&of, images->n, &at);
    TAPER_TRY(formats_block_take_unset(&block, &at, NULL));
    lay_out_lists(&of, images->n, &at);
    const uint64_t windows = list_images(w, images, &of);
    taper_status status = begin_exact(w, images, &of);
    if (status == TAPER_OK && windows) status = write_passes(w, &of, windows, out, written, error);
    for (uint32_t l = 0; !windows && l < w->layers.n; l++)
        written->chunk_at[l + 1] = written->chunk_at[0];
    if (status == TAPER_OK) status = write_pixels(images, out, written);
    if (status == TAPER_OK && w->exact)
        status = codec_lossy_images_encode(&of.lossy, images->image, out);
    if (w->exact) written->pixel_at[FORMATS_LAYER_EXACT] = out->size;
    codec_lossy_images_free(&of.lossy);
    formats_block_free(&block);
    if (status == TAPER_OK) return status;
    free(written->raised);
    written->raised = NULL, written->n_raised = 0;
    return status;
}
