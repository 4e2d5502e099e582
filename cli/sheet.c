/* sheet.c -- see sheet.h. */
#include "cli/sheet.h"
#include "cli/common/page.h"
#include "formats/image.h"
#include <string.h>

enum { WHITE = 0xFFFF, BITS_PER_PIXEL = 2 };

/* The largest part that taper_decoder_render_scaled takes and that has `side` pixels or more. */
static uint32_t scale_of(const taper_image_info *info, uint32_t side) {
    const uint32_t longest = info->width > info->height ? info->width : info->height;
    uint32_t scale = 1;
    while (scale < 16 && longest / (2 * scale) >= side) scale *= 2;
    return scale;
}

/* The end of the first layer that has enough bits of the image for this scale; UINT64_MAX: none. */
static uint64_t cut_of(const taper_container *container, uint64_t i, const taper_image_info *info,
                       uint32_t scale) {
    taper_container_info all = {.size = sizeof all};
    uint64_t cut = UINT64_MAX, here = 0, whole = 0, group_pixels = 0, first = 0, count = 0;
    const uint64_t shown = (uint64_t)info->width * info->height / ((uint64_t)scale * scale);
    if (scale == 1 || taper_container_get_info(container, &all, NULL) != TAPER_OK ||
        taper_container_group(container, info->group, &first, &count, NULL) != TAPER_OK)
        return UINT64_MAX;
    for (uint64_t place = first; place < first + count; place++) {
        taper_image_info one = {.size = sizeof one};
        const uint64_t image = taper_container_image_at(container, place);
        if (taper_container_get_image(container, image, &one, NULL) == TAPER_OK)
            group_pixels += (uint64_t)one.width * one.height;
    }
    const double share = (double)info->width * info->height / (double)group_pixels;
    for (uint32_t l = 0; l < all.layers; l++) {
        uint32_t passes = 0;
        if (taper_container_layer(container, i, l, &cut, &passes, NULL) != TAPER_OK ||
            taper_container_image_bytes(container, i, cut, &here, &whole, NULL) != TAPER_OK)
            return UINT64_MAX;
        if ((double)here * 8 * share >= (double)shown * BITS_PER_PIXEL) return cut;
    }
    return UINT64_MAX;
}

/* Grey to RGB, 16 to 8 bits, on white. */
static taper_status to_colour(taper_image *image, const taper_limits *limits, taper_error *error) {
    taper_image rgb;
    formats_image_to_8bit(image);
    formats_image_flatten(image, WHITE);
    if (image->channels == 3) return TAPER_OK;
    TAPER_TRY(formats_image_make(&rgb, image->width, image->height, 3, 8, limits, error));
    const uint8_t *from = image->pixels;
    uint8_t *to = rgb.pixels;
    const size_t pixels = (size_t)image->width * image->height;
    for (size_t k = 0; k < pixels; k++) memset(to + 3 * k, from[k], 3);
    formats_image_free(image);
    *image = rgb;
    return TAPER_OK;
}

static taper_status to_side(taper_image *image, uint32_t side, taper_error *error) {
    const uint32_t longest = image->width > image->height ? image->width : image->height;
    if (longest <= side) return TAPER_OK;
    const uint64_t width = ((uint64_t)image->width * side + longest / 2) / longest,
                   height = ((uint64_t)image->height * side + longest / 2) / longest;
    taper_image small;
    TAPER_TRY(taper_image_scale(image, width ? (uint32_t)width : 1, height ? (uint32_t)height : 1,
                                &small, error));
    formats_image_free(image);
    *image = small;
    return TAPER_OK;
}

taper_status cli_tile_decode(cli_tile *tile, const taper_container *container,
                             const taper_decode_options *options, uint64_t i, uint32_t side,
                             taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_decoder *decoder;
    taper_decode_options how = *options;
    taper_error unused;
    *tile = (cli_tile){.number = i + 1};
    TAPER_TRY(taper_container_get_image(container, i, &info, error));
    tile->name = info.name, tile->of_width = info.width, tile->of_height = info.height;
    i = info.same_as;
    const uint32_t scale = scale_of(&info, side);
    const uint64_t cut = cut_of(container, i, &info, scale);
    if (cut < how.cut || !how.cut) how.cut = cut == UINT64_MAX ? how.cut : cut;
    TAPER_TRY(taper_decoder_new(&decoder, container, &how, error));
    taper_status status =
        formats_image_make(&tile->image, (info.width - 1) / scale + 1,
                           (info.height - 1) / scale + 1, info.channels, info.depth, NULL, error);
    if (status == TAPER_OK) status = taper_decoder_set_scale(decoder, scale, error);
    if (status == TAPER_OK)
        status = taper_decoder_render_scaled(decoder, i, scale, &tile->image, NULL, error);
    taper_decoder_free(decoder);
    const taper_status rendered = status;
    if (status == TAPER_ERR_CORRUPT) status = TAPER_OK;
    taper_error *why = rendered == TAPER_OK ? error : &unused;
    if (status == TAPER_OK) status = to_colour(&tile->image, NULL, why);
    if (status == TAPER_OK) status = to_side(&tile->image, side, why);
    if (status != TAPER_OK) formats_image_free(&tile->image);
    return rendered == TAPER_OK ? status : rendered;
}

uint32_t cli_sheet_columns(uint64_t n) {
    uint32_t columns = 1;
    while ((uint64_t)columns * columns < n) columns++;
    return columns;
}

taper_status cli_sheet_draw(const cli_tile *tile, uint64_t n, uint32_t columns, uint32_t side,
                            uint32_t gap, const taper_limits *limits, taper_image *out,
                            taper_error *error) {
    const uint64_t rows = (n - 1) / columns + 1, step = (uint64_t)side + gap;
    const uint64_t width = columns * step + gap, height = rows * step + gap;
    if (width > UINT32_MAX || height > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "%llu tiles are too many for one picture",
                            (unsigned long long)n);
    TAPER_TRY(formats_image_make(out, (uint32_t)width, (uint32_t)height, 3, 8, limits, error));
    memset(out->pixels, 0xFF, (size_t)(width * height * 3));
    for (uint64_t k = 0; k < n; k++) {
        const taper_image *image = &tile[k].image;
        if (!image->pixels) continue;
        const uint64_t left = gap + k % columns * step + (side - image->width) / 2,
                       top = gap + k / columns * step + (side - image->height) / 2;
        for (uint32_t y = 0; y < image->height; y++)
            memcpy((uint8_t *)out->pixels + ((top + y) * width + left) * 3,
                   (const uint8_t *)image->pixels + (size_t)y * image->width * 3,
                   (size_t)image->width * 3);
    }
    return TAPER_OK;
}

taper_status cli_sheet_page(const cli_tile *tile, uint64_t n, uint32_t side, const char *title,
                            FILE *to, taper_error *error) {
    char size[48], number[32];
    cli_page_begin(to, title, NULL);
    cli_page_tiles_begin(to, side);
    taper_status status = TAPER_OK;
    for (uint64_t k = 0; k < n && status == TAPER_OK; k++) {
        snprintf(size, sizeof size, "%u x %u", tile[k].of_width, tile[k].of_height);
        snprintf(number, sizeof number, "image %llu", (unsigned long long)tile[k].number);
        const char *name = tile[k].name ? tile[k].name : number;
        const cli_page_picture picture = {.image = tile[k].image.pixels ? &tile[k].image : NULL,
                                          .why = "damaged",
                                          .alt = name,
                                          .first = name,
                                          .second = size};
        status = cli_page_put_picture(to, &picture, error);
    }
    cli_page_pictures_end(to);
    cli_page_end(to, NULL);
    return status;
}
