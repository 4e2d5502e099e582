/* pixel_group.c -- see pixel_group.h. */
#include "codec/pixels/pixel_group.h"
#include "codec/pixels/alpha_bits.h"
#include "codec/pixels/background.h"
#include "codec/bitplane/chunk_coder.h"
#include <string.h>

enum {
    UPPER_BITS = 3,  /* of soft alpha, in the layer FORMATS_LAYER_FIRST */
    FEW_VALUES = 16, /* alpha of so many values is never soft, */
    SOFT_PART = 8    /* nor if fewer than one in 8 pixels is between the ends */
};

/* --- memory -------------------------------------------------------------------------------- */

uint64_t codec_pixel_image_bytes(const formats_geometry *of) {
    if (!codec_pixels_has_plane(of)) return sizeof(codec_pixel_image);
    return sizeof(codec_pixel_image) +
           codec_plane_elements(of->width, of->height) * sizeof(uint32_t) +
           (of->alpha && !of->indexed ? (uint64_t)of->width * of->height * sizeof(uint16_t) : 0);
}

uint64_t codec_pixel_coding_bytes(uint64_t pixels) {
    return pixels ? codec_colour_model_bytes(pixels) + codec_alpha_bits_bytes() : 0;
}

uint64_t codec_pixel_chunk_bytes(const formats_geometry *of) {
    enum { FEW = 64 };
    const uint64_t pixels = (uint64_t)of->width * of->height;
    if (of->indexed) return FEW + 8 * pixels;
    return of->alpha ? FEW + 4 * pixels : 0;
}

static codec_colour_kind kind_of(const formats_geometry *of) {
    if (of->indexed) return (codec_colour_kind){of->channels, of->alpha, 8};
    return (codec_colour_kind){0, 0, of->depth};
}

static void lay_out(codec_pixel_group *g, codec_pixel_geometry *geometry, const void *user,
                    formats_layout *at) {
    g->image = formats_lay(at, g->n, sizeof *g->image);
    g->colours = g->alphas = 0;
    for (size_t i = 0; i < g->n; i++) {
        const formats_geometry *of = geometry(user, i);
        codec_pixel_image counted, *image = g->image ? &g->image[i] : &counted;
        *image = (codec_pixel_image){.of = *of};
        if (!codec_pixels_has_plane(of)) continue;
        *(of->indexed ? &g->colours : &g->alphas) += (uint64_t)of->width * of->height;
        image->plane = (codec_colour_plane){.width = of->width, .height = of->height};
        image->plane.kind = kind_of(of);
        image->plane.colour = formats_lay(at, codec_plane_elements(of->width, of->height),
                                          sizeof *image->plane.colour);
    }
}

taper_status codec_pixel_group_open(codec_pixel_group *g, size_t n, codec_pixel_geometry *geometry,
                                    const void *user, formats_account *account) {
    formats_layout at = {0};
    formats_block block;
    *g = (codec_pixel_group){.n = n, .account = account};
    lay_out(g, geometry, user, &at);
    const taper_status status = formats_block_take(&block, &at, account);
    if (status != TAPER_OK) {
        *g = (codec_pixel_group){0};
        return status;
    }
    lay_out(g, geometry, user, &at);
    g->block = block;
    return TAPER_OK;
}

void codec_pixel_group_close(codec_pixel_group *g) {
    for (size_t i = 0; i < g->n; i++) formats_block_free(&g->image[i].own);
    formats_block_free(&g->block);
    *g = (codec_pixel_group){0};
}

/* The memory of the lowest bits of an image. */
static taper_status take_low(codec_pixel_group *g, codec_pixel_image *image) {
    formats_layout at = {0};
    const uint64_t pixels = (uint64_t)image->of.width * image->of.height;
    if (image->low) return TAPER_OK;
    (void)formats_lay(&at, pixels, sizeof *image->low);
    TAPER_TRY(formats_block_take(&image->own, &at, g->account));
    image->low = formats_lay(&at, pixels, sizeof *image->low);
    return TAPER_OK;
}

/* --- taking images ------------------------------------------------------------------------- */

static uint32_t sample_at(const taper_image *image, size_t at) {
    return image->depth == 16 ? ((const uint16_t *)image->pixels)[at]
                              : ((const uint8_t *)image->pixels)[at];
}

static uint32_t colour_at(const taper_image *image, size_t pixel) {
    const int channels = image->channels, colours = channels - !(channels & 1);
    const uint8_t *s = (const uint8_t *)image->pixels + pixel * (size_t)channels;
    const uint32_t alpha = colours == channels ? 255 : s[colours];
    if (!alpha) return 0;
    return s[0] | (uint32_t)s[colours == 3 ? 1 : 0] << 8 | (uint32_t)s[colours == 3 ? 2 : 0] << 16 |
           alpha << 24;
}

static uint32_t alpha_at(const taper_image *image, size_t pixel) {
    return sample_at(image, (pixel + 1) * image->channels - 1);
}

/* Is alpha soft: of many values, and between its ends in many places? */
static int is_soft(const taper_image *image) {
    const size_t n = (size_t)image->width * image->height;
    const uint32_t most = image->depth == 16 ? 65535 : 255;
    uint8_t used[65536 / 8] = {0};
    size_t values = 0, between = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = alpha_at(image, i);
        between += a && a != most;
        if (used[a / 8] >> a % 8 & 1) continue;
        used[a / 8] = (uint8_t)(used[a / 8] | 1 << a % 8);
        values++;
    }
    return values > FEW_VALUES && between >= n / SOFT_PART;
}

taper_status codec_pixel_image_take(codec_pixel_group *g, size_t i, const taper_image *pixels) {
    codec_pixel_image *image = &g->image[i];
    if (!codec_pixels_has_plane(&image->of)) return TAPER_OK;
    image->shift = 0;
    if (!image->of.indexed && is_soft(pixels)) {
        image->shift = (uint8_t)(image->of.depth - UPPER_BITS);
        TAPER_TRY(take_low(g, image));
    }
    const uint32_t mask = ((uint32_t)1 << image->shift) - 1;
    for (uint32_t y = 0; y < image->of.height; y++)
        for (uint32_t x = 0; x < image->of.width; x++) {
            const size_t pixel = (size_t)y * image->of.width + x;
            const uint32_t c =
                image->of.indexed ? colour_at(pixels, pixel) : alpha_at(pixels, pixel);
            codec_plane_row(&image->plane, y)[x] = c >> image->shift;
            if (image->shift) image->low[pixel] = (uint16_t)(c & mask);
        }
    return TAPER_OK;
}

/* --- coding -------------------------------------------------------------------------------- */

/* The models of a chunk. */
typedef struct models {
    codec_colour_model *colours, *alphas;
    codec_alpha_bits *low;
    codec_bit soft;
} models;

static taper_status open_models(models *m, const codec_pixel_group *g, formats_layer_kind kind) {
    *m = (models){.soft = {32768, 0}};
    if (kind == FORMATS_LAYER_ALPHA) return codec_alpha_bits_open(&m->low, g->account);
    if (g->colours) TAPER_TRY(codec_colour_model_open(&m->colours, g->colours, g->account));
    return g->alphas ? codec_colour_model_open(&m->alphas, g->alphas, g->account) : TAPER_OK;
}

static void close_models(models *m) {
    codec_colour_model_close(m->colours), codec_colour_model_close(m->alphas);
    codec_alpha_bits_close(m->low);
}

static void code_plane(codec_colour_model *m, codec_pixel_bits *b, codec_colour_plane *plane) {
    if (b->to) plane->background = codec_choose_background(plane);
    codec_colour_plane_code(m, b, plane);
}

/* An image's part of the layer FORMATS_LAYER_FIRST. */
static void code_first(models *m, codec_pixel_bits *b, codec_pixel_image *image) {
    if (image->of.indexed) {
        code_plane(m->colours, b, &image->plane);
        return;
    }
    const int soft = codec_pixel_bit_adaptive(b, image->shift != 0, &m->soft);
    image->shift = (uint8_t)(soft ? image->of.depth - UPPER_BITS : 0);
    image->plane.kind.bits = (uint8_t)(image->of.depth - image->shift);
    code_plane(m->alphas, b, &image->plane);
}

/* The images of a chunk in order, until it is starved. */
static taper_status code_images(codec_pixel_group *g, formats_layer_kind kind, models *m,
                                codec_pixel_bits *b) {
    for (size_t i = 0; i < g->n && !b->starved; i++) {
        codec_pixel_image *image = &g->image[i];
        if (kind == FORMATS_LAYER_FIRST && codec_pixels_has_plane(&image->of))
            code_first(m, b, image);
        if (kind != FORMATS_LAYER_ALPHA || !image->shift) continue;
        TAPER_TRY(take_low(g, image));
        image->lows = codec_alpha_bits_code(m->low, b, &image->plane, image->shift, image->low);
    }
    return TAPER_OK;
}

static int is_needed(const codec_pixel_group *g, formats_layer_kind kind) {
    if (kind == FORMATS_LAYER_FIRST) return g->colours || g->alphas;
    for (size_t i = 0; kind == FORMATS_LAYER_ALPHA && i < g->n; i++)
        if (g->image[i].shift) return 1;
    return 0;
}

taper_status codec_pixel_group_encode(codec_pixel_group *g, formats_layer_kind kind,
                                      formats_buffer *out) {
    models m;
    codec_rc_encoder rc;
    codec_pixel_bits b = {.to = &rc};
    if (!is_needed(g, kind)) return TAPER_OK;
    taper_status status = open_models(&m, g, kind);
    codec_rc_encoder_init(&rc, out);
    if (status == TAPER_OK) status = code_images(g, kind, &m, &b);
    if (status == TAPER_OK) codec_rc_encoder_finish(&rc);
    if (out->size == rc.start) formats_write_u8(out, 0); /* without bytes nothing is known */
    close_models(&m);
    return status == TAPER_OK ? out->status : status;
}

void codec_pixel_group_forget(codec_pixel_group *g, formats_layer_kind kind) {
    for (size_t i = 0; i < g->n; i++) {
        if (kind == FORMATS_LAYER_FIRST) g->image[i].plane.begun = 0, g->image[i].plane.known = 0;
        if (kind == FORMATS_LAYER_FIRST) g->image[i].shift = 0;
        g->image[i].lows = 0;
    }
}

taper_status codec_pixel_group_decode(codec_pixel_group *g, formats_layer_kind kind,
                                      const uint8_t *bytes, size_t size, int whole,
                                      int *plausible) {
    models m;
    codec_rc_decoder rc;
    codec_pixel_bits b = {.from = &rc, .most = UINT64_MAX};
    *plausible = 1;
    codec_pixel_group_forget(g, kind);
    if (!is_needed(g, kind) || !size) return TAPER_OK;
    if (whole) b.most = (size + (uint64_t)CODEC_CHUNK_TRIMMED) * CODEC_CHUNK_BITS_PER_BYTE;
    taper_status status = open_models(&m, g, kind);
    codec_rc_decoder_init(&rc, bytes, size, whole);
    if (status == TAPER_OK) status = code_images(g, kind, &m, &b);
    close_models(&m);
    *plausible = b.count <= b.most;
    if (!*plausible || status != TAPER_OK) codec_pixel_group_forget(g, kind);
    return status;
}
