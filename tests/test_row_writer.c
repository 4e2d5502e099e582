/* test_row_writer.c -- files written row by row have the bytes of those written at once. */
#include "cmocka_all.h"
#include "pictures.h"
#include "formats/bytes.h"
#include "formats/images/own_mark.h"
#include "formats/images/png.h"
#include "formats/images/pnm.h"
#include "formats/images/row_writer.h"
#include <stdio.h>
#include <unistd.h>

static const char program[] = "taper test" FORMATS_OWN_MARK_EMPTY;

static taper_status write_memory(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

static taper_status refuse(void *user, const void *bytes, size_t n) {
    (void)bytes;
    size_t *left = user;
    if (*left < n) return TAPER_ERR_IO;
    *left -= n;
    return TAPER_OK;
}

/* Rows first .. first + n - 1. */
static taper_image rows_of(const taper_image *image, uint32_t first, uint32_t n) {
    const size_t stride = (size_t)image->width * image->channels * (image->depth / 8u);
    taper_image rows = *image;
    rows.height = n;
    rows.pixels = (char *)image->pixels + first * stride;
    return rows;
}

static formats_buffer write_rows(formats_rows_kind kind, const taper_image *image,
                                 const char *program_name) {
    const formats_rows_beside by = {program_name, NULL};
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink to = {&out, write_memory};
    formats_row_writer *w;
    assert_int_equal(formats_row_writer_open(&w, kind, image, &by, &to, NULL), TAPER_OK);
    for (uint32_t y = 0, n = 1; y < image->height; y += n, n = 2 * n) {
        if (n > image->height - y) n = image->height - y;
        assert_int_equal(formats_row_writer_finish(w, NULL), TAPER_ERR_ARG);
        const taper_image rows = rows_of(image, y, n);
        assert_int_equal(formats_row_writer_put(w, &rows, NULL), TAPER_OK);
    }
    const taper_image more = rows_of(image, 0, 1);
    assert_int_equal(formats_row_writer_put(w, &more, NULL), TAPER_ERR_ARG);
    assert_int_equal(formats_row_writer_finish(w, NULL), TAPER_OK);
    formats_row_writer_free(w);
    return out;
}

static void bytes_are_those_of_whole_images(void **unused) {
    (void)unused;
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned depth = 8; depth <= 16; depth += 8)
            for (int kind = FORMATS_ROWS_PNG; kind <= FORMATS_ROWS_PNM; kind++) {
                if (kind == FORMATS_ROWS_PNM && channels % 2 == 0) continue;
                taper_image image = picture_noise(57, 41, channels, depth, channels + depth);
                uint8_t *bytes;
                size_t n;
                formats_buffer out = write_rows((formats_rows_kind)kind, &image, program);
                assert_int_equal((kind == FORMATS_ROWS_PNG
                                      ? formats_png_encode_by
                                      : formats_pnm_encode_by)(&image, program, &bytes, &n, NULL),
                                 TAPER_OK);
                assert_int_equal(out.size, n);
                assert_memory_equal(out.data, bytes, n);
                free(bytes);
                formats_buffer_free(&out);
                formats_image_free(&image);
            }
}

static void marks_are_set_in_files(void **unused) {
    (void)unused;
    taper_image image = picture_noise(300, 200, 3, 8, 5);
    for (int kind = FORMATS_ROWS_PNG; kind <= FORMATS_ROWS_PNM; kind++) {
        formats_buffer out = write_rows((formats_rows_kind)kind, &image, program);
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(fwrite(out.data, 1, out.size, file), out.size);
        assert_int_equal(fflush(file), 0);
        assert_true(formats_own_mark_set_in(fileno(file), "taper test"));
        formats_own_mark_set(out.data, out.size, "taper test");
        uint8_t front[256];
        assert_int_equal(pread(fileno(file), front, sizeof front, 0), sizeof front);
        assert_memory_equal(front, out.data, sizeof front);
        assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
        assert_true(formats_own_mark_holds(fileno(file), "taper test"));
        fclose(file);
        formats_buffer_free(&out);
    }
    formats_image_free(&image);
}

static void failures_of_the_sink_end_it(void **unused) {
    (void)unused;
    taper_image image = picture_noise(300, 200, 3, 8, 5), alpha = picture_noise(3, 2, 2, 8, 5);
    formats_row_writer *w;
    const formats_rows_beside none = {NULL, NULL};
    for (int kind = FORMATS_ROWS_PNG; kind <= FORMATS_ROWS_PNM; kind++) {
        size_t left = 0;
        const taper_sink to = {&left, refuse};
        taper_error error = {0};
        assert_int_equal(
            formats_row_writer_open(&w, (formats_rows_kind)kind, &image, &none, &to, &error),
            TAPER_ERR_IO);
        assert_null(w);
        left = 9000;
        assert_int_equal(
            formats_row_writer_open(&w, (formats_rows_kind)kind, &image, &none, &to, &error),
            TAPER_OK);
        assert_int_equal(formats_row_writer_put(w, &image, &error), TAPER_ERR_IO);
        formats_row_writer_free(w);
    }
    const taper_sink to = {NULL, refuse};
    assert_int_equal(formats_row_writer_open(&w, FORMATS_ROWS_PNM, &alpha, &none, &to, NULL),
                     TAPER_ERR_UNSUPPORTED);
    formats_image_free(&image), formats_image_free(&alpha);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_whole_images),
        cmocka_unit_test(marks_are_set_in_files),
        cmocka_unit_test(failures_of_the_sink_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
