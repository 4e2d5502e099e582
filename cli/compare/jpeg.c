/* jpeg.c -- JPEG by libjpeg-turbo at its best fair setting: optimised Huffman tables, the smaller
 * of baseline and progressive (their pixels are the same), 4:4:4 or 4:2:0, accurate integer DCT,
 * and JFIF's 18 bytes as every JPEG file has them. */
#include "cli/compare/rival.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>

static const char *const k_settings[] = {"4:4:4", "4:2:0"};
static const double k_ladder[] = {2, 5, 8, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 95};

typedef struct jpeg_failure {
    struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} jpeg_failure;

static void on_error(j_common_ptr info) {
    jpeg_failure *failure = (jpeg_failure *)info->err;
    info->err->format_message(info, failure->text);
    longjmp(failure->back, 1);
}

static void on_message(j_common_ptr info) { (void)info; }

static struct jpeg_error_mgr *catch_errors(jpeg_failure *failure) {
    struct jpeg_error_mgr *manager = jpeg_std_error(&failure->manager);
    manager->error_exit = on_error;
    manager->output_message = on_message;
    return manager;
}

static void set_up(struct jpeg_compress_struct *c, const taper_image *image, int halved,
                   int quality, int progressive) {
    c->image_width = image->width;
    c->image_height = image->height;
    c->input_components = image->channels;
    c->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, quality, TRUE);
    c->optimize_coding = TRUE;
    c->dct_method = JDCT_ISLOW;
    for (int i = 0; i < c->num_components; i++)
        c->comp_info[i].h_samp_factor = c->comp_info[i].v_samp_factor = i == 0 && halved ? 2 : 1;
    if (progressive) jpeg_simple_progression(c);
}

/* *bytes is malloc'd by libjpeg. On failure it is NULL: libjpeg may have freed its buffer, and then
 * has not updated the pointer. */
static taper_status compress(const taper_image *image, int progressive, cli_rival_coded *out,
                             unsigned char **bytes, unsigned long *n) {
    struct jpeg_compress_struct c;
    jpeg_failure failure;
    c.err = catch_errors(&failure);
    if (setjmp(failure.back)) {
        jpeg_destroy_compress(&c);
        *bytes = NULL;
        snprintf(out->why, sizeof out->why, "%s", failure.text);
        return TAPER_ERR_UNSUPPORTED;
    }
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, bytes, n);
    set_up(&c, image, out->setting == 1, (int)out->quality, progressive);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row =
            (JSAMPROW)image->pixels + (size_t)c.next_scanline * image->width * image->channels;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return TAPER_OK;
}

/* Bytes of the entropy-coded segments of all scans, restart markers included. */
static size_t scan_bytes(const unsigned char *p, size_t n) {
    size_t sum = 0, at = 2; /* after SOI */
    while (at + 4 <= n && p[at] == 0xFF && p[at + 1] != 0xD9) {
        int is_scan = p[at + 1] == 0xDA;
        at += 2 + ((size_t)p[at + 2] << 8 | p[at + 3]);
        if (!is_scan) continue;
        size_t start = at;
        while (at + 1 < n &&
               !(p[at] == 0xFF && p[at + 1] != 0 && (p[at + 1] < 0xD0 || p[at + 1] > 0xD7)))
            at++;
        sum += at - start;
    }
    return sum;
}

static taper_status decode(cli_rival_coded *coded) {
    taper_image *out = &coded->decoded;
    struct jpeg_decompress_struct d;
    jpeg_failure failure;
    d.err = catch_errors(&failure);
    if (setjmp(failure.back)) {
        jpeg_destroy_decompress(&d);
        snprintf(coded->why, sizeof coded->why, "%s", failure.text);
        return TAPER_ERR_UNSUPPORTED;
    }
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, coded->file.data, (unsigned long)coded->file.size);
    jpeg_read_header(&d, TRUE);
    d.out_color_space = out->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    d.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row =
            (JSAMPROW)out->pixels + (size_t)d.output_scanline * out->width * out->channels;
        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
    return TAPER_OK;
}

static taper_status encode(const taper_image *image, cli_rival_coded *out) {
    taper_status status = TAPER_OK;
    for (int progressive = 0; progressive < 2 && status == TAPER_OK; progressive++) {
        unsigned char *bytes = NULL;
        unsigned long n = 0;
        status = compress(image, progressive, out, &bytes, &n);
        if (status == TAPER_OK && (!progressive || n < out->file.size)) {
            /* payload of the file that is kept: without its tables a progressive scan would look
             * smaller still */
            out->payload_bytes = scan_bytes(bytes, n);
            formats_buffer_clear(&out->file);
            status = formats_write_bytes(&out->file, bytes, n);
        }
        free(bytes);
    }
    return status;
}

static void version(char *text, size_t room) {
#define SHOWN(x)  SHOWN_(x)
#define SHOWN_(x) #x
#ifdef LIBJPEG_TURBO_VERSION
    snprintf(text, room, "libjpeg-turbo %s", SHOWN(LIBJPEG_TURBO_VERSION));
#else
    snprintf(text, room, "libjpeg API %d", JPEG_LIB_VERSION);
#endif
}

const cli_rival cli_rival_jpeg = {
    .name = "jpeg",
    .title = "JPEG",
    .codec = "libjpeg",
    .payload_is = "bytes of the scans alone, without headers and tables",
    .media_type = "image/jpeg",
    CLI_RIVAL_CODES,
};
