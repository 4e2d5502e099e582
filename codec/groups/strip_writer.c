/* strip_writer.c -- see strip_writer.h. Each strip is encoded from its first pass to its last, and
 * the sizes of its strings are noted where codec_strips_encode looks at them. When all strips are
 * encoded, the segments follow from these. */
#include "codec/groups/strip_writer.h"
#include "codec/groups/strip_quality.h"
#include "codec/taper_quality.h"
#include <stdlib.h>
#include <string.h>

/* --- what is noted -------------------------------------------------------------------------- */

/* The strings of a layer. */
typedef struct layer_strings {
    uint32_t begin, end;      /* passes, with raised ones; the layer is empty if begin >= end */
    uint32_t steps;           /* places where sizes are noted */
    formats_buffer *string;   /* [strips] */
    codec_strip_sizes *sizes; /* [steps][strips] */
} layer_strings;

typedef struct writing {
    const codec_group_writer *by;
    const codec_strip_codes *codes;
    const codec_code_tables *tables; /* with raised planes */
    int clips;                       /* codes are clipped to the model's planes */
    const codec_layer_ends *ends;
    uint32_t most_passes;         /* that are encoded */
    layer_strings *layer;         /* [ends->n] */
    int16_t *value;               /* codes of a strip */
    codec_strip_quality *quality; /* NULL: not measured */
    taper_error *error;
} writing;

static void free_layers(writing *t) {
    for (uint32_t l = 0; t->layer && l < t->ends->n; l++) {
        for (uint32_t i = 0; t->layer[l].string && i < t->codes->strips; i++)
            formats_buffer_free(&t->layer[l].string[i]);
        free(t->layer[l].string), free(t->layer[l].sizes);
    }
    free(t->layer);
    t->layer = NULL;
}

static taper_status make_layer(const writing *t, uint32_t l, uint32_t begin, layer_strings *layer) {
    const uint32_t n = t->codes->strips, end = codec_raised_planes_end(
                                             t->tables, t->ends->end[(size_t)l * t->ends->stride]);
    *layer = (layer_strings){.begin = begin, .end = end < t->most_passes ? end : t->most_passes};
    if (layer->begin >= layer->end) return TAPER_OK;
    layer->steps = (layer->end - begin - 1) / CODEC_STRIPS_STEP + 1;
    layer->string = calloc(n, sizeof *layer->string);
    layer->sizes = calloc((size_t)layer->steps * n, sizeof *layer->sizes);
    if (!layer->string || !layer->sizes) return TAPER_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++) layer->string[i] = formats_buffer_make(FORMATS_MOST_BYTES);
    return TAPER_OK;
}

static taper_status make_layers(writing *t) {
    uint32_t begin = 0;
    t->layer = calloc(t->ends->n, sizeof *t->layer);
    if (!t->layer) return TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l < t->ends->n; l++) {
        TAPER_TRY(make_layer(t, l, begin, &t->layer[l]));
        if (t->layer[l].end > begin) begin = t->layer[l].end;
    }
    return TAPER_OK;
}

/* --- strips --------------------------------------------------------------------------------- */

/* Clip the codes of the units that exceed the model's planes. */
static void clip(const writing *t, size_t stride) {
    const codec_code_tables *model = &t->by->model->tables;
    for (uint32_t u = 0; u < model->units; u++) {
        const int32_t top = (int32_t)(((uint32_t)1 << model->planes[u]) - 1);
        int16_t *value = t->value + u * stride;
        if (t->codes->largest[u] <= top) continue;
        for (size_t p = 0; p < stride; p++)
            value[p] = (int16_t)(value[p] > top ? top : value[p] < -top ? -top : value[p]);
    }
}

static taper_status load_codes(const writing *t, uint32_t i, size_t stride) {
    const codec_strip_codes *s = t->codes;
    TAPER_TRY(
        s->in.read(s->in.user, s->at[i], t->value, stride * t->tables->units * sizeof *t->value));
    if (t->clips) clip(t, stride);
    return TAPER_OK;
}

/* Encode a layer of strip i, and note the sizes. */
static taper_status encode_layer(const writing *t, codec_chunk_coder *c, layer_strings *layer,
                                 uint32_t i) {
    formats_buffer *string = &layer->string[i];
    codec_rc_encoder rc;
    codec_rc_encoder_init(&rc, string);
    for (uint32_t step = 0; step < layer->steps; step++) {
        const uint32_t left = layer->end - c->group.pass,
                       end = c->group.pass +
                             (left < CODEC_STRIPS_STEP ? left : (uint32_t)CODEC_STRIPS_STEP);
        TAPER_TRY(codec_chunk_encode_passes(c, t->value, end, &rc, NULL));
        layer->sizes[(size_t)step * t->codes->strips + i] = codec_strip_sizes_of(string);
    }
    codec_rc_encoder_finish(&rc);
    return string->status;
}

static taper_status encode_strip(const writing *t, uint32_t i) {
    const codec_grid grid = codec_strip_codes_grid(t->codes, i);
    const size_t stride = codec_strip_codes_stride(t->codes, i);
    codec_chunk_coder c;
    TAPER_TRY(load_codes(t, i, stride));
    TAPER_TRY(codec_chunk_coder_alloc(&c, t->tables, &grid, 1, t->error));
    c.code_stride = stride;
    taper_status status = TAPER_OK;
    for (uint32_t l = 0; l < t->ends->n && status == TAPER_OK; l++)
        if (t->layer[l].steps) status = encode_layer(t, &c, &t->layer[l], i);
    if (status == TAPER_OK && t->quality) status = codec_strip_quality_put(t->quality, &c.group, i);
    codec_chunk_coder_free(&c);
    return status;
}

/* --- the chunks ----------------------------------------------------------------------------- */

/* Append the layers to out, and free their strings. *ended: the limit ended them. */
static taper_status join_layers(const writing *t, uint64_t limit, formats_buffer *out,
                                uint64_t *chunk_at, int *ended) {
    *ended = 0;
    for (uint32_t l = 0; l < t->ends->n; l++) {
        layer_strings *layer = &t->layer[l];
        if (layer->steps && !*ended) {
            const codec_encoded_strips of = {t->codes->strips, layer->steps, layer->string,
                                             layer->sizes};
            TAPER_TRY(codec_strips_join(&of, limit, out, ended));
        }
        for (uint32_t i = 0; layer->string && i < t->codes->strips; i++)
            formats_buffer_free(&layer->string[i]);
        chunk_at[l + 1] = out->size;
    }
    return TAPER_OK;
}

static taper_status encode_all(writing *t, uint64_t limit, formats_buffer *out, uint64_t *chunk_at,
                               int *ended) {
    taper_status status = make_layers(t);
    for (uint32_t i = 0; i < t->codes->strips && status == TAPER_OK; i++)
        status = encode_strip(t, i);
    if (status == TAPER_OK) status = join_layers(t, limit, out, chunk_at, ended);
    free_layers(t);
    return status;
}

/* The passes that surely hold `most` bytes, if the image is not smoother than the model's images by
 * a factor of two. */
static uint32_t passes_for(const writing *t, uint64_t most) {
    const codec_code_tables *m = &t->by->model->tables;
    const double pixels = (double)t->codes->image.width * t->codes->image.height,
                 wanted = 2.0 * (double)most * 1e6 / pixels;
    for (uint32_t l = 0; l < m->n_layers; l++)
        if ((double)m->layer[l].bytes_per_mpixel >= wanted)
            return codec_raised_planes_end(t->tables, m->layer[l].pass);
    return UINT32_MAX;
}

/* Encode these layers; most: as in codec_group_writer. */
static taper_status write_layers(writing *t, const codec_layer_ends *ends, uint64_t most,
                                 formats_buffer *out, uint64_t *chunk_at) {
    const uint64_t limit = most ? chunk_at[0] + most : 0;
    const size_t start = (size_t)chunk_at[0];
    int ended = 0;
    t->ends = ends;
    t->most_passes = most ? passes_for(t, most) : UINT32_MAX;
    TAPER_TRY(encode_all(t, limit, out, chunk_at, &ended));
    if (ended || t->most_passes == UINT32_MAX) return TAPER_OK;
    t->most_passes = UINT32_MAX; /* the image is smoother than expected */
    out->size = start;
    return encode_all(t, limit, out, chunk_at, &ended);
}

static taper_status write_all(writing *t, formats_buffer *out, codec_written_group *written) {
    const codec_group_writer *w = t->by;
    uint64_t *at = written->chunk_at;
    TAPER_TRY(write_layers(t, &w->layers, w->most, out, at));
    if (!w->longer.n || out->size - at[0] >= w->least) return TAPER_OK;
    written->is_longer = 1;
    out->size = (size_t)at[0];
    return write_layers(t, &w->longer, w->most, out, at);
}

/* --- planes --------------------------------------------------------------------------------- */

/* As codec_clipping_choose: raise the planes that the image needs, or clip its codes. */
static taper_status choose_planes(writing *t, codec_written_group *written) {
    const codec_code_tables *m = &t->by->model->tables;
    const codec_strip_codes *s = t->codes;
    double loses = 0;
    if (m->density) return TAPER_OK;
    for (uint32_t u = 0; u < m->units; u++) loses += s->loss[u];
    const double samples = (double)s->image.width * s->image.height * t->by->model->window.channels;
    t->clips = loses > 0 && !(loses > CODEC_CLIPPING_MAY_LOSE * samples);
    if (!loses || t->clips) return TAPER_OK;
    written->raised = calloc(m->units, sizeof *written->raised);
    if (!written->raised) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < m->units; u++) {
        uint8_t more = 0;
        while (s->largest[u] > (int32_t)(((uint32_t)1 << (m->planes[u] + more)) - 1)) more++;
        if (more) written->raised[written->n_raised++] = (formats_raised){(uint16_t)u, more};
    }
    return TAPER_OK;
}

static taper_status write_with(writing *t, formats_buffer *out, codec_written_group *written) {
    const codec_strip_codes *s = t->codes;
    const size_t most_windows = (size_t)s->grid.columns * ((s->grid.rows - 1) / s->strips + 1);
    codec_strip_quality quality;
    t->value =
        malloc((size_t)codec_group_stride(most_windows) * t->tables->units * sizeof *t->value);
    taper_status status = t->value ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && t->by->measure && s->pixel_at) {
        status = codec_strip_quality_begin(&quality, t->by->model, t->by->backend, s);
        if (status == TAPER_OK) t->quality = &quality;
    }
    if (status == TAPER_OK) status = write_all(t, out, written);
    if (status == TAPER_OK && t->quality) codec_strip_quality_get(t->quality, &written->least);
    if (t->quality) codec_strip_quality_end(t->quality);
    free(t->value);
    return status;
}

taper_status codec_strips_write(const codec_group_writer *w, const codec_strip_codes *codes,
                                formats_buffer *out, codec_written_group *written,
                                taper_error *error) {
    codec_code_tables raised = {0};
    writing t = {.by = w, .codes = codes, .tables = &w->model->tables, .error = error};
    *written = (codec_written_group){.chunk_at = written->chunk_at,
                                     .least = {.psnr_db = 2 * TAPER_PSNR_CEILING_DB}};
    taper_status status = choose_planes(&t, written);
    if (status == TAPER_OK && written->n_raised) {
        status = codec_raised_planes_make(&raised, t.tables, written->raised, written->n_raised,
                                          NULL, error);
        t.tables = &raised;
    }
    if (status == TAPER_OK) status = write_with(&t, out, written);
    codec_raised_planes_free(&raised);
    if (status == TAPER_OK) return TAPER_OK;
    free(written->raised);
    written->raised = NULL, written->n_raised = 0;
    return status;
}

uint64_t codec_strips_write_bytes(const taper_model *m, const taper_image *image, int measure) {
    const codec_grid grid = codec_windows_grid(m->window, image->width, image->height);
    const uint32_t strips = codec_strips_count(&grid, 1);
    const codec_grid part = {grid.columns, (grid.rows - 1) / strips + 1};
    const codec_group_shape shape = codec_group_shape_of(&part, 1);
    const uint64_t pixels = (uint64_t)image->width * image->height,
                   data =
                       m->tables.layer[m->tables.n_layers - 1].bytes_per_mpixel * pixels / 1000000,
                   codes = codec_group_stride(shape.windows) * m->tables.units * sizeof(int16_t),
                   raised = (uint64_t)m->tables.units * CODEC_MAX_PLANES;
    return codec_strips_bytes(&m->tables, &shape) + codes + 2 * data +
           (measure ? codec_strip_quality_bytes(m, image) : 0) +
           codec_raised_planes_bytes(&m->tables, raised);
}
