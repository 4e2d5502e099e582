/* rendering.c -- the pixels, and the codes, of an image whose group is decoded as a whole. Blocks
 * of windows are rendered at once and cached, because neighbouring images are usually read next. */
#include "codec/backend/pool.h"
#include "codec/bitplane/head.h"
#include "codec/decoder/decoder.h"
#include "codec/pixels/pixel_store.h"
#include "codec/render/strip_renderer.h"
#include "codec/render/picture_renderer.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RENDER_BLOCK = 256 /* windows that one of several threads renders at once */ };

/* Windows that one thread renders at once. */
static uint32_t block_of(const taper_decoder *d, uint32_t n) {
    return d->backend.pool && n > RENDER_BLOCK ? RENDER_BLOCK : n;
}

/* Nonzero: the image's windows go into its picture block by block, and are not cached. */
static int is_large(uint32_t n) { return n > CODEC_RENDER_WINDOWS; }

/* Temporary memory for rendering an image of n windows, and `ahead` of them at once: renderers, and
 * the picture. A large image needs memory for the windows of a block of each thread. */
static uint64_t passing_bytes(const taper_decoder *d, const taper_image_info *info, uint32_t n,
                              uint32_t ahead) {
    const taper_model *m = codec_decoder_model(d);
    uint64_t threads = codec_pool_threads(d->backend.pool),
             block = is_large(n) ? RENDER_BLOCK : block_of(d, ahead);
    codec_grid grid = codec_windows_grid(m->window, info->width, info->height);
    uint64_t bytes = codec_strip_renderer_bytes(m, ahead, grid.columns) +
                     threads * codec_window_renderer_run_bytes(m, block);
    if (is_large(n)) bytes += threads * block * m->network.inputs * sizeof(int16_t);
    return bytes + codec_render_bytes(m, grid, (unsigned)threads);
}

taper_status codec_decoder_check_memory(const taper_decoder *d, codec_grid grid, uint64_t bytes,
                                        taper_error *error) {
    const codec_group_shape shape = codec_group_shape_of(&grid, 1);
    uint64_t state = codec_strips_bytes(&codec_decoder_model(d)->tables, &shape);
    bytes += d->container->front.account.used + d->container->leaves_used;
    if (formats_add_u64(bytes, state, &bytes) == TAPER_OK && bytes <= d->limits.max_memory)
        return TAPER_OK;
    return codec_decoder_refuse(d, bytes, error);
}

/* Check, before decoding, that an image of this size fits in max_memory. */
static taper_status check_memory(const taper_decoder *d, const taper_image_info *info,
                                 taper_error *error) {
    codec_grid grid = codec_windows_grid(codec_decoder_model(d)->window, info->width, info->height);
    uint64_t n = (uint64_t)grid.columns * grid.rows;
    uint64_t bytes = 0;
    if (!is_large(n < UINT32_MAX ? (uint32_t)n : UINT32_MAX))
        bytes += n * codec_decoder_model(d)->network.inputs * sizeof(int16_t);
    if (n < UINT32_MAX) bytes += passing_bytes(d, info, (uint32_t)n, (uint32_t)n);
    return codec_decoder_check_memory(d, grid, bytes, error);
}

/* Allocate memory for n windows, and check that the temporary memory is available. Caches are
 * dropped if necessary. */
static taper_status allocate_windows(taper_decoder *d, codec_rendered *w, uint32_t n,
                                     uint64_t passing, taper_error *error) {
    uint64_t size = codec_decoder_model(d)->network.inputs * sizeof *w->value;
    uint64_t more = n > w->capacity ? n * size : 0;
    if (more) codec_decoder_drop_rendered(d, w);
    if (formats_account_left(&d->account) < more + passing)
        return codec_decoder_refuse(d, d->account.used + more + passing, error);
    if (!more) return TAPER_OK;
    w->value = malloc((size_t)more);
    if (!w->value) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", n);
    (void)formats_account_take(&d->account, more);
    w->capacity = n;
    return TAPER_OK;
}

typedef struct rendering {
    taper_decoder *decoder;
    const codec_strip_renderer *renderer;
    uint32_t first, n, in_block;  /* windows: all, and per block */
    int16_t *value;               /* [n][inputs]; or NULL: into the picture */
    const codec_picture *picture; /* of the image whose windows these are */
    codec_rendered *keep;         /* where what rendered them stays; or NULL */
    atomic_int failed;
} rendering;

static void render_block(void *context, size_t block) {
    rendering *t = context;
    size_t inputs = codec_decoder_model(t->decoder)->network.inputs;
    codec_backend backend = t->decoder->backend;
    backend.pool = NULL; /* threads work on separate blocks */
    uint32_t at = (uint32_t)block * t->in_block, left = t->n - at;
    uint32_t n = left < t->in_block ? left : t->in_block;
    int16_t *own = t->value ? NULL : malloc(n * inputs * sizeof *own),
            *value = t->value ? t->value + at * inputs : own;
    if (!value ||
        codec_strip_renderer_run(t->renderer, &backend, t->first + at, n, value) != TAPER_OK)
        t->failed = 1;
    else if (own)
        codec_picture_put(t->picture, codec_decoder_model(t->decoder)->window, at, n, own);
    free(own);
}

/* Keep what rendered a group, if it has work to save and there is memory; else end it. */
static void keep_earlier(const rendering *t, codec_strip_renderer *renderer) {
    codec_rendered *w = t->keep;
    taper_decoder *d = t->decoder;
    if (w && codec_strip_renderer_has_rows(renderer)) {
        const uint64_t bytes = codec_strip_renderer_bytes(codec_decoder_model(d), t->n, t->n);
        codec_strip_renderer_end(&w->earlier);
        formats_account_give(&d->account, w->earlier_bytes), w->earlier_bytes = 0;
        if (formats_account_take(&d->account, bytes) == TAPER_OK) {
            w->earlier = *renderer, w->earlier_bytes = bytes;
            return;
        }
    }
    codec_strip_renderer_end(renderer);
}

/* Render the windows of *t, whose renderer and blocks are still to be set. */
static taper_status render_all(rendering *t, const codec_strips *state, uint32_t in_block,
                               taper_error *error) {
    codec_strip_renderer renderer;
    codec_strip_rendering of = {.model = codec_decoder_model(t->decoder),
                                .strips = state,
                                .first = t->first,
                                .n = t->n,
                                .with_head = 1,
                                .like = t->keep ? &t->keep->earlier : NULL};
    taper_status status = codec_strip_renderer_begin(&renderer, &of, t->decoder->backend.pool);
    t->renderer = &renderer, t->in_block = in_block;
    if (status == TAPER_OK)
        codec_pool_run(t->decoder->backend.pool, render_block, t, (t->n - 1) / in_block + 1);
    keep_earlier(t, &renderer);
    if (status == TAPER_OK && !t->failed) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to render %u windows", t->n);
}

static int is_rendered(const codec_rendered *w, uint32_t g, const codec_group *state,
                       uint32_t first, uint32_t n) {
    return w->n && w->group == g && w->pass == state->pass && w->position == state->position &&
           first >= w->first && first + n <= w->first + w->n;
}

/* Render windows first .. first + n - 1, and some after them if there is memory. They are of one
 * strip: an image that is divided is large. */
static taper_status render(taper_decoder *d, const taper_image_info *info,
                           const codec_strips *strips, uint32_t first, uint32_t n,
                           taper_error *error) {
    const codec_group *state = &strips->coder->group;
    uint32_t rate_class = codec_container_rate_class(d->container, info->group),
             left = state->n - first;
    codec_rendered *w = &d->rendered[rate_class];
    uint32_t ahead = left < CODEC_RENDER_WINDOWS ? left : CODEC_RENDER_WINDOWS;
    if (is_rendered(w, info->group, state, first, n) &&
        formats_account_left(&d->account) >= passing_bytes(d, info, n, 0))
        return TAPER_OK;
    if (allocate_windows(d, w, ahead, passing_bytes(d, info, n, ahead), NULL) != TAPER_OK) {
        codec_decoder_drop_others(d, rate_class);
        ahead = n;
        TAPER_TRY(allocate_windows(d, w, ahead, passing_bytes(d, info, n, ahead), error));
    }
    w->n = 0;
    rendering task = {.decoder = d, .first = first, .n = ahead, .value = w->value, .keep = w};
    TAPER_TRY(render_all(&task, strips, block_of(d, ahead), error));
    w->group = info->group, w->first = first, w->n = ahead, w->pass = state->pass,
    w->position = state->position;
    return TAPER_OK;
}

taper_status codec_decoder_picture(taper_decoder *d, const codec_decoder_image *image,
                                   codec_picture *out, taper_error *error) {
    const taper_image_info *info = &image->info;
    taper_status status = codec_picture_alloc(
        out, codec_decoder_model(d)->window,
        codec_windows_grid(codec_decoder_model(d)->window, info->width, info->height));
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory to render %u windows", image->n);
    rendering task = {.decoder = d, .first = image->first, .n = image->n, .picture = out};
    status = render_all(&task, &image->group->strips, RENDER_BLOCK, error);
    if (status != TAPER_OK) codec_picture_free(out);
    return status;
}

uint64_t codec_decoder_picture_bytes(const taper_decoder *d, const taper_image_info *info) {
    return passing_bytes(d, info, UINT32_MAX, 0);
}

taper_status codec_decoder_need(taper_decoder *d, const taper_image_info *info, uint64_t bytes,
                                taper_error *error) {
    uint32_t rate_class = codec_container_rate_class(d->container, info->group);
    if (formats_account_left(&d->account) < bytes) codec_decoder_drop_others(d, rate_class);
    if (formats_account_left(&d->account) >= bytes) return TAPER_OK;
    return codec_decoder_refuse(d, d->account.used + bytes, error);
}

/* Render a large image. Its windows are not cached. */
static taper_status render_large(taper_decoder *d, const codec_decoder_image *image, uint32_t pass,
                                 taper_image *out, taper_error *error) {
    codec_picture picture;
    TAPER_TRY(codec_decoder_need(d, &image->info,
                                 passing_bytes(d, &image->info, image->n, image->n), error));
    TAPER_TRY(codec_decoder_picture(d, image, &picture, error));
    taper_status status =
        codec_render_picture(codec_decoder_model(d), pass, d->backend.pool, &picture, out);
    if (status != TAPER_OK) formats_fail(error, status, "no memory to render %u windows", image->n);
    codec_picture_free(&picture);
    return status;
}

/* Render a small image from its windows, which are cached. */
static taper_status render_small(taper_decoder *d, const codec_decoder_image *image, uint32_t pass,
                                 taper_image *out, taper_error *error) {
    const taper_image_info *info = &image->info;
    TAPER_TRY(render(d, info, &image->group->strips, image->first, image->n, error));
    const codec_rendered *w = &d->rendered[codec_container_rate_class(d->container, info->group)];
    const int16_t *value =
        w->value + (size_t)(image->first - w->first) * codec_decoder_model(d)->network.inputs;
    taper_status status =
        codec_render_windows(codec_decoder_model(d), pass, d->backend.pool, value, out);
    if (status == TAPER_OK) return TAPER_OK;
    return formats_fail(error, status, "no memory to render %u windows", image->n);
}

/* Colours by their windows and alpha by its plane, or all by the plane. */
static taper_status render_image(taper_decoder *d, const codec_decoder_image *image,
                                 taper_image *out, taper_error *error) {
    out->channels = image->info.channels;
    if (!image->n) {
        codec_pixels_store(image->pixels, 1, out);
        return TAPER_OK;
    }
    const uint32_t pass = codec_group_reader_passes(
        image->group, codec_container_leaf_of_group(d->container, image->info.group));
    if (image->pixels) out->channels--;
    TAPER_TRY((is_large(image->n) ? render_large : render_small)(d, image, pass, out, error));
    if (image->pixels) codec_pixels_add_alpha(image->pixels, 1, out);
    return TAPER_OK;
}

/* --- the exact layer --- */

/* A group whose images are to be exact. */
typedef struct exact_group {
    taper_decoder *decoder;
    const formats_front *front;
    uint32_t first; /* place of its first image */
} exact_group;

static uint64_t number_in(const exact_group *of, size_t i) {
    return (uint64_t)of->front->first_image +
           formats_front_image(of->front, of->first + (uint32_t)i);
}

static taper_image shape_in(void *user, size_t i) {
    taper_image_info info = {.size = sizeof info};
    const exact_group *of = user;
    (void)codec_decoder_find(of->decoder, number_in(of, i), &info, NULL);
    return (taper_image){info.width, info.height, info.channels, info.depth, NULL};
}

static taper_status render_in(void *user, size_t i, taper_image *out, taper_error *error) {
    const exact_group *of = user;
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_load_image(of->decoder, number_in(of, i), of->decoder->passes, &image,
                                       error));
    return render_image(of->decoder, &image, out, error);
}

/* Render image i, exact as far as the exact layer goes: *rows rows. */
static taper_status render_exact(taper_decoder *d, uint64_t i, const codec_decoder_image *image,
                                 taper_image *out, uint32_t *rows, taper_error *error) {
    codec_group_reader *r = image->group;
    const formats_front *f = codec_container_leaf_of_image(d->container, (uint32_t)i);
    codec_exact_string string;
    *rows = 0;
    if (!codec_group_reader_exact(r, f, &string)) return render_image(d, image, out, error);
    if (r->images == 1) {
        TAPER_TRY(render_image(d, image, out, error));
        return codec_exact_decode_alone(out, &string, &d->account, rows, error);
    }
    exact_group of = {d, f, f->group_first[r->group]};
    const codec_exact_source from = {&of, r->images, shape_in, render_in};
    TAPER_TRY(codec_exact_images_decode(&r->exact_images, &string, &from, &d->account, error));
    const uint32_t k = formats_front_place(f, (uint32_t)i - f->first_image) - of.first;
    const taper_image *made = &r->exact_images.image[k];
    memcpy(out->pixels, made->pixels,
           (size_t)made->width * made->height * made->channels * (made->depth / 8u));
    out->channels = made->channels;
    *rows = r->exact_images.rows[k];
    return TAPER_OK;
}

taper_status codec_decoder_render_loaded(taper_decoder *d, uint64_t i, taper_image *out,
                                         taper_completeness *done, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &info, error));
    if (!out || !out->pixels)
        return formats_fail(error, TAPER_ERR_ARG, "there is no memory for the pixels");
    if (!info.is_indexed) TAPER_TRY(check_memory(d, &info, error));
    i = info.same_as;
    TAPER_TRY(codec_decoder_load_image(d, i, d->passes, &image, error));
    codec_group_reader *r = image.group;
    out->width = info.width, out->height = info.height, out->depth = info.depth;
    uint32_t rows;
    TAPER_TRY(render_exact(d, i, &image, out, &rows, error));
    if (done) *done = codec_decoder_completeness(d, r), done->exact_rows = rows;
    return codec_decoder_damage(r, error);
}

/* --- codes, without the network --- */

/* The number of known planes of the first units, without raised planes, of n windows from p. */
static void count_planes(const taper_model *model, const codec_group *g, uint32_t p, uint32_t n,
                         uint32_t units, uint8_t *planes) {
    for (uint32_t u = 0; u < units; u++) {
        uint32_t raised = (uint32_t)g->tables->planes[u] - model->tables.planes[u];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t known = codec_planes_known(g, u, p + i);
            planes[(size_t)i * units + u] = (uint8_t)(known > raised ? known - raised : 0);
        }
    }
}

/* Copy the first units of n windows from p. code: temporary, large enough for `at_once` codes. */
static void copy_values(const codec_group *g, uint32_t p, uint32_t n, uint32_t units, float *code,
                        uint32_t at_once, float *values) {
    size_t all = g->tables->units;
    for (uint32_t end = p + n, more; p < end; p += more) {
        more = end - p < at_once ? end - p : at_once;
        codec_head_dequantise(g, p, more, code);
        for (uint32_t i = 0; i < more; i++, values += units)
            memcpy(values, code + i * all, units * sizeof *values);
    }
}

taper_status taper_decoder_codes(taper_decoder *d, uint64_t i, uint32_t units, uint32_t passes,
                                 float *values, uint8_t *planes, taper_completeness *done,
                                 taper_error *error) {
    codec_decoder_image image;
    TAPER_TRY(codec_decoder_find(d, i, &image.info, error));
    if (!units || units > codec_decoder_model(d)->network.units || !values)
        return formats_fail(error, TAPER_ERR_ARG, "1 to %u units are legal, not %u",
                            codec_decoder_model(d)->network.units, units);
    if (image.info.is_indexed)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image %llu is stored by its colours and has no codes; decode it, and "
                            "make codes of its pixels",
                            (unsigned long long)i);
    TAPER_TRY(codec_decoder_load_image(d, i, passes, &image, error));
    codec_group_reader *r = image.group;
    uint32_t at_once = image.n < CODEC_RENDER_WINDOWS ? image.n : CODEC_RENDER_WINDOWS;
    uint64_t bytes = (uint64_t)at_once * codec_decoder_model(d)->network.units * sizeof *values;
    if (bytes > formats_account_left(&d->account))
        codec_decoder_drop_others(d, codec_container_rate_class(d->container, image.info.group));
    if (bytes > formats_account_left(&d->account))
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_account_needed(&d->account, bytes),
                                 "these codes need %llu more bytes of memory than the limit of "
                                 "%llu allows",
                                 (unsigned long long)bytes,
                                 (unsigned long long)d->limits.max_memory);
    float *code = malloc((size_t)bytes);
    if (!code) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for codes");
    for (uint32_t b = 0; b < r->strips.n; b++) {
        const codec_group *g = &r->strips.coder[b].group;
        size_t before = (size_t)r->strips.first[b] * units;
        int divided = r->strips.n > 1; /* then the image is the whole group */
        uint32_t first = divided ? 0 : image.first, n = divided ? g->n : image.n;
        copy_values(g, first, n, units, code, at_once, values + before);
        if (planes) count_planes(codec_decoder_model(d), g, first, n, units, planes + before);
    }
    free(code);
    if (done) *done = codec_decoder_completeness(d, r);
    return codec_decoder_damage(r, error);
}
