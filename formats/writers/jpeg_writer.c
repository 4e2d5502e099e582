/* jpeg_writer.c -- JPEG by libjpeg-turbo; see writer.h.
 *
 * setjmp is necessary: libjpeg requires that error_exit does not return. Functions that call setjmp
 * change no local after it; all resources are in jpeg_writer. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/metadata/write_payloads.h"
#include "formats/writers/writer.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum { FULL_COLOUR = 90 }; /* the quality from which colours have full resolution */

typedef struct jpeg_writer {
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    unsigned char *bytes; /* of libjpeg, by malloc */
    unsigned long size;
    taper_status status;
    taper_error *error;
} jpeg_writer;

static void on_error(j_common_ptr encoder) {
    jpeg_writer *w = encoder->client_data;
    char message[JMSG_LENGTH_MAX];
    encoder->err->format_message(encoder, message);
    const int is_memory = encoder->err->msg_code == JERR_OUT_OF_MEMORY;
    w->status = is_memory ? formats_fail(w->error, TAPER_ERR_NOMEM, "no memory to encode a JPEG")
                          : formats_fail(w->error, TAPER_ERR_UNSUPPORTED,
                                         "the image cannot be a JPEG: %s; write PNG", message);
    longjmp(w->escape, 1);
}

static void on_message(j_common_ptr encoder) { (void)encoder; }

static void set_up(jpeg_writer *w, const formats_write_options *options, const taper_image *image) {
    struct jpeg_compress_struct *e = &w->encoder;
    e->image_width = image->width;
    e->image_height = image->height;
    e->input_components = image->channels;
    e->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(e);
    jpeg_set_quality(e, options->quality, TRUE);
    e->optimize_coding = TRUE;
    e->dct_method = JDCT_ISLOW;
    e->write_JFIF_header = FALSE; /* comes with the metadata */
    if (options->quality >= FULL_COLOUR)
        e->comp_info[0].h_samp_factor = e->comp_info[0].v_samp_factor = 1;
}

static taper_status write_file(jpeg_writer *w, const formats_write_options *options,
                               const taper_image *image) {
    const size_t row = (size_t)image->width * image->channels;
    if (setjmp(w->escape)) return w->status;
    jpeg_create_compress(&w->encoder);
    jpeg_mem_dest(&w->encoder, &w->bytes, &w->size);
    set_up(w, options, image);
    jpeg_start_compress(&w->encoder, TRUE);
    while (w->encoder.next_scanline < image->height) {
        /* libjpeg does not change the samples, but its type is not const */
        JSAMPROW at = (JSAMPROW)image->pixels + w->encoder.next_scanline * row;
        jpeg_write_scanlines(&w->encoder, &at, 1);
    }
    jpeg_finish_compress(&w->encoder);
    return TAPER_OK;
}

/* Bytes of the segment at `at`, with its marker. */
static size_t segment_size(const uint8_t *at) { return 2 + ((size_t)at[2] << 8 | at[3]); }

static void put_comment(formats_buffer *out, const char *text) {
    const size_t n = strlen(text) + 2;
    const uint8_t head[4] = {0xFF, JPEG_COM, (uint8_t)(n >> 8), (uint8_t)n};
    formats_write_bytes(out, head, sizeof head);
    formats_write_bytes(out, text, n - 2);
}

/* SOI, JFIF, the program, other metadata, then the image. */
static taper_status put_together(const jpeg_writer *w, const formats_write_options *options,
                                 unsigned channels, uint8_t **out, size_t *n, taper_error *error) {
    enum { SOI = 2 };
    static const formats_metadata none = {.density_unit = 0};
    formats_buffer segments = formats_buffer_make(FORMATS_MOST_BYTES),
                   file = formats_buffer_make(FORMATS_MOST_BYTES);
    (void)formats_jpeg_segments(options->metadata ? options->metadata : &none, channels, &segments);
    const size_t jfif =
        segments.size > 4 && segments.data[1] == 0xE0 ? segment_size(segments.data) : 0;
    formats_write_bytes(&file, w->bytes, SOI);
    formats_write_bytes(&file, segments.data, jfif);
    if (options->program) put_comment(&file, options->program);
    formats_write_bytes(&file, segments.data + jfif, segments.size - jfif);
    formats_write_bytes(&file, w->bytes + SOI, w->size - SOI);
    const taper_status status = segments.status ? segments.status : file.status;
    if (status == TAPER_OK) *out = formats_buffer_take(&file, n);
    formats_buffer_free(&segments);
    formats_buffer_free(&file);
    if (status == TAPER_OK) return status;
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode a JPEG");
}

taper_status formats_write_jpeg(const formats_write_options *options, const taper_image *image,
                                uint8_t **out, size_t *n, taper_error *error) {
    jpeg_writer w = {.error = error};
    w.encoder.err = jpeg_std_error(&w.errors);
    w.errors.error_exit = on_error;
    w.errors.output_message = on_message;
    w.encoder.client_data = &w;
    taper_status status = write_file(&w, options, image);
    jpeg_destroy_compress(&w.encoder);
    if (status == TAPER_OK) status = put_together(&w, options, image->channels, out, n, error);
    free(w.bytes);
    return status;
}
