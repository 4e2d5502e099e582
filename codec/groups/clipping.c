/* clipping.c -- see clipping.h. */
#include "codec/groups/clipping.h"
#include "codec/backend/simd.h"
#include <stdlib.h>

CODEC_CLONES static int32_t largest(const int16_t *restrict code, uint32_t n) {
    int32_t most = 0;
    for (uint32_t p = 0; p < n; p++) {
        int32_t m = code[p] < 0 ? -code[p] : code[p];
        most = m > most ? m : most;
    }
    return most;
}

static int32_t top_of(uint32_t planes) { return (int32_t)(((uint32_t)1 << planes) - 1); }

/* The squared error of clipping an image's values of a unit to its planes. */
static double loss(const int16_t *code, codec_clipping_image image, int32_t top, double step) {
    double sum = 0;
    for (uint32_t p = image.first; p < image.first + image.n; p++) {
        int32_t over = abs(code[p]) - top;
        if (over > 0) sum += (double)over * over * step * step;
    }
    return sum;
}

/* Raise the planes of each unit until they represent the image's codes. */
static void planes_needed(const codec_code_tables *t, const int16_t *code, size_t stride,
                          codec_clipping_image image, uint8_t *planes) {
    for (uint32_t u = 0; u < t->units; u++) {
        int32_t most = largest(code + u * stride + image.first, image.n);
        while (most > top_of(t->planes[u] + planes[u])) planes[u]++;
    }
}

static void clip(const codec_code_tables *t, int16_t *code, size_t stride,
                 codec_clipping_image image) {
    for (uint32_t u = 0; u < t->units; u++) {
        int32_t top = top_of(t->planes[u]);
        int16_t *of_unit = code + u * stride + image.first;
        if (largest(of_unit, image.n) <= top) continue;
        for (uint32_t p = 0; p < image.n; p++)
            of_unit[p] = (int16_t)(of_unit[p] > top ? top : of_unit[p] < -top ? -top : of_unit[p]);
    }
}

/* The clipping error of each image. */
static void losses(const codec_code_tables *t, const int16_t *code, size_t stride,
                   const codec_clipping_image *image, size_t images, double *loses) {
    uint32_t n = image[images - 1].first + image[images - 1].n;
    for (uint32_t u = 0; u < t->units; u++) {
        int32_t top = top_of(t->planes[u]);
        const int16_t *of_unit = code + u * stride;
        if (largest(of_unit, n) <= top) continue; /* true for nearly all units */
        for (size_t i = 0; i < images; i++) loses[i] += loss(of_unit, image[i], top, t->step[u]);
    }
}

static uint32_t list_units(const uint8_t *planes, uint32_t units, formats_raised *list) {
    uint32_t n = 0;
    for (uint32_t u = 0; u < units; u++)
        if (planes[u]) list[n++] = (formats_raised){(uint16_t)u, planes[u]};
    return n;
}

taper_status codec_clipping_choose(const codec_code_tables *t, int16_t *code, size_t stride,
                                   const codec_clipping_image *image, size_t images,
                                   double may_lose, formats_raised **raised, uint32_t *n) {
    *raised = NULL, *n = 0;
    if (t->density) return TAPER_OK; /* units are bits */
    double *loses = calloc(images, sizeof *loses);
    uint8_t *planes = calloc(t->units, 1);
    formats_raised *list = calloc(t->units, sizeof *list);
    taper_status status = loses && planes && list ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) losses(t, code, stride, image, images, loses);
    for (size_t i = 0; i < images && status == TAPER_OK; i++)
        if (loses[i] > may_lose * (double)image[i].samples)
            planes_needed(t, code, stride, image[i], planes);
        else if (loses[i] > 0)
            clip(t, code, stride, image[i]);
    if (status == TAPER_OK) *n = list_units(planes, t->units, list);
    free(loses), free(planes);
    if (*n)
        *raised = list;
    else
        free(list);
    return status;
}
