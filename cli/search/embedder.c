/* embedder.c -- see embedder.h. */
#include "cli/search/embedder.h"
#include "cli/common/inputs.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

taper_status cli_embedder_open(cli_embedder *out, const taper_model *model, size_t width,
                               bool encodes, unsigned threads, taper_error *error) {
    const taper_model_info info = cli_model_info(model);
    *out = (cli_embedder){.model = model,
                          .window = {info.window_width, info.window_height, info.channels},
                          .scales = info.embedding,
                          .width = width ? width : info.units,
                          .units = info.units,
                          .is_binary = info.binary};
    if (width > info.units)
        return formats_fail(error, TAPER_ERR_ARG, "codes have only %u units", info.units);
    return encodes ? taper_embedder_new(&out->of, model, threads, error) : TAPER_OK;
}

void cli_embedder_open_pixels(cli_embedder *out, cli_window window) {
    *out = (cli_embedder){.window = window,
                          .width = (size_t)window.width * window.height * window.channels};
}

void cli_embedder_close(cli_embedder *e) {
    taper_embedder_free(e->of);
    *e = (cli_embedder){.width = 0};
}

static taper_status check_pixels(cli_window w, const taper_image *image, taper_error *error) {
    if (image->channels != 1 && image->channels != 3)
        return formats_fail_fact(error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                 "image has an alpha channel, which codes do not represent");
    if (image->channels == 3 && w.channels == 1)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image is in colour but the first one is grey; make all grey, or all "
                            "coloured");
    if (image->width == w.width && image->height == w.height) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_UNSUPPORTED,
        "image is %u x %u pixels but the first one is %u x %u; bring all to one size", image->width,
        image->height, w.width, w.height);
}

taper_status cli_embedder_check(const cli_embedder *e, const taper_image *image,
                                taper_error *error) {
    taper_image shape = *image;
    if (!e->model) return check_pixels(e->window, image, error);
    if (e->scales) shape.width = e->window.width, shape.height = e->window.height;
    return taper_model_check_image(e->model, &shape, error);
}

taper_status cli_embedder_fit(const cli_embedder *e, taper_image *image, taper_error *error) {
    const cli_window w = e->window;
    taper_image scaled;
    const bool fits = image->width == w.width && image->height == w.height && image->depth == 8;
    if (!e->scales || fits) return TAPER_OK;
    if (taper_image_scale(image, w.width, w.height, &scaled, NULL) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to scale the image");
    formats_image_free(image);
    *image = scaled;
    return TAPER_OK;
}

static taper_status whole_codes(const cli_embedder *e, const taper_image *images, size_t n,
                                float *codes, taper_error *error) {
    return e->keeps_margins ? taper_embedder_margins(e->of, images, n, codes, error)
                            : taper_embedder_codes(e->of, images, n, codes, error);
}

/* Samples as numbers from 0 to 255, channel after channel. */
static void read_pixels(const cli_embedder *e, const taper_image *image, float *to) {
    const size_t n = (size_t)image->width * image->height, channels = image->channels;
    for (size_t c = 0; c < e->window.channels; c++)
        for (size_t i = 0, at = channels == 1 ? 0 : c; i < n; i++, at += channels)
            *to++ = image->depth == 16 ? (float)((const uint16_t *)image->pixels)[at] / 257.0f
                                       : (float)((const uint8_t *)image->pixels)[at];
}

taper_status cli_embedder_codes(const cli_embedder *e, const taper_image *images, size_t n,
                                float *codes, taper_error *error) {
    if (!e->model) {
        for (size_t i = 0; i < n; i++) read_pixels(e, &images[i], codes + i * e->width);
        return TAPER_OK;
    }
    if (e->width == e->units) return whole_codes(e, images, n, codes, error);
    float *whole = malloc(n * e->units * sizeof *whole);
    if (!whole) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to make codes");
    const taper_status status = whole_codes(e, images, n, whole, error);
    for (size_t i = 0; i < n && !status; i++)
        memcpy(codes + i * e->width, whole + i * e->units, e->width * sizeof *codes);
    free(whole);
    return status;
}
