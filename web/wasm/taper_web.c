/* taper_web.c -- a set in a browser: its bytes come by ranges, in any order. See taper_web.h. */
#include "web/wasm/taper_web.h"
#include "web/zstd/frame.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module of 32 bits has a gigabyte at most. */
#define MOST_MEMORY ((uint64_t)640 << 20)
#define MOST_PIXELS ((size_t)400 << 20)
#define MOST_RANGES ((size_t)1 << 22)

WEB_EXPORT(taper_web_alloc) void *taper_web_alloc(size_t size) { return malloc(size ? size : 1); }
WEB_EXPORT(taper_web_release) void taper_web_release(void *memory) { free(memory); }
WEB_EXPORT(taper_web_version) const char *taper_web_version(void) { return taper_version(); }

WEB_EXPORT(taper_web_unpack)
size_t taper_web_unpack(void *to, size_t room, const void *frame, size_t size) {
    return web_zstd_unpack(to, room, frame, size);
}

WEB_EXPORT(taper_web_open) taper_web *taper_web_open(void) { return calloc(1, sizeof(taper_web)); }
WEB_EXPORT(taper_web_close) void taper_web_close(taper_web *set) {
    if (!set) return;
    taper_decoder_free(set->decoder);
    taper_model_free(set->model);
    free(set->range);
    free(set->pair);
    free(set->pixels);
    free(set);
}

/* --- results ---------------------------------------------------------------------------- */

/* Forget the results of the call before. */
static void begin(taper_web *set) {
    memset(&set->error, 0, sizeof set->error);
    memset(set->number, 0, sizeof set->number);
    set->text = NULL;
}

static int end(taper_web *set, taper_status status) {
    set->error.status = status;
    return (int)status;
}

static int refuse(taper_web *set, taper_status status, const char *text) {
    snprintf(set->error.text, sizeof set->error.text, "%s", text);
    return end(set, status);
}

static void tell_id(taper_web *set, uint64_t id) {
    snprintf(set->id, sizeof set->id, "%08x%08x", (unsigned)(id >> 32), (unsigned)id);
    set->text = set->id;
}

WEB_EXPORT(taper_web_status) int taper_web_status(const taper_web *set) {
    return (int)set->error.status;
}
WEB_EXPORT(taper_web_fact) int taper_web_fact(const taper_web *set) { return set->error.fact; }
WEB_EXPORT(taper_web_needed) const char *taper_web_needed(taper_web *set) {
    tell_id(set, set->error.needed);
    return set->id;
}
WEB_EXPORT(taper_web_error) const char *taper_web_error(const taper_web *set) {
    return set->error.text;
}
WEB_EXPORT(taper_web_numbers) const double *taper_web_numbers(const taper_web *set) {
    return set->number;
}
WEB_EXPORT(taper_web_text) const char *taper_web_text(const taper_web *set) { return set->text; }

/* --- the model and the bytes ------------------------------------------------------------ */

static void tell_model(taper_web *set) {
    taper_model_info info = {.size = sizeof info};
    if (!set->model || taper_model_get_info(set->model, &info, NULL) != TAPER_OK) return;
    set->number[0] = info.stages, set->number[1] = info.stages_known;
    set->number[2] = info.passes, set->number[3] = info.passes_known;
    tell_id(set, info.id);
}

WEB_EXPORT(taper_web_model) int taper_web_model(taper_web *set, const void *bytes, size_t size) {
    const taper_limits limits = {.size = sizeof limits, .max_memory = MOST_MEMORY};
    taper_open_options options = {.size = sizeof options, .limits = &limits};
    taper_decoder *decoder;
    taper_model *model = NULL;
    begin(set);
    if (size) {
        const taper_status status =
            taper_model_load_stages(&model, bytes, size, &limits, &set->error);
        if (status != TAPER_OK) return end(set, status);
    }
    options.model = model;
    const taper_status status = taper_decoder_new_streaming(&decoder, &options, &set->error);
    if (status != TAPER_OK) {
        taper_model_free(model);
        return end(set, status);
    }
    taper_decoder_free(set->decoder);
    taper_model_free(set->model);
    set->decoder = decoder, set->model = model;
    tell_model(set);
    return TAPER_OK;
}

WEB_EXPORT(taper_web_supply)
int taper_web_supply(taper_web *set, double offset, const void *bytes, size_t size) {
    begin(set);
    if (!(offset >= 0 && offset <= 9007199254740992.0))
        return refuse(set, TAPER_ERR_ARG, "the offset is no number up to 2^53");
    return end(set, taper_decoder_supply(set->decoder, (uint64_t)offset, bytes, size, &set->error));
}

/* --- plans ------------------------------------------------------------------------------ */

static uint64_t cut_of(double cut) {
    return cut >= 0 && cut < 18446744073709549568.0 ? (uint64_t)cut : UINT64_MAX;
}

/* An image that no container has, if it is no number. */
static uint64_t image_of(double i) {
    return i >= 0 && i < 9007199254740992.0 ? (uint64_t)i : UINT64_MAX;
}

static taper_status make_room(taper_web *set, size_t count) {
    if (count <= set->capacity) return TAPER_OK;
    if (count > MOST_RANGES) return TAPER_ERR_LIMIT;
    const size_t capacity = count + count / 2 + 16;
    taper_range *range = realloc(set->range, capacity * sizeof *range);
    if (range) set->range = range;
    double *pair = realloc(set->pair, 2 * capacity * sizeof *pair);
    if (pair) set->pair = pair;
    if (!range || !pair) return TAPER_ERR_NOMEM;
    set->capacity = capacity;
    return TAPER_OK;
}

static void tell_ranges(taper_web *set, size_t count) {
    for (size_t k = 0; k < count; k++) {
        set->pair[2 * k] = (double)set->range[k].offset;
        set->pair[2 * k + 1] = (double)set->range[k].size;
    }
    set->number[0] = (double)count;
    set->number[1] = taper_decoder_container(set->decoder) != NULL;
}

/* Plan, with more room if there are more ranges than before. */
static int plan(taper_web *set, const char *name, uint64_t i, uint64_t cut) {
    taper_decoder *d = set->decoder;
    for (;;) {
        size_t count = 0;
        uint64_t found = i;
        const taper_status status =
            name ? taper_decoder_plan_name(d, name, cut, set->range, set->capacity, &count, &found,
                                           &set->error)
                 : taper_decoder_plan(d, i, cut, set->range, set->capacity, &count, &set->error);
        if (count <= set->capacity) {
            tell_ranges(set, count);
            set->number[2] = found == UINT64_MAX ? -1 : (double)found;
            return end(set, status);
        }
        const taper_status room = make_room(set, count);
        if (room != TAPER_OK) return refuse(set, room, "too many ranges are missing");
    }
}

WEB_EXPORT(taper_web_plan) int taper_web_plan(taper_web *set, double i, double cut) {
    begin(set);
    return plan(set, NULL, image_of(i), cut_of(cut));
}

WEB_EXPORT(taper_web_plan_name)
int taper_web_plan_name(taper_web *set, const char *name, double cut) {
    begin(set);
    return plan(set, name, UINT64_MAX, cut_of(cut));
}

WEB_EXPORT(taper_web_ranges) const double *taper_web_ranges(const taper_web *set) {
    return set->pair;
}

/* --- what is known ---------------------------------------------------------------------- */

/* The container, or NULL with an error. */
static const taper_container *opened(taper_web *set) {
    begin(set);
    const taper_container *c = taper_decoder_container(set->decoder);
    if (!c) refuse(set, TAPER_ERR_TRUNCATED, "the front matter is not complete");
    return c;
}

WEB_EXPORT(taper_web_info) int taper_web_info(taper_web *set) {
    taper_container_info info = {.size = sizeof info};
    const taper_container *c = opened(set);
    if (!c) return set->error.status;
    const taper_status status = taper_container_get_info(c, &info, &set->error);
    if (status != TAPER_OK) return end(set, status);
    const double number[] = {(double)info.images,
                             (double)info.pixels,
                             info.layout,
                             info.groups,
                             info.layers,
                             info.passes,
                             (double)info.front_bytes,
                             (double)info.file_bytes,
                             info.has_names,
                             info.classes,
                             (double)info.model_bytes,
                             info.was_truncated,
                             (double)info.further_names};
    memcpy(set->number, number, sizeof number);
    tell_id(set, info.model_id);
    return TAPER_OK;
}

WEB_EXPORT(taper_web_image) int taper_web_image(taper_web *set, double i) {
    taper_image_info info = {.size = sizeof info};
    uint64_t here, all = 0;
    const taper_container *c = opened(set);
    if (!c) return set->error.status;
    taper_status status = taper_container_get_image(c, image_of(i), &info, &set->error);
    if (status == TAPER_OK)
        status = taper_container_image_bytes(c, image_of(i), UINT64_MAX, &here, &all, &set->error);
    if (status != TAPER_OK) return end(set, status);
    const double number[] = {info.width,    info.height, info.channels,        info.depth,
                             info.group,    info.label,  (double)info.same_as, info.is_indexed,
                             info.is_exact, (double)all};
    memcpy(set->number, number, sizeof number);
    set->text = info.name;
    return TAPER_OK;
}

WEB_EXPORT(taper_web_layer) int taper_web_layer(taper_web *set, double i, uint32_t layer) {
    uint64_t cut = 0;
    uint32_t passes = 0;
    const taper_container *c = opened(set);
    if (!c) return set->error.status;
    const taper_status status =
        taper_container_layer(c, image_of(i), layer, &cut, &passes, &set->error);
    set->number[0] = (double)cut, set->number[1] = passes;
    set->number[2] = taper_container_layer_stage(c, layer);
    return end(set, status);
}

WEB_EXPORT(taper_web_class) int taper_web_class(taper_web *set, uint32_t k) {
    const taper_container *c = opened(set);
    if (!c) return set->error.status;
    set->text = taper_container_class_name(c, k);
    return TAPER_OK;
}

/* --- pictures --------------------------------------------------------------------------- */

/* The size of the picture in *image: of the whole, or of what a rectangle of it touches. */
static taper_status picture_size(taper_web *set, const taper_container *c, uint64_t i,
                                 const web_view *view, taper_image *image) {
    taper_image_info info = {.size = sizeof info};
    const taper_status status = taper_container_get_image(c, i, &info, &set->error);
    if (status != TAPER_OK) return status;
    const uint32_t scale = view->scale ? view->scale : 1;
    image->channels = info.channels, image->depth = info.depth;
    image->width = (info.width - 1) / scale + 1, image->height = (info.height - 1) / scale + 1;
    if (!view->width) return TAPER_OK;
    if (view->x >= info.width || view->width > info.width - view->x || !view->height ||
        view->y >= info.height || view->height > info.height - view->y)
        return (taper_status)refuse(set, TAPER_ERR_ARG, "the rectangle is not within the image");
    image->width = (view->x + view->width - 1) / scale - view->x / scale + 1;
    image->height = (view->y + view->height - 1) / scale - view->y / scale + 1;
    return TAPER_OK;
}

/* Memory for the picture, kept from one to the next. */
static taper_status picture_memory(taper_web *set, const taper_image *image, size_t *room) {
    *room = web_pixels_room(image, MOST_PIXELS);
    if (!*room) return (taper_status)refuse(set, TAPER_ERR_LIMIT, "the picture is too large");
    if (*room <= set->pixels_size && *room >= set->pixels_size / 4) return TAPER_OK;
    free(set->pixels);
    set->pixels_size = 0;
    set->pixels = malloc(*room);
    if (!set->pixels)
        return (taper_status)refuse(set, TAPER_ERR_NOMEM, "no memory for the picture");
    set->pixels_size = *room;
    return TAPER_OK;
}

static taper_status draw(taper_web *set, uint64_t i, const web_view *view, taper_image *image,
                         taper_completeness *done) {
    const taper_crop crop = {view->x, view->y, view->width, view->height};
    taper_decoder *d = set->decoder;
    taper_status status = taper_decoder_set_scale(d, view->scale, &set->error);
    if (status != TAPER_OK) return status;
    status = view->width
                 ? taper_decoder_render_crop(d, i, view->scale, &crop, image, done, &set->error)
                 : taper_decoder_render_scaled(d, i, view->scale, image, done, &set->error);
    (void)taper_decoder_set_scale(d, 1, NULL); /* plans are for all passes */
    return status;
}

WEB_EXPORT(taper_web_render)
int taper_web_render(taper_web *set, double i, const web_view *view) {
    taper_image image = {0};
    taper_completeness done = {0};
    size_t room = 0;
    const taper_container *c = opened(set);
    if (!c) return set->error.status;
    taper_status status = picture_size(set, c, image_of(i), view, &image);
    if (status == TAPER_OK) status = picture_memory(set, &image, &room);
    if (status != TAPER_OK) return end(set, status);
    image.pixels = web_pixels_place(&image, set->pixels, room);
    status = draw(set, image_of(i), view, &image, &done);
    if (status != TAPER_OK && status != TAPER_ERR_CORRUPT) return end(set, status);
    web_pixels_rgba(&image, set->pixels);
    const double number[] = {image.width,        image.height,  done.passes,    done.passes_in_file,
                             (double)done.bytes, done.complete, done.exact_rows};
    memcpy(set->number, number, sizeof number);
    return end(set, status);
}

WEB_EXPORT(taper_web_pixels) const void *taper_web_pixels(const taper_web *set) {
    return set->pixels;
}
