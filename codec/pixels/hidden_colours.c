/* hidden_colours.c -- see hidden_colours.h.
 *
 * A pyramid: means of 2 x 2 places that have a colour, up to one place; then down again, where
 * places without a colour take that of the place above them (Gortler et al., "The Lumigraph", 1996,
 * section 3.4: pull and push). A smoothing of the filled pixels follows. */
#include "codec/pixels/hidden_colours.h"
#include "formats/status.h"
#include <stdlib.h>

enum { MOST_LEVELS = 32, COLOURS = 3, SMOOTHINGS = 8 };

/* An image at 1 / 2^k. */
typedef struct level {
    uint32_t width, height;
    uint16_t *colour; /* [height][width][colours] */
    uint8_t *has;     /* [height][width] 1: a colour; 2: a filled one */
} level;

typedef struct pyramid {
    level level[MOST_LEVELS];
    int n, colours;
} pyramid;

static taper_status take_level(pyramid *p, uint32_t width, uint32_t height) {
    level *l = &p->level[p->n++];
    const size_t places = (size_t)width * height;
    *l = (level){width, height, malloc(places * (size_t)p->colours * sizeof *l->colour),
                 calloc(places, 1)};
    return l->colour && l->has ? TAPER_OK : TAPER_ERR_NOMEM;
}

static taper_status take_levels(pyramid *p, uint32_t width, uint32_t height) {
    TAPER_TRY(take_level(p, width, height));
    while (width > 1 || height > 1) {
        width = (width + 1) / 2, height = (height + 1) / 2;
        TAPER_TRY(take_level(p, width, height));
    }
    return TAPER_OK;
}

static void free_levels(pyramid *p) {
    for (int k = 0; k < p->n; k++) free(p->level[k].colour), free(p->level[k].has);
}

static uint32_t get(const taper_image *image, size_t at) {
    return image->depth == 16 ? ((const uint16_t *)image->pixels)[at]
                              : ((const uint8_t *)image->pixels)[at];
}

static void put(const taper_image *image, size_t at, uint32_t sample) {
    if (image->depth == 16)
        ((uint16_t *)image->pixels)[at] = (uint16_t)sample;
    else
        ((uint8_t *)image->pixels)[at] = (uint8_t)sample;
}

/* The visible colours. Returns how many pixels have none. */
static size_t read_visible(const taper_image *image, const pyramid *p) {
    const level *l = &p->level[0];
    const size_t n = (size_t)image->width * image->height;
    size_t hidden = 0;
    for (size_t i = 0; i < n; i++) {
        l->has[i] = get(image, (i + 1) * image->channels - 1) != 0;
        hidden += !l->has[i];
        for (int c = 0; c < p->colours; c++)
            l->colour[i * (size_t)p->colours + (size_t)c] =
                (uint16_t)get(image, i * image->channels + (size_t)c);
    }
    return hidden;
}

/* The mean of what has a colour of the four places below (x, y). */
static void pull(const pyramid *p, const level *from, level *to, uint32_t x, uint32_t y) {
    uint32_t sum[COLOURS] = {0}, n = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t fx = 2 * x + (k & 1), fy = 2 * y + k / 2;
        const size_t at = (size_t)fy * from->width + fx;
        if (fx >= from->width || fy >= from->height || !from->has[at]) continue;
        n++;
        for (int c = 0; c < p->colours; c++)
            sum[c] += from->colour[at * (size_t)p->colours + (size_t)c];
    }
    const size_t at = (size_t)y * to->width + x;
    to->has[at] = n != 0;
    for (int c = 0; n && c < p->colours; c++)
        to->colour[at * (size_t)p->colours + (size_t)c] = (uint16_t)((sum[c] + n / 2) / n);
}

static void push(const pyramid *p, const level *from, level *to) {
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++) {
            const size_t at = (size_t)y * to->width + x,
                         above = (size_t)(y / 2) * from->width + x / 2;
            if (to->has[at]) continue;
            to->has[at] = 2;
            for (size_t c = 0; c < (size_t)p->colours; c++)
                to->colour[at * (size_t)p->colours + c] =
                    from->colour[above * (size_t)p->colours + c];
        }
}

/* The mean of the four neighbours, in place of each filled colour. */
static void smooth(const pyramid *p, const level *l) {
    const size_t colours = (size_t)p->colours;
    for (uint32_t y = 0; y < l->height; y++)
        for (uint32_t x = 0; x < l->width; x++) {
            const size_t at = (size_t)y * l->width + x;
            if (l->has[at] != 2) continue;
            const size_t left = x ? at - 1 : at, right = x + 1 < l->width ? at + 1 : at,
                         above = y ? at - l->width : at,
                         below = y + 1 < l->height ? at + l->width : at;
            for (size_t c = 0; c < colours; c++)
                l->colour[at * colours + c] =
                    (uint16_t)((l->colour[left * colours + c] + l->colour[right * colours + c] +
                                l->colour[above * colours + c] + l->colour[below * colours + c] +
                                2) /
                               4);
        }
}

static void fill(const pyramid *p) {
    for (int k = 1; k < p->n; k++) {
        level to = p->level[k];
        for (uint32_t y = 0; y < to.height; y++)
            for (uint32_t x = 0; x < to.width; x++) pull(p, &p->level[k - 1], &to, x, y);
    }
    for (int k = p->n - 1; k-- > 0;) {
        level to = p->level[k];
        push(p, &p->level[k + 1], &to);
        for (int i = 0; i < SMOOTHINGS; i++) smooth(p, &to);
    }
}

uint64_t codec_hide_colours_bytes(const taper_image *image) {
    const uint64_t places = (uint64_t)image->width * image->height;
    return (places + places / 2 + 64) * (sizeof(uint16_t) * image->channels + 1);
}

taper_status codec_hide_colours(taper_image *image) {
    pyramid p = {.colours = image->channels - 1};
    const size_t n = (size_t)image->width * image->height;
    taper_status status = take_levels(&p, image->width, image->height);
    const size_t hidden = status == TAPER_OK ? read_visible(image, &p) : 0;
    if (hidden == n) { /* nothing is visible */
        for (size_t i = 0; i < n * image->channels; i++) put(image, i, 0);
    } else if (hidden) {
        fill(&p);
        for (size_t i = 0; i < n; i++)
            for (int c = 0; p.level[0].has[i] == 2 && c < p.colours; c++)
                put(image, i * image->channels + (size_t)c,
                    p.level[0].colour[i * (size_t)p.colours + (size_t)c]);
    }
    free_levels(&p);
    return status;
}
