/* picture.c -- see picture.h. */
#include "serve/content/picture.h"
#include "formats/image.h"
#include "formats/images/png.h"
#include "formats/writers/picture_writer.h"
#include <stdlib.h>

enum { WHITE = 0xFFFF, BITS_PER_PIXEL = 2, MOST_SCALE = 16 };

struct serve_renderer {
    uint64_t max_memory;
    serve_set *set; /* of the decoder; NULL: none is kept */
    uint64_t cut;
    taper_decoder *decoder;
};

serve_renderer *serve_renderer_open(uint64_t max_memory) {
    serve_renderer *r = calloc(1, sizeof *r);
    if (r) r->max_memory = max_memory;
    return r;
}

void serve_renderer_rest(serve_renderer *r) {
    taper_decoder_free(r->decoder);
    serve_set_release(r->set);
    r->decoder = NULL, r->set = NULL;
}

void serve_renderer_close(serve_renderer *r) {
    if (!r) return;
    serve_renderer_rest(r);
    free(r);
}

/* --- how far to decode --- */

/* The largest reduction that has at least the wanted size. A single pixel has that size at any. */
static uint32_t scale_of(const serve_iiif_picture *at) {
    uint32_t scale = 1;
    if (at->to_width >= at->width && at->to_height >= at->height) return scale;
    while (scale < MOST_SCALE && (at->width - 1) / (2 * scale) + 1 >= at->to_width &&
           (at->height - 1) / (2 * scale) + 1 >= at->to_height)
        scale *= 2;
    return scale;
}

static double pixels_of_group(const taper_container *container, uint32_t group) {
    uint64_t first = 0, count = 0;
    double pixels = 0;
    if (taper_container_group(container, group, &first, &count, NULL) != TAPER_OK) return 0;
    for (uint64_t place = first; place < first + count; place++) {
        taper_image_info one = {.size = sizeof one};
        const uint64_t i = taper_container_image_at(container, place);
        if (taper_container_get_image(container, i, &one, NULL) == TAPER_OK)
            pixels += (double)one.width * one.height;
    }
    return pixels;
}

/* The end of the first layer that has enough bits for this reduction; 0: all. */
static uint64_t quick_cut(const serve_set *set, const serve_picture *p, uint32_t scale) {
    const taper_container *container = serve_set_container(set);
    taper_image_info image = {.size = sizeof image};
    if (scale == 1 || taper_container_get_image(container, p->image, &image, NULL) != TAPER_OK)
        return 0;
    const double pixels = (double)image.width * image.height;
    const double share = pixels / pixels_of_group(container, image.group);
    const double wanted = pixels / ((double)scale * scale) * BITS_PER_PIXEL;
    for (uint32_t l = 0; l < serve_set_info(set)->layers; l++) {
        uint64_t cut, here, whole;
        uint32_t passes;
        if (taper_container_layer(container, p->image, l, &cut, &passes, NULL) != TAPER_OK ||
            taper_container_image_bytes(container, p->image, cut, &here, &whole, NULL) != TAPER_OK)
            return 0;
        if ((double)here * 8 * share >= wanted) return cut;
    }
    return 0;
}

/* The decoder that is kept, or another one. */
static taper_status decoder_for(serve_renderer *r, serve_set *set, uint64_t cut,
                                taper_error *error) {
    if (r->set == set && r->cut == cut) return TAPER_OK;
    serve_renderer_rest(r);
    const taper_decode_options how = {
        .size = sizeof how, .cut = cut, .max_memory = r->max_memory + serve_set_info(set)->memory};
    TAPER_TRY(taper_decoder_new(&r->decoder, serve_set_container(set), &how, error));
    serve_set_hold(r->set = set);
    r->cut = cut;
    return TAPER_OK;
}

/* --- pixels --- */

static taper_status render(serve_renderer *r, const serve_picture *p, uint32_t scale,
                           taper_image *out, taper_error *error) {
    taper_image_info image = {.size = sizeof image};
    const taper_limits limits = {.size = sizeof limits, .max_memory = r->max_memory};
    const serve_iiif_picture *at = &p->at;
    TAPER_TRY(taper_container_get_image(serve_set_container(r->set), p->image, &image, error));
    const bool is_whole = at->width == image.width && at->height == image.height;
    const uint32_t columns = (at->x + at->width - 1) / scale - at->x / scale + 1;
    const uint32_t rows = (at->y + at->height - 1) / scale - at->y / scale + 1;
    TAPER_TRY(formats_image_make(out, columns, rows, image.channels, image.depth, &limits, error));
    if (is_whole) return taper_decoder_render_scaled(r->decoder, p->image, scale, out, NULL, error);
    const taper_crop crop = {.x = at->x, .y = at->y, .width = at->width, .height = at->height};
    return taper_decoder_render_crop(r->decoder, p->image, scale, &crop, out, NULL, error);
}

static taper_status to_size(taper_image *image, const serve_picture *p, taper_error *error) {
    taper_image sized;
    if (image->width == p->at.to_width && image->height == p->at.to_height) return TAPER_OK;
    formats_image_to_8bit(image);
    formats_image_flatten(image, WHITE);
    TAPER_TRY(taper_image_scale(image, p->at.to_width, p->at.to_height, &sized, error));
    formats_image_free(image);
    *image = sized;
    return TAPER_OK;
}

static taper_status encode(serve_set *set, const serve_picture *p, const taper_image *image,
                           uint8_t **bytes, size_t *size, taper_error *error) {
    formats_metadata colours;
    taper_status status;
    serve_set_colours(set, p->image, &colours);
    if (p->is_png) {
        status = formats_png_encode_with(image, NULL, &colours, bytes, size, error);
    } else {
        const formats_write_options how = {FORMATS_WRITE_JPEG, p->quality, NULL, &colours};
        status = formats_write_picture(&how, image, bytes, size, error);
    }
    formats_metadata_free(&colours);
    return status;
}

taper_status serve_render(serve_renderer *r, serve_set *set, const serve_picture *p,
                          uint8_t **bytes, size_t *size, taper_error *error) {
    taper_image image = {0};
    taper_error unused;
    const uint32_t scale = scale_of(&p->at);
    *bytes = NULL, *size = 0;
    const uint64_t cut = p->is_quick && !p->cut ? quick_cut(set, p, scale) : p->cut;
    taper_status status = decoder_for(r, set, cut, error);
    if (status == TAPER_OK) status = taper_decoder_set_scale(r->decoder, scale, error);
    if (status == TAPER_OK) status = render(r, p, scale, &image, error);
    if (status != TAPER_OK && status != TAPER_ERR_CORRUPT) {
        formats_image_free(&image);
        serve_renderer_rest(r);
        return status;
    }
    taper_error *why = status == TAPER_OK ? error : &unused;
    taper_status made = to_size(&image, p, why);
    if (made == TAPER_OK) made = encode(set, p, &image, bytes, size, why);
    formats_image_free(&image);
    return status == TAPER_OK ? made : status;
}
