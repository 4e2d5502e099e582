/* batch.c -- taper_decoder_render_batch: crops of many images in one array; see taper.h. The items
 * of a group are rendered one after the other, because a decoder keeps one group. Groups are shared
 * among threads, each with a decoder of its own. */
#include "codec/backend/pool.h"
#include "codec/decoder/decoder.h"
#include "formats/sized.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct placed {
    uint64_t image;       /* the one that is decoded */
    uint32_t group, item; /* number of the item in the batch */
} placed;

typedef struct failure {
    taper_error error; /* status TAPER_OK: none */
    uint32_t item;
} failure;

typedef struct batch {
    const taper_batch *of;
    taper_decoder *decoder;
    placed *order; /* [of->n] by group, then by image */
    size_t *run;   /* [runs + 1] where the items of each group begin in `order` */
    size_t runs;
    atomic_size_t next;   /* the next run */
    taper_status *status; /* [of->n] what each item came to */
    failure *failed;      /* [threads] the first item of those of a thread that failed */
} batch;

/* --- one crop -------------------------------------------------------------------------- */

static uint32_t clamp(int64_t at, uint32_t n) {
    return at < 0 ? 0 : at >= (int64_t)n ? n - 1 : (uint32_t)at;
}

static unsigned sample_at(const taper_image *image, size_t at) {
    if (image->depth == 8) return ((const uint8_t *)image->pixels)[at];
    return ((const uint16_t *)image->pixels)[at];
}

/* One row of a channel of a crop within an 8-bit image: n samples, `channels` apart. */
static void write_bytes(const uint8_t *restrict from, uint32_t channels, uint32_t n,
                        uint8_t *restrict to, size_t step) {
    if (step == 1 && channels == 3)
        for (uint32_t x = 0; x < n; x++) to[x] = from[3 * (size_t)x];
    else
        for (uint32_t x = 0; x < n; x++) to[x * step] = from[x * (size_t)channels];
}

static void write_floats(const uint8_t *restrict from, uint32_t channels, uint32_t n,
                         uint8_t *restrict to, size_t step, float gain, float add) {
    if (step == sizeof(float) && channels == 3)
        for (uint32_t x = 0; x < n; x++)
            ((float *)(void *)to)[x] = (float)from[3 * (size_t)x] * gain + add;
    else
        for (uint32_t x = 0; x < n; x++)
            *(float *)(void *)(to + x * step) = (float)from[x * (size_t)channels] * gain + add;
}

/* The same as write_channel, for crops within 8-bit images: nothing is asked of each sample. */
static void write_within(const taper_batch *b, const taper_batch_item *item, uint32_t c,
                         const taper_image *image, uint8_t *to) {
    const float gain = (b->gain ? b->gain[c] : 1) / 255.0f, add = b->offset ? b->offset[c] : 0;
    const uint32_t channels = image->channels;
    const uint8_t *from = (const uint8_t *)image->pixels +
                          ((size_t)item->y * image->width + (uint32_t)item->x) * channels +
                          (channels < 3 ? 0 : c);
    for (uint32_t y = 0; y < b->height; y++) {
        if (b->sample == TAPER_SAMPLE_UINT8)
            write_bytes(from, channels, b->width, to, b->column_stride);
        else
            write_floats(from, channels, b->width, to, b->column_stride, gain, add);
        from += (size_t)image->width * channels, to += b->row_stride;
    }
}

static int is_within(const taper_batch *b, const taper_batch_item *item, const taper_image *image) {
    return image->depth == 8 && item->x >= 0 && item->y >= 0 &&
           (uint64_t)item->x + b->width <= image->width &&
           (uint64_t)item->y + b->height <= image->height;
}

/* Write channel c of the crop at x, y. Pixels outside the image repeat its edge. */
static void write_channel(const taper_batch *b, const taper_batch_item *item, uint32_t c,
                          const taper_image *image, uint8_t *to) {
    const unsigned most = image->depth == 8 ? 255 : 65535, channels = image->channels;
    const float gain = (b->gain ? b->gain[c] : 1) / (float)most, add = b->offset ? b->offset[c] : 0;
    const uint32_t from = channels < 3 ? 0 : c; /* alpha is passed over */
    for (uint32_t y = 0; y < b->height; y++) {
        const size_t row = (size_t)clamp((int64_t)item->y + y, image->height) * image->width;
        for (uint32_t x = 0; x < b->width; x++) {
            const size_t pixel = row + clamp((int64_t)item->x + x, image->width);
            const unsigned value = sample_at(image, pixel * channels + from);
            uint8_t *at = to + y * b->row_stride + x * b->column_stride;
            if (b->sample == TAPER_SAMPLE_UINT8)
                *at = (uint8_t)(most == 255 ? value : (value * 255u + 32767) / 65535);
            else
                *(float *)(void *)at = (float)value * gain + add;
        }
    }
}

/* Render an item; *pixels grows as needed. */
static taper_status render_item(taper_decoder *d, const taper_batch *b, uint32_t i,
                                formats_buffer *pixels, taper_error *error) {
    const taper_batch_item *item = &b->item[i];
    const uint32_t scale = b->scale ? b->scale : 1;
    taper_image_info info;
    TAPER_TRY(codec_decoder_find(d, item->image, &info, error));
    if (info.channels > b->channels + 1)
        return formats_fail(error, TAPER_ERR_ARG,
                            "image %llu is in colour, and the batch has one channel",
                            (unsigned long long)item->image);
    const uint64_t bytes = (uint64_t)((info.width - 1) / scale + 1) *
                           ((info.height - 1) / scale + 1) * info.channels * (info.depth / 8u);
    formats_buffer_clear(pixels);
    taper_image image = {.pixels = formats_buffer_extend(pixels, (size_t)bytes)};
    if (!image.pixels)
        return formats_fail(error, pixels->status, "no memory for %u x %u pixels", info.width,
                            info.height);
    const taper_status status =
        taper_decoder_render_scaled(d, item->image, scale, &image, NULL, error);
    if (status != TAPER_OK && status != TAPER_ERR_CORRUPT) return status;
    uint8_t *to = (uint8_t *)b->to + i * b->image_stride;
    for (uint32_t c = 0; c < b->channels; c++)
        (is_within(b, item, &image) ? write_within : write_channel)(b, item, c, &image,
                                                                    to + c * b->channel_stride);
    return status;
}

/* --- the items of a group -------------------------------------------------------------- */

/* Render the items of run r. */
static void render_run(batch *b, taper_decoder *d, size_t r, failure *failed) {
    formats_buffer pixels = formats_buffer_make(FORMATS_MOST_BYTES);
    pixels.account = &d->account;
    for (size_t k = b->run[r]; k < b->run[r + 1]; k++) {
        const uint32_t i = b->order[k].item;
        taper_error why = {0};
        b->status[i] = render_item(d, b->of, i, &pixels, &why);
        if (b->status[i] != TAPER_OK && (failed->error.status == TAPER_OK || i < failed->item))
            *failed = (failure){why, i};
    }
    formats_buffer_free(&pixels);
}

static void render_runs(void *context, size_t thread) {
    batch *b = context;
    for (size_t r; (r = atomic_fetch_add(&b->next, 1)) < b->runs;)
        render_run(b, b->decoder->helper[thread], r, &b->failed[thread]);
}

/* --- the batch ------------------------------------------------------------------------- */

/* Images of a group ascend, as those that follow an image are rendered with it (rendering.c). */
static int by_group(const void *a, const void *b) {
    const placed *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->image != y->image) return x->image < y->image ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static taper_status make_runs(batch *b, taper_error *error) {
    const taper_batch *of = b->of;
    for (uint32_t i = 0; i < of->n; i++) {
        taper_image_info info;
        TAPER_TRY(codec_decoder_find(b->decoder, of->item[i].image, &info, error));
        b->order[i] = (placed){info.same_as, info.group, i};
    }
    qsort(b->order, of->n, sizeof *b->order, by_group);
    for (size_t k = 0; k < of->n; k++)
        if (!k || b->order[k].group != b->order[k - 1].group) b->run[b->runs++] = k;
    b->run[b->runs] = of->n;
    return TAPER_OK;
}

/* A decoder for each of n threads. They share the memory, of which this decoder then has none. */
static taper_status make_helpers(taper_decoder *d, unsigned n, taper_error *error) {
    if (d->helpers == n) return TAPER_OK;
    codec_decoder_free_helpers(d);
    codec_decoder_drop_others(d, FORMATS_MAX_RATE_CLASSES);
    d->helper = calloc(n, sizeof(taper_decoder *));
    if (!d->helper) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u decoders", n);
    const taper_decode_options options = {.size = sizeof options,
                                          .cut = d->cut,
                                          .passes = d->passes == UINT32_MAX ? 0 : d->passes,
                                          .max_memory = d->limits.max_memory / n};
    taper_status status = TAPER_OK;
    while (d->helpers < n && status == TAPER_OK) {
        status = taper_decoder_new(&d->helper[d->helpers], d->container, &options, error);
        d->helpers += status == TAPER_OK;
    }
    if (status != TAPER_OK) codec_decoder_free_helpers(d);
    return status;
}

/* The first item that failed, of all threads; NULL: none. */
static const failure *first_failure(const batch *b, unsigned threads) {
    const failure *first = NULL;
    for (unsigned t = 0; t < threads; t++) {
        const failure *f = &b->failed[t];
        if (f->error.status != TAPER_OK && (!first || f->item < first->item)) first = f;
    }
    return first;
}

static void render_serially(batch *b) {
    codec_decoder_free_helpers(b->decoder);
    for (size_t r = 0; r < b->runs; r++) render_run(b, b->decoder, r, &b->failed[0]);
}

static taper_status render_all(batch *b, taper_error *error) {
    taper_decoder *d = b->decoder;
    const unsigned threads = codec_pool_threads(d->backend.pool);
    /* Few groups: the threads render each image together. */
    if (threads > 1 && b->runs >= threads && d->feed == CODEC_FEED_SOURCE &&
        make_helpers(d, threads, NULL) == TAPER_OK)
        codec_pool_run(d->backend.pool, render_runs, b, threads);
    else
        render_serially(b);
    const failure *first = first_failure(b, threads);
    if (first && d->helpers && (first->error.status == TAPER_ERR_LIMIT)) {
        memset(b->failed, 0, threads * sizeof *b->failed); /* a share of the memory is too little */
        codec_pool *pool = d->backend.pool;
        d->backend.pool = NULL; /* each thread would take memory */
        render_serially(b);
        d->backend.pool = pool;
        first = first_failure(b, threads);
    }
    if (first && error) *error = first->error;
    return first ? first->error.status : TAPER_OK;
}

/* Does the array end within the address space? */
static int fits(const taper_batch *b, uint64_t sample) {
    const uint64_t part[4][2] = {{b->n - 1, b->image_stride},
                                 {b->channels - 1, b->channel_stride},
                                 {b->height - 1, b->row_stride},
                                 {b->width - 1, b->column_stride}};
    uint64_t end = sample;
    for (int k = 0; k < 4; k++) {
        if (part[k][0] && part[k][1] > PTRDIFF_MAX / part[k][0]) return 0;
        end += part[k][0] * part[k][1];
        if (end > PTRDIFF_MAX) return 0;
    }
    return 1;
}

static taper_status check(const taper_batch *b, taper_error *error) {
    const uint64_t sample = b->sample == TAPER_SAMPLE_FLOAT32 ? sizeof(float) : 1;
    if (b->n && (!b->item || !b->to))
        return formats_fail(error, TAPER_ERR_ARG, "the batch has no items, or no array");
    if (b->n >= UINT32_MAX || !b->width || !b->height || (b->channels != 1 && b->channels != 3) ||
        (unsigned)b->sample > TAPER_SAMPLE_FLOAT32)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a batch of crops of %u x %u pixels and %u channels is not legal",
                            b->width, b->height, b->channels);
    if ((b->image_stride | b->channel_stride | b->row_stride | b->column_stride) % sample ||
        (uintptr_t)b->to % sample)
        return formats_fail(error, TAPER_ERR_ARG, "the array and its strides are not aligned");
    if (b->n && !fits(b, sample))
        return formats_fail(error, TAPER_ERR_ARG, "the array is larger than the address space");
    return TAPER_OK;
}

taper_status taper_decoder_render_batch(taper_decoder *d, const taper_batch *given,
                                        taper_error *error) {
    taper_batch of;
    TAPER_TRY(formats_need(d, "the decoder", error));
    TAPER_TRY(formats_need(given, "the batch", error));
    TAPER_TRY(formats_sized_take(&of, sizeof of, given, "taper_batch", error));
    TAPER_TRY(check(&of, error));
    if (!of.n) return TAPER_OK;
    batch b = {.of = &of,
               .decoder = d,
               .order = calloc(of.n, sizeof *b.order),
               .run = calloc(of.n + 1, sizeof *b.run),
               .status = calloc(of.n, sizeof *b.status),
               .failed = calloc(codec_pool_threads(d->backend.pool), sizeof *b.failed)};
    taper_status status = TAPER_OK;
    if (!b.order || !b.run || !b.status || !b.failed)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for a batch of %zu", of.n);
    if (status == TAPER_OK) status = make_runs(&b, error);
    const int is_begun = status == TAPER_OK;
    if (is_begun) status = render_all(&b, error);
    if (of.status && is_begun) memcpy(of.status, b.status, of.n * sizeof *of.status);
    free(b.order), free(b.run), free(b.status), free(b.failed);
    return status;
}
