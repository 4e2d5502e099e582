/* encoder_check.c -- see encoder_check.h. */
#include "codec/container/encoder_check.h"
#include "codec/container/encoder_layers.h"
#include "codec/exact/exact.h"
#include "formats/image.h"

enum { LARGE_PIXELS = 1 << 20 }; /* an image of more has a group of its own */

/* Memory that a decoder needs to render the image with up to THREADS threads. A seventh is added
 * for the front matter and the chunks. */
static uint64_t memory_to_render(const taper_encoder *e, const taper_image *image,
                                 codec_grid grid) {
    enum { THREADS = 16 };
    const taper_model *m = e->model;
    if (codec_encoder_goes_by_strips(e, image)) return 0; /* less than encoding takes */
    const codec_group_shape shape = codec_group_shape_of(&grid, 1);
    uint64_t n = shape.windows, bytes = codec_strips_bytes(&m->tables, &shape);
    bytes += n * m->network.inputs * sizeof(float);
    if (m->restoration.layers)
        bytes += codec_restoration_bytes(&m->restoration, m->window, grid, THREADS);
    if (e->options.lossless)
        bytes += formats_image_bytes(image) + codec_exact_bytes(image->width, image->channels);
    uint64_t pixels = (uint64_t)image->width * image->height;
    return pixels <= LARGE_PIXELS ? bytes : bytes + bytes / 7 + 1;
}

/* Memory to encode the image as the only one of its group. */
static uint64_t memory_to_encode(const taper_encoder *e, const taper_image *image) {
    if (codec_encoder_goes_by_strips(e, image)) {
        const uint64_t analyse = codec_strip_codes_bytes(e->model, image),
                       write = codec_strips_write_bytes(e->model, image, e->options.measure);
        return analyse > write ? analyse : write;
    }
    const codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    codec_group_size size = {.measured = e->options.measure && !e->options.lossless,
                             .exact = e->options.lossless && !e->is_for_codes};
    const formats_geometry of = {.width = image->width,
                                 .height = image->height,
                                 .channels = image->channels < 3 ? 1 : 3,
                                 .depth = image->depth,
                                 .alpha = !(image->channels & 1)};
    codec_group_size_add(&size, &of, grid, codec_encoder_image_bytes(e, image, 0));
    return codec_group_write_bytes(e->model, &size) +
           codec_encoder_image_bytes(e, image, e->layers.rate_classes > 1 && !e->waiting.is_early);
}

/* Check the image's size against the limits. The message names the option and the value that would
 * be enough. */
static taper_status check_size(const taper_encoder *e, const taper_image *image,
                               taper_error *error) {
    const taper_limits *l = &e->limits;
    const unsigned width = image->width, height = image->height;
    const uint64_t pixels = (uint64_t)width * height;
    if (width > FORMATS_MAX_SIDE || height > FORMATS_MAX_SIDE)
        return formats_fail(
            error, TAPER_ERR_LIMIT,
            "an image of %u x %u pixels is too large: no side may be above %d; make it "
            "smaller, or cut it into parts",
            width, height, (int)FORMATS_MAX_SIDE);
    if (pixels > l->max_pixels)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_PIXELS, pixels,
                                 "image of %u x %u pixels is above the limit of %llu", width,
                                 height, (unsigned long long)l->max_pixels);
    codec_grid grid = codec_windows_grid(e->model->window, width, height);
    const uint64_t render = memory_to_render(e, image, grid);
    const uint64_t taken =
        l->max_memory > e->shared.account->limit ? l->max_memory - e->shared.account->limit : 0;
    const uint64_t encode = memory_to_encode(e, image) + taken;
    const uint64_t needed = render > encode ? render : encode;
    if (needed <= l->max_memory) return TAPER_OK;
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_needed(l, needed),
        "image of %u x %u pixels takes %llu bytes of memory, more than the limit of %llu", width,
        height, (unsigned long long)needed, (unsigned long long)l->max_memory);
}

taper_status codec_encoder_check_image(const taper_encoder *e, const taper_image *image,
                                       const char *name, taper_error *error) {
    if (!formats_image_is_legal(image))
        return formats_fail(error, TAPER_ERR_ARG,
                            "an image without pixels or of an illegal kind was given");
    if (image->channels > 2 && e->model->window.channels < 3)
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "image is in colour but the model is for grey images; use a colour model");
    TAPER_TRY(check_size(e, image, error));
    if (e->set.images >= e->limits.max_images || e->set.images >= UINT32_MAX - 1)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES,
                                 formats_power_above(e->set.images),
                                 "more images than the limit of %zu", e->set.images);
    if (name && !formats_name_is_legal(name))
        return formats_fail(error, TAPER_ERR_ARG, "the name is not a plain relative path");
    return TAPER_OK;
}
