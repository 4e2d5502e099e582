/* group_writer.c -- see group_writer.h. */
#include "codec/groups/group_writer.h"
#include "codec/bitplane/quantiser.h"
#include "codec/taper_quality.h"
#include <stdlib.h>

enum { SMALL_MEMORY = 1 << 12 }; /* for small allocations, which are not counted separately */

/* --- memory ----------------------------------------------------------------------------- */

uint64_t codec_group_chunk_bytes(const taper_model *model, uint64_t windows) {
    return codec_group_stride(windows) * model->tables.units * sizeof(int16_t) + SMALL_MEMORY;
}

/* Windows as floats: those of the largest image, those that fill its last block, and a block of
 * codes. */
static uint64_t float_bytes(const taper_model *m, uint64_t most_windows) {
    return ((most_windows + CODEC_ROWS_AT_ONCE) * m->network.inputs +
            (uint64_t)CODEC_ROWS_AT_ONCE * m->network.units) *
               sizeof(float) +
           codec_network_scratch_bytes(&m->network);
}

/* Tables with raised planes, and the raised passes while they are sorted. */
static uint64_t raised_bytes(const codec_code_tables *t) {
    enum { A_PASS = 2 * sizeof(codec_pass) + 4 * sizeof(uint32_t) };
    return ((uint64_t)t->n_rd_slopes + (uint64_t)t->units * CODEC_MAX_PLANES) * A_PASS;
}

uint64_t codec_group_write_bytes(const taper_model *m, const codec_group_size *size) {
    if (size->windows >= (uint64_t)1 << 32) return UINT64_MAX;
    uint64_t codes = codec_group_stride(size->windows) * m->tables.units * sizeof(int16_t);
    uint64_t floats = float_bytes(m, size->most_windows);
    uint64_t coding = codec_strips_bytes(&m->tables, size->windows) +
                      2 * codec_group_chunk_bytes(m, size->windows); /* with strings of strips */
    uint64_t most = codes + coding;
    if (!size->has_codes && codes + floats > most) most = codes + floats;
    if (size->measured && coding + floats + size->most_bytes > most)
        most = coding + floats + size->most_bytes;
    return most + SMALL_MEMORY + raised_bytes(&m->tables) +
           size->images * (sizeof(codec_grid) + sizeof(codec_clipping_image) + sizeof(double) +
                           sizeof(codec_run));
}

/* --- codes ------------------------------------------------------------------------------ */

/* Quantise the codes of n windows into q[units][stride], starting at window `first`. Works in
 * blocks to save memory. code: [CODEC_ROWS_AT_ONCE][units], temporary. */
static taper_status quantise_windows(const codec_group_writer *w, const float *pixels, uint32_t n,
                                     uint32_t first, size_t stride, float *code, int16_t *q) {
    const codec_code_tables *t = &w->model->tables;
    codec_backend backend = *w->backend;
    for (uint32_t at = 0; at < n; at += CODEC_ROWS_AT_ONCE) {
        uint32_t rows = n - at < CODEC_ROWS_AT_ONCE ? n - at : CODEC_ROWS_AT_ONCE;
        TAPER_TRY(codec_network_encode(w->network, &backend,
                                       pixels + (size_t)at * w->network->inputs, rows, code));
        for (uint32_t u = 0; u < t->units; u++)
            for (uint32_t r = 0; r < rows; r++)
                q[u * stride + first + at + r] =
                    codec_quantise_wide(t, u, code[(size_t)r * t->units + u]);
    }
    return TAPER_OK;
}

/* Copy given codes into q[units][stride]. */
static void copy_codes(const codec_group_images *images, const codec_grid *grid, uint32_t units,
                       size_t stride, int16_t *q) {
    size_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const int16_t *code = images->code[i];
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        for (size_t r = 0; r < windows; r++)
            for (uint32_t u = 0; u < units; u++) q[u * stride + first + r] = code[r * units + u];
        first += windows;
    }
}

static taper_status quantise_images(const codec_group_writer *w, const codec_group_images *images,
                                    const codec_grid *grid, size_t stride, int16_t *q) {
    codec_window window = w->model->window;
    size_t inputs = codec_window_values(window), most = 0;
    for (size_t i = 0; i < images->n; i++) {
        size_t windows = (size_t)grid[i].columns * grid[i].rows;
        most = windows > most ? windows : most;
    }
    float *pixels = malloc((most + CODEC_ROWS_AT_ONCE) * inputs * sizeof *pixels);
    float *code = malloc(CODEC_ROWS_AT_ONCE * w->model->tables.units * sizeof *code);
    taper_status status = pixels && code ? TAPER_OK : TAPER_ERR_NOMEM;
    uint32_t first = 0, waiting = 0; /* quantised windows, windows in `pixels` */
    for (size_t i = 0; i < images->n && status == TAPER_OK; i++) {
        codec_windows_read(window, &images->image[i], pixels + waiting * inputs);
        waiting += grid[i].columns * grid[i].rows;
        if (waiting < CODEC_ROWS_AT_ONCE && i + 1 < images->n) continue;
        status = quantise_windows(w, pixels, waiting, first, stride, code, q);
        first += waiting;
        waiting = 0;
    }
    free(pixels), free(code);
    return status;
}

/* Fill q[units][stride] and choose which planes to raise. Given codes are already quantised and
 * lose nothing. */
static taper_status fill_codes(const codec_group_writer *w, const codec_group_images *images,
                               const codec_grid *grid, size_t stride, int16_t *q,
                               codec_written_group *written) {
    const codec_code_tables *t = &w->model->tables;
    codec_clipping_image *parts = malloc(images->n * sizeof *parts);
    if (!parts) return TAPER_ERR_NOMEM;
    uint32_t first = 0;
    for (size_t i = 0; i < images->n; i++) {
        const taper_image *image = &images->image[i];
        uint32_t windows = grid[i].columns * grid[i].rows;
        parts[i] = (codec_clipping_image){
            first, windows, (uint64_t)image->width * image->height * w->model->window.channels};
        first += windows;
    }
    taper_status status = TAPER_OK;
    if (images->code)
        copy_codes(images, grid, t->units, stride, q);
    else
        status = quantise_images(w, images, grid, stride, q);
    if (status == TAPER_OK)
        status = codec_clipping_choose(t, q, stride, parts, images->n,
                                       images->image->pixels ? CODEC_CLIPPING_MAY_LOSE : 0,
                                       &written->raised, &written->n_raised);
    free(parts);
    return status;
}

/* The codes of a group: [units][stride]. */
typedef struct codes {
    int16_t *value;
    size_t stride;
} codes;

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
 * tables. q is freed before the measurement. */
static taper_status write_group(const codec_group_writer *w, const codec_group_images *images,
                                const codec_grid *grid, codes q, formats_buffer *out,
                                codec_written_group *written, taper_error *error) {
    const codec_code_tables *tables = &w->model->tables;
    codec_code_tables raised = {0};
    codec_strips strips = {0};
    taper_status status = TAPER_OK;
    if (written->n_raised) {
        status =
            codec_raised_planes_make(&raised, tables, written->raised, written->n_raised, error);
        tables = &raised;
    }
    if (status == TAPER_OK)
        status = codec_strips_alloc(&strips, tables, grid, images->n, NULL, error);
    if (status == TAPER_OK) status = write_chunks(w, &strips, &q, out, written);
    free(q.value);
    if (status == TAPER_OK && w->measure && images->image->pixels)
        status = codec_group_quality(w->model, w->backend, &strips, images->image, images->n,
                                     &written->least);
    codec_strips_free(&strips);
    codec_raised_planes_free(&raised);
    return status;
}

void codec_written_group_free(codec_written_group *written) {
    free(written->chunk_at), free(written->raised);
    *written = (codec_written_group){0};
}

taper_status codec_group_write(const codec_group_writer *w, const codec_group_images *images,
                               formats_buffer *out, codec_written_group *written,
                               taper_error *error) {
    codec_grid *grid = malloc(images->n * sizeof *grid);
    uint64_t windows = 0;
    *written = (codec_written_group){.chunk_at = written->chunk_at,
                                     .least = {.psnr_db = 2 * TAPER_PSNR_CEILING_DB}};
    if (!grid) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < images->n; i++) {
        grid[i] =
            codec_windows_grid(w->model->window, images->image[i].width, images->image[i].height);
        windows += (uint64_t)grid[i].columns * grid[i].rows;
    }
    size_t stride = codec_group_stride(windows);
    int16_t *q = windows <= INT32_MAX ? malloc(w->model->tables.units * stride * sizeof *q) : NULL;
    taper_status status = q ? fill_codes(w, images, grid, stride, q, written) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = write_group(w, images, grid, (codes){q, stride}, out, written, error);
    else
        free(q);
    free(grid);
    if (status == TAPER_OK) return status;
    free(written->raised);
    written->raised = NULL, written->n_raised = 0;
    return status;
}
