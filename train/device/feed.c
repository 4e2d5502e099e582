/* feed.c -- see feed.h. */
#include "train/device/feed.h"
#include "codec/backend/pool.h"
#include "formats/bytes.h"
#include <stdio.h>
#include <string.h>

/* --- orders ---------------------------------------------------------------------------- */

taper_status train_order_open(train_order *order, train_stream *s, const uint32_t *here, size_t n) {
    *order = (train_order){.here = here};
    return train_mirror_open(&order->there, s, here, n * sizeof *here);
}

taper_status train_order_update(train_order *order, train_stream *s) {
    return train_mirror_update(&order->there, s, order->here);
}

void train_order_free(train_order *order) {
    train_mirror_free(&order->there);
    *order = (train_order){0};
}

/* --- open and close -------------------------------------------------------------------- */

/* Decides whether the rows may be kept on the device for the whole run. If two takes hold all rows,
 * streaming saves no memory. TAPER_ERR_NOMEM: not now, but maybe after other models are done. */
static taper_status may_be_kept(const train_feed *f, train_device *device, int *may) {
    const size_t bytes = f->n * f->width;
    size_t free_bytes;
    *may = 1;
    if (device->in_host_memory) return TAPER_OK;
    TAPER_TRY(device->memory->free_bytes(device, &free_bytes));
    *may = bytes <= free_bytes - free_bytes / 8 || f->n / 2 <= f->most;
    if (device->shared && !*may) return TAPER_ERR_NOMEM;
    if (device->most_kept && bytes > device->most_kept) *may = 0;
    return TAPER_OK;
}

static void lay_out(train_feed *f) {
    for (int i = 0; i < 2; i++) f->place[i] = train_arena_take(&f->arena, f->most, f->width, 1);
}

static taper_status stream_rows(train_feed *f, train_device *device) {
    f->streamed = 1;
    lay_out(f);
    TAPER_TRY(train_arena_alloc(&f->arena, device));
    lay_out(f);
    return TAPER_OK;
}

taper_status train_feed_open(train_feed *f, train_stream *s, const uint8_t *rows, size_t n,
                             size_t width, size_t most) {
    int keep;
    *f = (train_feed){.rows = rows, .n = n, .width = width, .most = formats_smaller(most, n)};
    TAPER_TRY(may_be_kept(f, s->device, &keep));
    taper_status status = keep ? train_mirror_open(&f->all, s, rows, n * width) : TAPER_OK;
    if (status == TAPER_ERR_NOMEM && !s->device->shared) keep = 0;
    if (!keep) status = stream_rows(f, s->device);
    if (status != TAPER_OK) train_feed_close(f);
    return status;
}

void train_feed_close(train_feed *f) {
    train_arena_free(&f->arena);
    train_mirror_free(&f->all);
    *f = (train_feed){0};
}

/* --- rows for a step ------------------------------------------------------------------- */

enum { GATHERED = 64 }; /* rows that a thread gathers at a time */

typedef struct gather_task {
    const train_feed *feed;
    const uint32_t *order; /* NULL: rows from `first` on */
    size_t first, n;
    uint8_t *to;
} gather_task;

static void gather(void *context, size_t block) {
    const gather_task *t = context;
    const size_t width = t->feed->width, end = formats_smaller(t->n, (block + 1) * GATHERED);
    for (size_t i = block * GATHERED; i < end; i++) {
        const size_t row = t->order ? t->order[i] : t->first + i;
        memcpy(t->to + i * width, t->feed->rows + row * width, width);
    }
}

static taper_status send(train_feed *f, train_stream *s, gather_task task) {
    const train_memory *memory = s->device->memory;
    void *staged;
    if (task.n > f->most) return TAPER_ERR_ARG;
    TAPER_TRY(memory->stage(s, f->most * f->width, &staged));
    task.to = staged;
    codec_pool_run(s->device->pool, gather, &task, (task.n + GATHERED - 1) / GATHERED);
    f->last = !f->last;
    return memory->send(s, f->place[f->last], task.n * f->width);
}

taper_status train_feed_take(train_feed *f, train_stream *s, const train_order *order, size_t first,
                             size_t n, train_fed *fed) {
    if (!f->streamed) {
        const uint8_t *all = f->all.at;
        *fed = order ? (train_fed){all, (const uint32_t *)order->there.at + first}
                     : (train_fed){all + first * f->width, NULL};
        return TAPER_OK;
    }
    if (n)
        TAPER_TRY(send(f, s, (gather_task){f, order ? order->here + first : NULL, first, n, NULL}));
    *fed = (train_fed){f->place[f->last], NULL};
    return TAPER_OK;
}

void train_feed_say(const train_feed *f, const train_device *device, char *words, size_t size) {
    const double bytes = (double)f->n * (double)f->width;
    *words = 0;
    if (f->streamed)
        snprintf(words, size, "%s: %.3g %s of images do not fit: streamed", device->name,
                 bytes / (bytes < 1e9 ? 1e6 : 1e9), bytes < 1e9 ? "MB" : "GB");
}
