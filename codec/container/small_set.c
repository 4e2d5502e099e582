/* small_set.c -- see small_set.h. */
#include "codec/container/small_set.h"
#include "codec/container/holds.h"
#include <math.h>
#include <string.h>

/* An end of the data after a complete pass, and the PSNR of the set with this end. */
typedef struct ending {
    uint32_t passes;
    size_t cut; /* the first cut that contains these passes */
    int grows;  /* the front matter would be longer, and every cut worse */
    codec_cut_quality whole;
} ending;

static taper_status write_memory(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

static taper_status assemble(const codec_small_set *set, formats_front *f, formats_buffer *file) {
    formats_buffer_clear(file);
    taper_sink sink = {file, write_memory};
    return codec_assemble(f, set->chunks, UINT64_MAX, set->limits, &sink, NULL);
}

/* End the data after this number of passes and bytes. */
static void end_at(formats_front *f, uint32_t passes, uint64_t bytes) {
    uint32_t last = 0;
    while (f->layer_end[last] < passes) last++;
    f->layers = last + 1;
    f->layer_end[last] = passes;
    if (f->chunk_at[last + 1] > bytes) f->chunk_at[last + 1] = bytes;
    f->tail = 0, f->first_cut = 0;
}

/* Measure the set with this end; the front is not changed. */
static taper_status try_ending(const codec_small_set *set, const formats_front *front,
                               const codec_cut_quality *cuts, ending *e) {
    uint32_t layer_end[FORMATS_MAX_LAYERS];
    uint64_t chunk_at[FORMATS_MAX_LAYERS + 1];
    formats_front f = *front;
    f.layer_end = memcpy(layer_end, front->layer_end, front->layers * sizeof *layer_end);
    f.chunk_at = memcpy(chunk_at, front->chunk_at, (front->layers + 1) * sizeof *chunk_at);
    while (cuts->pass[e->cut] < e->passes) e->cut++;
    end_at(&f, e->passes, cuts->bytes[e->cut]);
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = assemble(set, &f, &file);
    e->grows = f.front_size > front->front_size;
    if (status == TAPER_OK)
        status = codec_cut_quality_whole(&e->whole, set->model, &file, set->originals);
    formats_buffer_free(&file);
    return status;
}

/* Find the better of the two complete passes around the cut with the highest PSNR. passes 0:
 * neither is better than the complete data and close to that cut. */
static taper_status find_ending(const codec_small_set *set, const formats_front *front,
                                const codec_cut_quality *cuts, ending *found) {
    const double worth = 0.05;
    size_t best = codec_holds_end(cuts);
    double most = fmax(cuts->psnr[cuts->n - 1] + worth, cuts->psnr[best] - CODEC_HOLD_LOSS_DB);
    if (best + 1 == cuts->n || front->layer_kind) return TAPER_OK;
    for (uint32_t more = 0; more < 2; more++) {
        ending e = {.passes = cuts->pass[best] + more};
        if (!e.passes || e.passes > cuts->pass[cuts->n - 1]) continue;
        TAPER_TRY(try_ending(set, front, cuts, &e));
        if (!e.grows && e.whole.psnr[0] > most) {
            most = e.whole.psnr[0];
            codec_cut_quality_free(&found->whole);
            *found = e;
        } else
            codec_cut_quality_free(&e.whole);
    }
    return TAPER_OK;
}

/* Apply this end to the front and to the list of its cuts. */
static void take_ending(const ending *e, formats_front *front, codec_cut_quality *cuts,
                        double *psnr) {
    end_at(front, e->passes, cuts->bytes[e->cut]);
    cuts->n = e->cut + 1;
    cuts->bytes[e->cut] = front->chunk_at[front->layers];
    cuts->psnr[e->cut] = e->whole.psnr[0];
    memcpy(psnr, e->whole.image, front->images * sizeof *psnr);
}

/* Choose holds. If only some cuts were measured, measure all those inside the holds, and repeat. */
static taper_status choose_holds(const codec_small_set *set, const formats_buffer *file,
                                 codec_cut_quality *cuts, uint64_t *holds) {
    enum { ROUNDS = 4 };
    size_t added = 1;
    TAPER_TRY(codec_holds_choose(cuts, holds));
    for (int round = 0; round < ROUNDS && added; round++) {
        TAPER_TRY(codec_cut_quality_refine(cuts, set->model, file, set->originals, *holds, &added));
        if (added) TAPER_TRY(codec_holds_choose(cuts, holds));
    }
    return TAPER_OK;
}

taper_status codec_small_set_finish(const codec_small_set *set, formats_front *front, double *psnr,
                                    int *ended) {
    formats_buffer file = formats_buffer_make(FORMATS_MOST_BYTES);
    codec_cut_quality cuts = {0};
    ending e = {0};
    taper_status status = assemble(set, front, &file);
    if (status == TAPER_OK)
        status = codec_cut_quality_measure(&cuts, set->model, &file, set->originals);
    if (status == TAPER_OK) status = find_ending(set, front, &cuts, &e);
    *ended = status == TAPER_OK && e.passes;
    if (*ended) take_ending(&e, front, &cuts, psnr);
    if (status == TAPER_OK) status = choose_holds(set, &file, &cuts, &front->holds);
    formats_buffer_free(&file);
    codec_cut_quality_free(&cuts);
    codec_cut_quality_free(&e.whole);
    return status == TAPER_ERR_NOMEM ? status : TAPER_OK;
}
