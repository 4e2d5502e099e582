/* exact_images.c -- see exact_images.h. */
#include "codec/exact/exact_images.h"
#include <stdlib.h>

static taper_status no_memory(taper_status status, const formats_account *account, uint64_t bytes,
                              taper_error *error) {
    if (status != TAPER_ERR_LIMIT)
        return formats_fail(error, status, "no memory to make images exact");
    return formats_fail_fact(error, status, TAPER_FACT_MAX_MEMORY,
                             formats_account_step(account, bytes),
                             "making images exact takes %llu bytes, more memory than is left",
                             (unsigned long long)bytes);
}

static taper_status open_coder(codec_exact **out, uint32_t width, uint32_t channels,
                               formats_account *account, taper_error *error) {
    const taper_status status = codec_exact_open(out, width, channels, account);
    if (status == TAPER_OK) return status;
    return no_memory(status, account, codec_exact_bytes(width, channels), error);
}

taper_status codec_exact_decode_alone(taper_image *image, const codec_exact_string *string,
                                      formats_account *account, uint32_t *rows,
                                      taper_error *error) {
    codec_exact *exact;
    TAPER_TRY(open_coder(&exact, image->width, image->channels, account, error));
    codec_exact_decode_begin(exact, string->bytes, string->size, string->whole);
    *rows = codec_exact_decode(exact, image);
    codec_exact_close(exact);
    return TAPER_OK;
}

void codec_exact_images_free(codec_exact_images *images) {
    for (size_t i = 0; i < images->n; i++) free(images->image[i].pixels);
    formats_account_give(images->account, images->bytes);
    formats_block_free(&images->lists);
    *images = (codec_exact_images){0};
}

static void lay_out(codec_exact_images *images, uint64_t n, formats_layout *at) {
    images->image = formats_lay(at, n, sizeof *images->image);
    images->rows = formats_lay(at, n, sizeof *images->rows);
}

static taper_status take_lists(codec_exact_images *images, size_t n, formats_account *account) {
    formats_layout at = {0};
    lay_out(images, n, &at);
    TAPER_TRY(formats_block_take(&images->lists, &at, account));
    lay_out(images, n, &at);
    images->n = n;
    images->account = account;
    return TAPER_OK;
}

/* Render the lossy image i into memory of its own. */
static taper_status render(codec_exact_images *images, const codec_exact_source *from, size_t i,
                           taper_error *error) {
    taper_image *to = &images->image[i];
    *to = from->shape(from->user, i);
    const uint64_t bytes = (uint64_t)to->width * to->height * to->channels * (to->depth / 8u);
    taper_status status = formats_account_take(images->account, bytes);
    if (status != TAPER_OK) return no_memory(status, images->account, bytes, error);
    images->bytes += bytes;
    to->pixels = malloc((size_t)bytes);
    if (!to->pixels) return no_memory(TAPER_ERR_NOMEM, NULL, bytes, error);
    return from->render(from->user, i, to, error);
}

static taper_status decode(codec_exact_images *images, const codec_exact_string *string,
                           const codec_exact_source *from, taper_error *error) {
    uint32_t width = 1, channels = 1;
    codec_exact *exact;
    for (size_t i = 0; i < images->n; i++) {
        TAPER_TRY(render(images, from, i, error));
        if (images->image[i].width > width) width = images->image[i].width;
        if (images->image[i].channels > channels) channels = images->image[i].channels;
    }
    TAPER_TRY(open_coder(&exact, width, channels, images->account, error));
    codec_exact_decode_begin(exact, string->bytes, string->size, string->whole);
    for (size_t i = 0; i < images->n; i++)
        images->rows[i] = codec_exact_decode(exact, &images->image[i]);
    codec_exact_close(exact);
    images->size = string->size;
    images->whole = string->whole;
    return TAPER_OK;
}

taper_status codec_exact_images_decode(codec_exact_images *images, const codec_exact_string *string,
                                       const codec_exact_source *from, formats_account *account,
                                       taper_error *error) {
    if (images->n && images->size == string->size && images->whole == string->whole)
        return TAPER_OK;
    codec_exact_images_free(images);
    taper_status status = take_lists(images, from->n, account);
    if (status != TAPER_OK) {
        *images = (codec_exact_images){0};
        return no_memory(status, account, from->n * sizeof(taper_image), error);
    }
    status = decode(images, string, from, error);
    if (status != TAPER_OK) codec_exact_images_free(images);
    return status;
}
