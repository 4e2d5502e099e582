/* row_writer.c -- see row_writer.h. libpng reports errors by longjmp: each setjmp is in a small
 * function that changes no local after it (png.c). */
#include "formats/images/row_writer.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/metadata/write_payloads.h"
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct formats_row_writer {
    formats_rows_kind kind;
    taper_image image; /* its size; no pixels */
    uint32_t written;  /* rows */
    taper_sink to;
    formats_buffer line; /* of a PNM of 16 bits; chunks of metadata of a PNG */
    png_structp png;
    png_infop info;
    taper_status status; /* of the sink */
    taper_error *error;
};

/* --- PNG ------------------------------------------------------------------------------------ */

static void on_error(png_structp png, png_const_charp message) {
    formats_row_writer *w = png_get_error_ptr(png);
    (void)message;
    if (w->status == TAPER_OK)
        w->status = formats_fail(w->error, TAPER_ERR_NOMEM, "no memory to encode a PNG");
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void write_output(png_structp png, png_bytep from, size_t n) {
    formats_row_writer *w = png_get_io_ptr(png);
    w->status = w->to.write(w->to.user, from, n);
    if (w->status == TAPER_OK) return;
    formats_fail(w->error, w->status, "cannot write the picture");
    png_error(png, "sink");
}

static void flush_output(png_structp png) { (void)png; }

static void write_program(const formats_row_writer *w, const char *program) {
    char key[] = "Software", text[64];
    png_text note = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = text};
    snprintf(text, sizeof text, "%s", program);
    png_set_text(w->png, w->info, &note, 1);
}

static taper_status begin_png(formats_row_writer *w, const formats_rows_beside *beside) {
    static const int colour_types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                        PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const uint16_t one = 1;
    if (setjmp(png_jmpbuf(w->png))) return w->status;
    png_set_write_fn(w->png, w, write_output, flush_output);
    png_set_user_limits(w->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(w->png, w->info, w->image.width, w->image.height, w->image.depth,
                 colour_types[w->image.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(w->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB); /* as png.c */
    png_set_compression_level(w->png, 1);
    if (beside->program) write_program(w, beside->program);
    png_write_info(w->png, w->info);
    if (w->line.size) write_output(w->png, w->line.data, w->line.size); /* chunks of metadata */
    if (w->image.depth == 16 && *(const uint8_t *)&one == 1) png_set_swap(w->png);
    return TAPER_OK;
}

static taper_status put_png_row(formats_row_writer *w, const uint8_t *row) {
    if (setjmp(png_jmpbuf(w->png))) return w->status;
    png_write_row(w->png, row);
    return TAPER_OK;
}

static taper_status end_png(formats_row_writer *w) {
    if (setjmp(png_jmpbuf(w->png))) return w->status;
    png_write_end(w->png, NULL);
    return TAPER_OK;
}

static taper_status open_png(formats_row_writer *w, const formats_rows_beside *beside) {
    if (beside->metadata &&
        formats_png_chunks(beside->metadata, w->image.channels, &w->line) != TAPER_OK)
        return formats_fail(w->error, TAPER_ERR_NOMEM, "no memory to encode a PNG");
    w->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_error, on_warning);
    if (w->png) w->info = png_create_info_struct(w->png);
    if (!w->info) return formats_fail(w->error, TAPER_ERR_NOMEM, "no memory to encode a PNG");
    return begin_png(w, beside);
}

/* --- PNM ------------------------------------------------------------------------------------ */

static taper_status send(formats_row_writer *w, const void *bytes, size_t n) {
    const taper_status status = w->to.write(w->to.user, bytes, n);
    return status == TAPER_OK ? status : formats_fail(w->error, status, "cannot write the picture");
}

static taper_status open_pnm(formats_row_writer *w, const char *program) {
    char header[128];
    if (formats_image_has_alpha(&w->image))
        return formats_fail(w->error, TAPER_ERR_UNSUPPORTED, "PNM files have no alpha channel");
    snprintf(header, sizeof header, "P%c\n%s%.40s%s%u %u\n%d\n", w->image.channels == 1 ? '5' : '6',
             program ? "# " : "", program ? program : "", program ? "\n" : "", w->image.width,
             w->image.height, w->image.depth == 8 ? 255 : 65535);
    return send(w, header, strlen(header));
}

static taper_status put_pnm_row(formats_row_writer *w, const uint8_t *row, size_t bytes) {
    if (w->image.depth == 8) return send(w, row, bytes);
    formats_buffer_clear(&w->line);
    for (size_t i = 0; i < bytes / 2; i++)
        formats_write_u16be(&w->line, ((const uint16_t *)(const void *)row)[i]);
    if (w->line.status != TAPER_OK)
        return formats_fail(w->error, w->line.status, "no memory to encode a PNM");
    return send(w, w->line.data, w->line.size);
}

/* --- both ----------------------------------------------------------------------------------- */

taper_status formats_row_writer_open(formats_row_writer **out, formats_rows_kind kind,
                                     const taper_image *image, const formats_rows_beside *beside,
                                     const taper_sink *to, taper_error *error) {
    const taper_limits none = {.max_pixels = UINT64_MAX, .max_memory = UINT64_MAX};
    *out = NULL;
    TAPER_TRY(formats_image_check(image->width, image->height, image->channels, image->depth, &none,
                                  NULL, error));
    formats_row_writer *w = calloc(1, sizeof *w);
    if (!w) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode a picture");
    w->kind = kind, w->image = *image, w->to = *to, w->error = error;
    w->line = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_status status =
        kind == FORMATS_ROWS_PNG ? open_png(w, beside) : open_pnm(w, beside->program);
    if (status == TAPER_OK)
        *out = w;
    else
        formats_row_writer_free(w);
    return status;
}

taper_status formats_row_writer_put(formats_row_writer *w, const taper_image *rows,
                                    taper_error *error) {
    const size_t bytes = (size_t)rows->width * rows->channels * (rows->depth / 8u);
    taper_status status = TAPER_OK;
    w->error = error;
    if (rows->width != w->image.width || rows->channels != w->image.channels ||
        rows->depth != w->image.depth || rows->height > w->image.height - w->written)
        return formats_fail(error, TAPER_ERR_ARG, "these rows do not fit the picture");
    for (uint32_t y = 0; y < rows->height && status == TAPER_OK; y++) {
        const uint8_t *row = (const uint8_t *)rows->pixels + y * bytes;
        status = w->kind == FORMATS_ROWS_PNG ? put_png_row(w, row) : put_pnm_row(w, row, bytes);
    }
    w->written += rows->height;
    return status;
}

taper_status formats_row_writer_finish(formats_row_writer *w, taper_error *error) {
    w->error = error;
    if (w->written < w->image.height)
        return formats_fail(error, TAPER_ERR_ARG, "%u of %u rows are missing",
                            w->image.height - w->written, w->image.height);
    return w->kind == FORMATS_ROWS_PNG ? end_png(w) : TAPER_OK;
}

void formats_row_writer_free(formats_row_writer *w) {
    if (!w) return;
    png_destroy_write_struct(&w->png, &w->info);
    formats_buffer_free(&w->line);
    free(w);
}
