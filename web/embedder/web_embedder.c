/* web_embedder.c -- see web_embedder.h. */
#include "web/embedder/web_embedder.h"
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module of 32 bits has a gigabyte at most. */
#define MOST_MEMORY ((uint64_t)640 << 20)

struct web_embedder {
    taper_model *model;
    taper_embedder *of;
    taper_error error;
    uint32_t units;
    int is_binary;
    char id[17];
    float *code; /* [units] */
};

WEB_EXPORT(web_embedder_alloc) void *web_embedder_alloc(size_t size) {
    return malloc(size ? size : 1);
}
WEB_EXPORT(web_embedder_release) void web_embedder_release(void *memory) { free(memory); }

static void load(web_embedder *e, const void *bytes, size_t size) {
    const taper_limits limits = {.size = sizeof limits, .max_memory = MOST_MEMORY};
    taper_model_info info = {.size = sizeof info};
    taper_status status = taper_model_load(&e->model, bytes, size, &limits, &e->error);
    if (status == TAPER_OK) status = taper_model_get_info(e->model, &info, &e->error);
    if (status == TAPER_OK) status = taper_embedder_new(&e->of, e->model, 1, &e->error);
    e->code = malloc((size_t)info.units * sizeof *e->code);
    if (status == TAPER_OK && info.units && !e->code) status = TAPER_ERR_NOMEM;
    e->error.status = status;
    if (status != TAPER_OK) return;
    e->units = info.units, e->is_binary = (int)info.binary;
    snprintf(e->id, sizeof e->id, "%08x%08x", (unsigned)(info.id >> 32), (unsigned)info.id);
}

WEB_EXPORT(web_embedder_open) web_embedder *web_embedder_open(const void *bytes, size_t size) {
    web_embedder *e = calloc(1, sizeof *e);
    if (e) load(e, bytes, size);
    return e;
}

WEB_EXPORT(web_embedder_close) void web_embedder_close(web_embedder *e) {
    if (!e) return;
    taper_embedder_free(e->of);
    taper_model_free(e->model);
    free(e->code);
    free(e);
}

WEB_EXPORT(web_embedder_status) int web_embedder_status(const web_embedder *e) {
    return (int)e->error.status;
}
WEB_EXPORT(web_embedder_error) const char *web_embedder_error(const web_embedder *e) {
    return e->error.text;
}
WEB_EXPORT(web_embedder_units) uint32_t web_embedder_units(const web_embedder *e) {
    return e->units;
}
WEB_EXPORT(web_embedder_is_binary) int web_embedder_is_binary(const web_embedder *e) {
    return e->is_binary;
}
WEB_EXPORT(web_embedder_id) const char *web_embedder_id(const web_embedder *e) { return e->id; }

/* Onto white, as `--alpha white` of the command line does. */
static uint8_t blend(uint32_t sample, uint32_t alpha) {
    return (uint8_t)((sample * alpha + 255 * (255 - alpha) + 127) / 255);
}

/* In place: RGB, or grey where no pixel has a colour. Returns the channels. */
static uint8_t drop_alpha(uint8_t *pixel, size_t pixels) {
    int has_colour = 0;
    uint8_t *to = pixel;
    for (size_t i = 0; i < pixels; i++, to += 3) {
        const uint8_t *from = pixel + 4 * i, alpha = from[3];
        for (int c = 0; c < 3; c++) to[c] = blend(from[c], alpha);
        has_colour |= to[0] != to[1] || to[0] != to[2];
    }
    if (has_colour) return 3;
    for (size_t i = 0; i < pixels; i++) pixel[i] = pixel[3 * i];
    return 1;
}

WEB_EXPORT(web_embedder_code)
const float *web_embedder_code(web_embedder *e, uint8_t *rgba, uint32_t width, uint32_t height) {
    const taper_image image = {.width = width,
                               .height = height,
                               .channels = drop_alpha(rgba, (size_t)width * height),
                               .depth = 8,
                               .pixels = rgba};
    memset(&e->error, 0, sizeof e->error);
    return taper_embedder_margins(e->of, &image, 1, e->code, &e->error) ? NULL : e->code;
}
