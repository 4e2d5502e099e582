/* rbm_rows.c -- see rbm_rows.h. */
#include "train/rbm/rbm_rows.h"
#include "formats/bytes.h"

static void lay_out(train_arena *arena, train_rbm_rows *r) {
    uint32_t widest = 0;
    for (uint32_t i = 0; i < r->layers; i++) {
        r->weight[i] = train_arena_floats(arena, r->width[i + 1], r->width[i]);
        r->bias[i] = train_arena_floats(arena, 1, r->width[i + 1]);
    }
    for (uint32_t i = 0; i <= r->layers; i++) widest = widest > r->width[i] ? widest : r->width[i];
    r->zeros = train_arena_floats(arena, 1, r->width[0]);
    for (int i = 0; i < 2 && r->layers; i++)
        r->means[i] = train_arena_floats(arena, r->batch, widest);
}

static taper_status open_machines(train_rbm_rows *r, const train_rbm_stack *stack) {
    r->width[0] = stack->rbm[0].visible;
    for (uint32_t i = 0; i < r->layers; i++) r->width[i + 1] = stack->rbm[i].hidden;
    lay_out(&r->arena, r);
    TAPER_TRY(train_arena_alloc(&r->arena, r->stream->device));
    lay_out(&r->arena, r);
    for (uint32_t i = 0; i < r->layers; i++) {
        const train_rbm *m = &stack->rbm[i];
        TAPER_TRY(train_upload(r->stream, r->weight[i], m->weight,
                               (size_t)m->hidden * m->visible * sizeof *m->weight));
        TAPER_TRY(train_upload(r->stream, r->bias[i], m->hidden_bias,
                               m->hidden * sizeof *m->hidden_bias));
    }
    return TAPER_OK;
}

/* --- from pixels ------------------------------------------------------------------------- */

/* Computes rows from pixels. On a processor the means of a row do not depend on the other rows of a
 * call, so keeping them does not change results. order NULL: rows first, first + 1, ... */
static taper_status make(train_rbm_rows *r, const train_order *order, size_t first, size_t n,
                         float *to) {
    train_stream *s = r->stream;
    train_fed fed;
    float *from = r->layers ? r->means[0] : to;
    TAPER_TRY(train_feed_take(&r->feed, s, order, first, n, &fed));
    TAPER_TRY(
        s->ops->centre_rows(s, n, r->width[0], fed.rows, fed.order, r->zeros, 1.0f / 255.0f, from));
    for (uint32_t i = 0; i < r->layers; i++) {
        float *up = i + 1 < r->layers ? r->means[(i + 1) % 2] : to;
        const train_affine layer = {.transpose_b = 1,
                                    .m = n,
                                    .n = r->width[i + 1],
                                    .k = r->width[i],
                                    .a = from,
                                    .b = r->weight[i],
                                    .bias = r->bias[i],
                                    .activation = CODEC_LOGISTIC,
                                    .c = up};
        TAPER_TRY(s->ops->affine(s, &layer));
        from = up;
    }
    return TAPER_OK;
}

static taper_status fits(const train_rbm_rows *r, size_t bytes, size_t most, int *it_does) {
    size_t free_bytes;
    TAPER_TRY(r->stream->device->memory->free_bytes(r->stream->device, &free_bytes));
    *it_does = bytes <= most && bytes <= free_bytes - free_bytes / 8;
    return TAPER_OK;
}

static taper_status keep(train_rbm_rows *r, size_t n, size_t most) {
    const uint32_t width = r->width[r->layers];
    int it_does = 0;
    TAPER_TRY(fits(r, n * width * sizeof *r->kept, most, &it_does));
    if (!it_does) return TAPER_OK;
    (void)train_arena_floats(&r->kept_arena, n, width);
    TAPER_TRY(train_arena_alloc(&r->kept_arena, r->stream->device));
    float *to = train_arena_floats(&r->kept_arena, n, width);
    for (size_t i = 0; i < n; i += r->batch)
        TAPER_TRY(make(r, NULL, i, formats_smaller(r->batch, n - i), to + i * width));
    r->kept = to;
    train_feed_close(&r->feed);
    return TAPER_OK;
}

/* ----------------------------------------------------------------------------------------- */

taper_status train_rbm_rows_open(train_rbm_rows *r, train_stream *stream,
                                 const train_rbm_stack *stack, uint32_t layers,
                                 const train_pixels *data, const train_own_rows *order,
                                 size_t batch, size_t most_kept) {
    const size_t here = train_rows_here(data);
    *r = (train_rbm_rows){.stream = stream, .batch = batch, .layers = layers};
    TAPER_TRY(open_machines(r, stack));
    TAPER_TRY(train_order_open(&r->order, stream, order->place, order->room));
    TAPER_TRY(train_feed_open(&r->feed, stream, data->pixels, here, data->inputs, batch));
    return layers && here ? keep(r, here, most_kept) : TAPER_OK;
}

void train_rbm_rows_close(train_rbm_rows *r) {
    train_feed_close(&r->feed);
    train_order_free(&r->order);
    train_arena_free(&r->kept_arena);
    train_arena_free(&r->arena);
    *r = (train_rbm_rows){0};
}

taper_status train_rbm_rows_update(train_rbm_rows *r) {
    return train_order_update(&r->order, r->stream);
}

taper_status train_rbm_rows_take(train_rbm_rows *r, size_t first, size_t n, float *to) {
    if (!r->kept) return make(r, &r->order, first, n, to);
    const uint32_t *picked = (const uint32_t *)r->order.there.at + first;
    return r->stream->ops->gather_rows(r->stream, n, r->width[r->layers] * sizeof *to, r->kept,
                                       picked, to);
}
