/* coding.c -- one picture as a file, and files as pictures. */
#include "bench/figures/figures.h"
#include "bench/paper-broadcast/broadcast.h"
#include "codec/taper.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>

const cli_rival *broadcast_codec(const char *name) {
    if (strcmp(name, "taper") == 0) return NULL;
    const cli_rival *codec = cli_rival_find(name);
    taper_error error = {0};
    if (!codec) figures_die("no codec %s", name);
    figures_check(cli_rival_load(codec, &error), name, &error);
    return codec;
}

taper_image broadcast_read(const char *path) {
    formats_imageset *set;
    taper_image whole = {0}, picture;
    taper_error error = {0};
    figures_check(
        formats_imageset_open(&set, &path, 1, &(formats_imageset_options){0}, NULL, NULL, &error),
        path, &error);
    figures_check(formats_imageset_read(set, 0, &whole, NULL, &error), path, &error);
    figures_check(cli_rival_prepare(&whole, &picture, &error), path, &error);
    formats_image_free(&whole);
    formats_imageset_close(set);
    return picture;
}

static uint32_t part_of(uint32_t side, unsigned scale) { return (side + scale - 1) / scale; }

static taper_image reduced(const taper_image *picture, unsigned scale) {
    taper_image small;
    taper_error error = {0};
    figures_check(taper_image_scale(picture, part_of(picture->width, scale),
                                    part_of(picture->height, scale), &small, &error),
                  "scaling", &error);
    return small;
}

static double psnr_of(const taper_image *a, const taper_image *b) {
    double mse;
    taper_error error = {0};
    figures_check(taper_quality_mse(a, b, &mse, &error), "PSNR", &error);
    return taper_quality_psnr_db(mse);
}

static taper_image grey_like(const taper_image *picture) {
    taper_image grey;
    figures_check(formats_image_make(&grey, picture->width, picture->height, picture->channels, 8,
                                     NULL, NULL),
                  "memory", NULL);
    memset(grey.pixels, 128, formats_image_bytes(&grey));
    return grey;
}

/* A decoded file at the full size of the picture. */
static taper_image enlarged(const taper_image *picture, const taper_image *small) {
    taper_image shown = grey_like(picture);
    broadcast_enlarge(small, &shown);
    return shown;
}

/* PSNR of a picture that is shown, which is freed. */
static double psnr_freed(const taper_image *picture, taper_image *shown) {
    double psnr = psnr_of(picture, shown);
    formats_image_free(shown);
    return psnr;
}

void broadcast_code(const broadcast_rung *rung, const taper_image *picture, formats_buffer *file,
                    double *psnr) {
    taper_image small = reduced(picture, rung->scale);
    cli_rival_coded coded;
    taper_error error = {0};
    figures_check(cli_rival_code(rung->codec, &small, rung->setting, rung->quality, &coded, &error),
                  rung->codec->title, &error);
    if (psnr) {
        taper_image shown = enlarged(picture, &coded.decoded);
        *psnr = psnr_freed(picture, &shown);
    }
    figures_check(formats_write_bytes(file, coded.file.data, coded.file.size), "memory", NULL);
    cli_rival_coded_free(&coded);
    formats_image_free(&small);
}

void broadcast_code_progressive(const taper_image *picture, double quality, formats_buffer *file) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long n = 0;
    c.err = jpeg_std_error(&errors); /* which ends the program */
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &n);
    c.image_width = picture->width;
    c.image_height = picture->height;
    c.input_components = picture->channels;
    c.in_color_space = picture->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, (int)quality, TRUE);
    c.dct_method = JDCT_ISLOW;
    jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row = (JSAMPROW)picture->pixels +
                       (size_t)c.next_scanline * picture->width * picture->channels;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    figures_check(formats_write_bytes(file, bytes, n), "memory", NULL);
    free(bytes);
}

double broadcast_show_nothing(const taper_image *picture) {
    taper_image grey = grey_like(picture);
    return psnr_freed(picture, &grey);
}

taper_image broadcast_see(const broadcast_rung *rung, const taper_image *picture,
                          const uint8_t *bytes, size_t n) {
    const taper_image small = {.width = part_of(picture->width, rung->scale),
                               .height = part_of(picture->height, rung->scale),
                               .channels = picture->channels,
                               .depth = 8};
    cli_rival_coded coded = {.file = formats_buffer_make(FORMATS_MOST_BYTES)};
    figures_check(formats_write_bytes(&coded.file, bytes, n), "memory", NULL);
    int is_shown = n && cli_rival_decode(rung->codec, &small, &coded, NULL) == TAPER_OK;
    taper_image shown = is_shown ? enlarged(picture, &coded.decoded) : grey_like(picture);
    cli_rival_coded_free(&coded);
    return shown;
}

/* Image i of the decoder; grey where nothing of it is there. */
static taper_image see_one(const taper_container *container, taper_decoder *decoder, uint64_t i,
                           const taper_image *picture) {
    taper_image_info info = {.size = sizeof info};
    figures_check(taper_container_get_image(container, i, &info, NULL),
                  "a container of other pictures", NULL);
    if (info.bytes != formats_image_bytes(picture)) figures_die("a container of other pictures");
    taper_image shown = grey_like(picture);
    if (taper_decoder_render(decoder, i, &shown, NULL, NULL) != TAPER_OK) {
        formats_image_free(&shown);
        shown = grey_like(picture);
    }
    return shown;
}

void broadcast_see_container(const uint8_t *bytes, size_t n, const taper_image *picture,
                             size_t pictures, broadcast_seen_fn *seen, void *user) {
    taper_container *container = NULL;
    taper_decoder *decoder = NULL;
    int is_open = taper_container_open_memory(&container, bytes, n, NULL, NULL) == TAPER_OK &&
                  taper_decoder_new(&decoder, container, NULL, NULL) == TAPER_OK;
    for (size_t i = 0; i < pictures; i++) {
        taper_image shown =
            is_open ? see_one(container, decoder, i, &picture[i]) : grey_like(&picture[i]);
        seen(user, &picture[i], &shown);
        formats_image_free(&shown);
    }
    taper_decoder_free(decoder);
    taper_container_close(container);
}

/* Adds a PSNR to a sum. */
static void add_psnr(void *sum, const taper_image *picture, const taper_image *shown) {
    *(double *)sum += psnr_of(picture, shown);
}

double broadcast_show(const broadcast_rung *rung, const uint8_t *bytes, size_t n,
                      const taper_image *picture, size_t pictures) {
    double sum = 0;
    if (!rung->codec) {
        broadcast_see_container(bytes, n, picture, pictures, add_psnr, &sum);
        return sum / (double)pictures;
    }
    taper_image shown = broadcast_see(rung, picture, bytes, n);
    return psnr_freed(picture, &shown);
}
