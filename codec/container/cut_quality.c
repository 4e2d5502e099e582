/* cut_quality.c -- see cut_quality.h. */
#include "codec/container/cut_quality.h"
#include "codec/taper_quality.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/holds.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORK = 3 << 19, /* cuts times pixels up to which every cut is rendered */
    LEADING_BITS = 8
};

/* --- originals ------------------------------------------------------------------------- */

static void drop_images(codec_originals *o) {
    for (size_t i = 0; i < o->n; i++) free(o->image[i].pixels);
    free(o->image);
    o->image = NULL, o->n = 0;
}

taper_status codec_originals_add(codec_originals *o, const taper_image *image) {
    o->pixels += (uint64_t)image->width * image->height;
    if (o->pixels > CODEC_SMALL_SET_PIXELS) {
        drop_images(o);
        return TAPER_OK;
    }
    taper_image *more = realloc(o->image, (o->n + 1) * sizeof *more), copy = *image;
    if (!more) return TAPER_ERR_NOMEM;
    o->image = more;
    copy.pixels = malloc(formats_image_bytes(image));
    if (!copy.pixels) return TAPER_ERR_NOMEM;
    memcpy(copy.pixels, image->pixels, formats_image_bytes(image));
    o->image[o->n++] = copy;
    return TAPER_OK;
}

void codec_originals_free(codec_originals *o) {
    drop_images(o);
    *o = (codec_originals){0};
}

/* --- rendering ------------------------------------------------------------------------- */

typedef struct renderer {
    const codec_originals *originals;
    taper_decoder *decoder;
    void *pixels; /* large enough for any of the images */
} renderer;

static taper_status begin(renderer *a, const taper_model *model, const codec_originals *originals) {
    size_t most = 1;
    for (size_t i = 0; i < originals->n; i++) {
        size_t bytes = formats_image_bytes(&originals->image[i]);
        if (bytes > most) most = bytes;
    }
    *a = (renderer){.originals = originals, .pixels = malloc(most)};
    if (!a->pixels) return TAPER_ERR_NOMEM;
    const taper_open_options options = {.size = sizeof options, .model = model};
    return taper_decoder_new_streaming(&a->decoder, &options, NULL);
}

static void end(renderer *a) {
    taper_decoder_free(a->decoder);
    free(a->pixels);
}

/* Render and measure the cut that the decoder has now, of `bytes` bytes of data. */
static taper_status render_cut(renderer *a, uint64_t bytes, codec_cut_quality *q) {
    double sum = 0, mse = 0;
    taper_completeness done = {0};
    for (size_t i = 0; i < a->originals->n; i++) {
        const taper_image *original = &a->originals->image[i];
        taper_image out = *original;
        out.pixels = a->pixels;
        TAPER_TRY(taper_decoder_render(a->decoder, i, &out, &done, NULL));
        TAPER_TRY(taper_quality_mse(original, &out, &mse, NULL));
        q->image[i] = taper_quality_psnr_db(mse);
        sum += q->image[i];
    }
    q->bytes[q->n] = bytes;
    q->pass[q->n] = done.passes;
    q->psnr[q->n++] = sum / (double)a->originals->n;
    return TAPER_OK;
}

static uint64_t next_cut(uint64_t s, uint64_t data, int all) {
    uint64_t step = 1;
    while (!all && s >> LEADING_BITS >= step) step *= 2;
    uint64_t next = (s / step + 1) * step;
    return next < data ? next : data;
}

static taper_status take_memory(codec_cut_quality *q, size_t cuts, size_t images) {
    q->bytes = malloc(cuts * sizeof *q->bytes);
    q->psnr = malloc(cuts * sizeof *q->psnr);
    q->pass = malloc(cuts * sizeof *q->pass);
    q->image = malloc(images * sizeof *q->image);
    return q->bytes && q->psnr && q->pass && q->image ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* Measure cuts in ascending order, so that nothing is decoded twice. */
static taper_status render_cuts(renderer *a, const formats_buffer *file, uint64_t front, int all,
                                codec_cut_quality *q) {
    uint64_t data = file->size - front, s = 0;
    TAPER_TRY(taper_decoder_push(a->decoder, file->data, (size_t)front, NULL));
    TAPER_TRY(render_cut(a, 0, q));
    while (s < data) {
        uint64_t next = next_cut(s, data, all);
        TAPER_TRY(taper_decoder_push(a->decoder, file->data + front + s, (size_t)(next - s), NULL));
        TAPER_TRY(render_cut(a, next, q));
        s = next;
    }
    return TAPER_OK;
}

/* --- measuring ------------------------------------------------------------------------- */

static taper_status measure(codec_cut_quality *q, const taper_model *model,
                            const formats_buffer *file, const codec_originals *o, int whole) {
    uint64_t front;
    TAPER_TRY(formats_front_need(file->data, file->size, &front, NULL));
    uint64_t data = file->size - front, cuts = 1;
    int all = data * o->pixels <= MOST_WORK;
    for (uint64_t s = 0; s < data && !whole; s = next_cut(s, data, all)) cuts++;
    renderer a;
    *q = (codec_cut_quality){0};
    taper_status status = begin(&a, model, o);
    if (status == TAPER_OK) status = take_memory(q, (size_t)cuts, o->n);
    if (status == TAPER_OK && !whole) status = render_cuts(&a, file, front, all, q);
    if (status == TAPER_OK && whole)
        status = taper_decoder_push(a.decoder, file->data, file->size, NULL);
    if (status == TAPER_OK && whole) status = render_cut(&a, data, q);
    end(&a);
    if (status != TAPER_OK) codec_cut_quality_free(q);
    return status;
}

taper_status codec_cut_quality_measure(codec_cut_quality *q, const taper_model *model,
                                       const formats_buffer *file, const codec_originals *o) {
    return measure(q, model, file, o, 0);
}

taper_status codec_cut_quality_whole(codec_cut_quality *q, const taper_model *model,
                                     const formats_buffer *file, const codec_originals *o) {
    return measure(q, model, file, o, 1);
}

/* --- refining -------------------------------------------------------------------------- */

/* Copy the cuts of `known`, and measure those between them that are inside the holds. */
static taper_status merge_cuts(renderer *a, const codec_cut_quality *known,
                               const formats_buffer *file, uint64_t front, uint64_t holds,
                               codec_cut_quality *q) {
    TAPER_TRY(taper_decoder_push(a->decoder, file->data, (size_t)front, NULL));
    uint64_t pushed = 0;
    for (size_t i = 0; i < known->n; i++) {
        q->bytes[q->n] = known->bytes[i];
        q->pass[q->n] = known->pass[i];
        q->psnr[q->n++] = known->psnr[i];
        for (uint64_t s = known->bytes[i] + 1; i + 1 < known->n && s < known->bytes[i + 1]; s++) {
            if (formats_holds_drawn(holds, s) == s) continue;
            const uint8_t *from = file->data + front + pushed;
            TAPER_TRY(taper_decoder_push(a->decoder, from, (size_t)(s - pushed), NULL));
            TAPER_TRY(render_cut(a, s, q));
            pushed = s;
        }
    }
    return TAPER_OK;
}

static size_t count_unknown(const codec_cut_quality *q, uint64_t holds) {
    size_t n = 0;
    for (size_t i = 0; i + 1 < q->n; i++)
        for (uint64_t s = q->bytes[i] + 1; s < q->bytes[i + 1]; s++)
            n += formats_holds_drawn(holds, s) != s;
    return n;
}

taper_status codec_cut_quality_refine(codec_cut_quality *q, const taper_model *model,
                                      const formats_buffer *file, const codec_originals *o,
                                      uint64_t holds, size_t *added) {
    uint64_t front;
    *added = count_unknown(q, holds);
    if (!*added) return TAPER_OK;
    TAPER_TRY(formats_front_need(file->data, file->size, &front, NULL));
    renderer a;
    codec_cut_quality more = {0};
    taper_status status = begin(&a, model, o);
    if (status == TAPER_OK) status = take_memory(&more, q->n + *added, o->n);
    if (status == TAPER_OK) status = merge_cuts(&a, q, file, front, holds, &more);
    end(&a);
    if (status == TAPER_OK) {
        codec_cut_quality was = *q;
        *q = more, more = was;
    }
    codec_cut_quality_free(&more);
    return status;
}

void codec_cut_quality_free(codec_cut_quality *q) {
    free(q->bytes), free(q->psnr), free(q->pass), free(q->image);
    *q = (codec_cut_quality){0};
}
