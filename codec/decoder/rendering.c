/* rendering.c -- taper_decoder_render: the pixels of an image; see taper.h. Blocks of windows are
 * rendered at once and cached, because neighbouring images are usually read next. */
#include "codec/backend/pool.h"
#include "codec/bitplane/head.h"
#include "codec/decoder/decoder.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { RENDER_BLOCK = 256 /* windows that one of several threads renders at once */ };

/* Temporary memory for rendering an image of n windows: the codes of the blocks that are rendered
 * now, and copies of the image's windows for post-processing. The windows of a large image are not
 * cached, and so not copied. */
static uint64_t passing_bytes(const taper_decoder *d, const taper_image_info *info, uint32_t n,
                              uint32_t at_once) {
    const taper_model *m = d->model;
    uint64_t threads = codec_pool_threads(d->backend.pool), inputs = m->network.inputs;
    uint64_t block = at_once < CODEC_RENDER_WINDOWS ? at_once : CODEC_RENDER_WINDOWS;
    uint64_t bytes = threads * (block * m->network.units * sizeof(float) +
                                codec_network_scratch_bytes(&m->network));
    if (n <= CODEC_RENDER_WINDOWS && (m->restoration.layers || m->window.lap))
        bytes += n * inputs * sizeof(float);
    if (!m->restoration.layers) return bytes;
    codec_grid grid = codec_windows_grid(m->window, info->width, info->height);
    return bytes + codec_restoration_bytes(&m->restoration, m->window, grid, (unsigned)threads);
}

static taper_status refuse_rendering(const taper_decoder *d, uint64_t bytes, taper_error *error) {
    return formats_fail(error, TAPER_ERR_LIMIT,
                        "rendering this image needs %llu bytes, the limit is %llu; give "
                        "--max-memory %lluM if you trust the file",
                        (unsigned long long)bytes, (unsigned long long)d->limits.max_memory,
                        (unsigned long long)formats_memory_needed(&d->limits, bytes));
}

/* Check, before decoding, that an image of this size fits in max_memory. */
static taper_status check_memory(const taper_decoder *d, const taper_image_info *info,
                                 taper_error *error) {
    codec_grid grid = codec_windows_grid(d->model->window, info->width, info->height);
    uint64_t n = (uint64_t)grid.columns * grid.rows;
    uint64_t bytes = d->front.account.used + n * d->model->network.inputs * sizeof(float);
    if (n < UINT32_MAX) bytes += passing_bytes(d, info, (uint32_t)n, (uint32_t)n);
    uint64_t state = codec_chunk_coder_bytes(&d->model->tables, n);
    if (formats_add_u64(bytes, state, &bytes) == TAPER_OK && bytes <= d->limits.max_memory)
        return TAPER_OK;
    return refuse_rendering(d, bytes, error);
}

/* Allocate memory for n windows, and check that the temporary memory is available. Caches are
 * dropped if necessary. */
static taper_status allocate_windows(taper_decoder *d, codec_rendered *w, uint32_t n,
                                     uint64_t passing, taper_error *error) {
    uint64_t size = d->model->network.inputs * sizeof *w->pixels;
    uint64_t more = n > w->capacity ? n * size : 0;
    if (more) codec_decoder_drop_rendered(d, w);
    if (formats_account_left(&d->account) < more + passing)
        return refuse_rendering(d, d->account.used + more + passing, error);
    if (!more) return TAPER_OK;
    w->pixels = malloc((size_t)more);
    if (!w->pixels)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", n);
    (void)formats_account_take(&d->account, more);
    w->capacity = n;
    return TAPER_OK;
}

typedef struct rendering {
    const taper_decoder *decoder;
    const codec_group *state;
    const codec_rendered *to;
    uint32_t first, n, in_block; /* windows: all, and per block */
    atomic_int failed;
} rendering;

/* The number of windows, of n from `first` on, that have the last known unit of a binary model. */
static uint32_t whole_windows(const codec_group *state, uint32_t first, uint32_t n) {
    uint32_t known = codec_group_last_known(state);
    return known <= first ? 0 : known - first < n ? known - first : n;
}

static void render_block(void *context, size_t block) {
    rendering *t = context;
    const codec_network *network = &t->decoder->model->network;
    codec_backend backend = t->decoder->backend;
    backend.pool = NULL; /* threads work on separate blocks */
    uint32_t at = (uint32_t)block * t->in_block, left = t->n - at;
    uint32_t n = left < t->in_block ? left : t->in_block;
    float *code = malloc((size_t)n * network->units * sizeof *code);
    if (code) codec_head_dequantise(t->state, t->first + at, n, code);
    if (!code ||
        codec_network_decode_cut(network, &backend, code, n, codec_group_units_known(t->state),
                                 whole_windows(t->state, t->first + at, n),
                                 t->to->pixels + (size_t)at * network->inputs) != TAPER_OK)
        t->failed = 1;
    free(code);
}

static int is_rendered(const codec_rendered *w, uint32_t g, const codec_group *state,
                       uint32_t first, uint32_t n) {
    return w->n && w->group == g && w->pass == state->pass && w->position == state->position &&
           first >= w->first && first + n <= w->first + w->n;
}

/* Render windows first .. first + n - 1, and some after them if there is memory. */
static taper_status render(taper_decoder *d, const taper_image_info *info, const codec_group *state,
                           uint32_t first, uint32_t n, taper_error *error) {
    uint32_t rate_class = formats_front_rate_class(&d->front, info->group), left = state->n - first;
    codec_rendered *w = &d->rendered[rate_class];
    uint32_t ahead = n > CODEC_RENDER_WINDOWS      ? n
                     : left < CODEC_RENDER_WINDOWS ? left
                                                   : CODEC_RENDER_WINDOWS;
    if (is_rendered(w, info->group, state, first, n) &&
        formats_account_left(&d->account) >= passing_bytes(d, info, n, 0))
        return TAPER_OK;
    if (allocate_windows(d, w, ahead, passing_bytes(d, info, n, ahead), NULL) != TAPER_OK) {
        codec_decoder_drop_others(d, rate_class);
        ahead = n;
        TAPER_TRY(allocate_windows(d, w, ahead, passing_bytes(d, info, n, ahead), error));
    }
    w->n = 0;
    rendering task = {.decoder = d, .state = state, .to = w, .first = first, .n = ahead};
    task.in_block = d->backend.pool ? RENDER_BLOCK : CODEC_RENDER_WINDOWS;
    codec_pool_run(d->backend.pool, render_block, &task,
                   (ahead + task.in_block - 1) / task.in_block);
    if (task.failed)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", ahead);
    w->group = info->group, w->first = first, w->n = ahead, w->pass = state->pass,
    w->position = state->position;
    return TAPER_OK;
}

/* Make the image's pixels of its rendered windows, which start at `first`. */
static taper_status finish_image(taper_decoder *d, uint32_t pass, codec_rendered *w, uint32_t first,
                                 uint32_t n, taper_image *out) {
    float *from = w->pixels + (size_t)(first - w->first) * d->model->network.inputs;
    if (n <= CODEC_RENDER_WINDOWS)
        return codec_model_render(d->model, pass, d->backend.pool, from, out);
    w->n = 0;
    return codec_model_render_over(d->model, pass, d->backend.pool, from, out);
}

taper_status taper_decoder_render(taper_decoder *d, uint64_t i, taper_image *out,
                                  taper_completeness *done, taper_error *error) {
    taper_image_info info;
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    if (!out || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no memory for the pixels");
    TAPER_TRY(check_memory(d, &info, error));
    TAPER_TRY(codec_decoder_load_image(d, i, UINT32_MAX, &image, error));
    codec_group_reader *r = image.group;
    uint32_t first = image.first, n = image.n;
    TAPER_TRY(render(d, &info, &r->coder.group, first, n, error));
    out->width = info.width, out->height = info.height, out->channels = info.channels,
    out->depth = info.depth;
    codec_rendered *w = &d->rendered[formats_front_rate_class(&d->front, info.group)];
    uint32_t pass = codec_model_pass(r->coder.group.tables, r->coder.group.pass);
    if (finish_image(d, pass, w, first, n, out) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", n);
    if (done) *done = codec_decoder_completeness(d, r);
    return codec_decoder_damage(r, error);
}
