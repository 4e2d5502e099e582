/* png.c -- PNG by libpng, from and to memory; see png.h.
 *
 * libpng reports errors by longjmp. Rules that make this safe: each setjmp is in a small function
 * that sets its locals only before it; all resources are in a struct of the caller; the error
 * callback stores the text before it jumps. */
#include "formats/images/png.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/read_payloads.h"
#include "formats/metadata/write_payloads.h"
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* HEADER: signature and IHDR chunk; AROUND: length, type and checksum of a chunk */
enum { SIGNATURE_BYTES = 8, HEADER_BYTES = 33, AROUND_CHUNK = 12 };

/* The highest expansion of deflate; bounds the pixels of a file. */
static const uint64_t deflate_ratio = 1032;

typedef struct png_job {
    png_structp png;
    png_infop info;
    formats_cursor input; /* the file up to the end of the image data */
    size_t size, behind;  /* bytes of the file, and of those after the image data */
    int is_whole;         /* the last chunk of image data is complete */
    formats_buffer output;
    png_bytep *rows;
    int short_of_memory;              /* an allocation of libpng's has failed */
    const char *program;              /* name of the program that writes the file, or NULL */
    const formats_metadata *metadata; /* to write; or NULL */
    taper_status status;
    taper_error *error;
} png_job;

/* libpng reports failed allocations like damage; these functions distinguish them. */
static png_voidp allocate(png_structp png, png_alloc_size_t n) {
    void *memory = malloc(n);
    if (!memory) ((png_job *)png_get_mem_ptr(png))->short_of_memory = 1;
    return memory;
}

static taper_status fail_early(png_job *job) {
    return formats_fail(job->error, TAPER_ERR_TRUNCATED,
                        "the PNG ends early, after %zu bytes; fetch it anew", job->size);
}

static void on_error(png_structp png, png_const_charp message) {
    png_job *job = png_get_error_ptr(png);
    if (job->status == TAPER_OK && job->short_of_memory)
        job->status = formats_fail(job->error, TAPER_ERR_NOMEM, "no memory for libpng to work in");
    if (job->status == TAPER_OK)
        job->status =
            job->is_whole && job->behind < AROUND_CHUNK /* the next chunk is cut, or all are */
                ? fail_early(job)
                : formats_fail(job->error, TAPER_ERR_CORRUPT,
                               "the PNG is damaged: %s; fetch it anew", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/* Complete image data is enough: after it libpng is given an end chunk, whatever follows. */
static void read_input(png_structp png, png_bytep to, size_t n) {
    static const uint8_t end[AROUND_CHUNK + 1] = "\0\0\0\0IEND\xAE\x42\x60\x82";
    png_job *job = png_get_io_ptr(png);
    if (job->is_whole && job->input.at == job->input.size && job->input.bytes != end)
        job->input = formats_cursor_over(end, AROUND_CHUNK);
    const uint8_t *from = formats_read_bytes(&job->input, n);
    if (from) {
        memcpy(to, from, n);
        return;
    }
    job->status = fail_early(job);
    png_error(png, "truncated");
}

static void write_output(png_structp png, png_bytep from, size_t n) {
    png_job *job = png_get_io_ptr(png);
    if (formats_write_bytes(&job->output, from, n) == TAPER_OK) return;
    job->status = formats_fail(job->error, TAPER_ERR_NOMEM, "no memory to encode a PNG");
    png_error(png, "memory");
}

static void flush_output(png_structp png) { (void)png; }

int formats_png_detect(const void *bytes, size_t n) {
    return n >= SIGNATURE_BYTES && memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE_BYTES) == 0;
}

/* A header may not claim more pixels than the bytes of the file can expand to. */
static taper_status check_density(const uint8_t *header, size_t n, taper_error *error) {
    static const uint8_t samples[7] = {1, 1, 3, 1, 2, 1, 4}; /* per pixel, by colour type */
    uint32_t width = formats_get_u32be(header + 16), height = formats_get_u32be(header + 20);
    unsigned depth = header[24], colour = header[25] < 7 ? header[25] : 0;
    uint64_t bits;
    taper_status fits =
        formats_mul_u64((uint64_t)width * height, (uint64_t)depth * samples[colour], &bits);
    if (fits == TAPER_OK && bits / 8 <= n * deflate_ratio) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_TRUNCATED,
        "the header asks for %u x %u pixels, which %zu bytes cannot hold; fetch the "
        "file anew",
        width, height, n);
}

/* Check the geometry in IHDR before libpng reads anything. The bytes per decoded pixel are not
 * known yet, so memory is checked again later. */
static taper_status check_header(const uint8_t *bytes, size_t n, const taper_limits *limits,
                                 taper_error *error) {
    size_t known = n < SIGNATURE_BYTES ? n : SIGNATURE_BYTES;
    if (memcmp(bytes, "\x89PNG\r\n\x1a\n", known) != 0)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this is not a PNG: its signature is missing");
    if (n < HEADER_BYTES)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the PNG ends early, within its header");
    if (memcmp(bytes + 8, "\0\0\0\x0dIHDR", 8) != 0)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the PNG does not begin with its header");
    TAPER_TRY(formats_image_check(formats_get_u32be(bytes + 16), formats_get_u32be(bytes + 20), 1,
                                  8, limits, NULL, error));
    return check_density(bytes, n, error);
}

/* Request 8 or 16 bits and 1 to 4 channels from libpng, for every kind of file. */
static void request_plain_samples(png_structp png, png_infop info) {
    int colour = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
    const uint16_t one = 1;
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(png);
    if (depth == 16 && *(const uint8_t *)&one == 1) png_set_swap(png); /* PNG is big-endian */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static taper_status read_png_info(png_job *job) {
    if (setjmp(png_jmpbuf(job->png))) return job->status;
    png_set_read_fn(job->png, job, read_input);
    /* our limit was applied; libpng's default of 10^6 per side would refuse legal images */
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(job->png, 1 << 20);
    /* all chunks but IHDR PLTE tRNS IDAT IEND are skipped */
    png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(job->png, job->info);
    request_plain_samples(job->png, job->info);
    return TAPER_OK;
}

static taper_status read_png_rows(png_job *job) {
    if (setjmp(png_jmpbuf(job->png))) return job->status;
    png_read_image(job->png, job->rows);
    png_read_end(job->png, NULL);
    return TAPER_OK;
}

/* A table of pointers to the rows of an image. NULL without memory. */
static png_bytep *make_rows(const taper_image *image) {
    size_t stride = (size_t)image->width * image->channels * (image->depth / 8);
    png_bytep *rows = malloc(image->height * sizeof *rows);
    for (uint32_t y = 0; rows && y < image->height; y++)
        rows[y] = (png_bytep)image->pixels + y * stride;
    return rows;
}

static taper_status decode_with(png_job *job, const taper_limits *limits, taper_image *out) {
    TAPER_TRY(read_png_info(job));
    TAPER_TRY(formats_image_make(out, png_get_image_width(job->png, job->info),
                                 png_get_image_height(job->png, job->info),
                                 png_get_channels(job->png, job->info),
                                 png_get_bit_depth(job->png, job->info), limits, job->error));
    job->rows = make_rows(out);
    if (!job->rows) return formats_fail(job->error, TAPER_ERR_NOMEM, "no memory to decode a PNG");
    return read_png_rows(job);
}

taper_status formats_png_decode(const void *bytes, size_t n, const taper_limits *limits,
                                taper_image *out, formats_metadata *metadata, taper_error *error) {
    *out = (taper_image){0};
    if (metadata) *metadata = (formats_metadata){0};
    TAPER_TRY(check_header(bytes, n, limits, error));
    size_t end = formats_png_data_end(bytes, n);
    png_job job = {.error = error,
                   .input = formats_cursor_over(bytes, end ? end : n),
                   .size = n,
                   .behind = n - end,
                   .is_whole = end > 0};
    job.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job,
                                       allocate, NULL);
    if (job.png) job.info = png_create_info_struct(job.png);
    taper_status status = job.info
                              ? decode_with(&job, limits, out)
                              : formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a PNG");
    png_destroy_read_struct(&job.png, &job.info, NULL);
    free(job.rows);
    formats_orientation upright = {0};
    if (status == TAPER_OK) status = formats_png_orientation(bytes, n, &upright, error);
    if (status == TAPER_OK) status = formats_image_orient(out, upright.how, limits, error);
    if (status == TAPER_OK && metadata) status = formats_png_metadata(bytes, n, metadata, error);
    if (status == TAPER_OK)
        formats_image_drop_opaque_alpha(out);
    else
        formats_image_free(out);
    return status;
}

static void write_program(png_job *job) {
    char key[] = "Software", text[64];
    png_text note = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = text};
    snprintf(text, sizeof text, "%s", job->program);
    png_set_text(job->png, job->info, &note, 1);
}

static taper_status write_png(png_job *job, const taper_image *image) {
    static const int colour_types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                        PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    const uint16_t one = 1;
    if (setjmp(png_jmpbuf(job->png))) return job->status;
    png_set_write_fn(job->png, job, write_output, flush_output);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(job->png, job->info, image->width, image->height, image->depth,
                 colour_types[image->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    /* fast: one filter for all rows, and the fastest deflate */
    png_set_filter(job->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_compression_level(job->png, 1);
    if (job->program) write_program(job);
    png_write_info(job->png, job->info);
    if (job->metadata) { /* behind the mark of the program, which has to be near the start */
        job->status = formats_png_chunks(job->metadata, image->channels, &job->output);
        if (job->status != TAPER_OK) png_error(job->png, "memory");
    }
    if (image->depth == 16 && *(const uint8_t *)&one == 1) png_set_swap(job->png);
    png_write_image(job->png, job->rows);
    png_write_end(job->png, NULL);
    return TAPER_OK;
}

taper_status formats_png_encode(const taper_image *image, uint8_t **out, size_t *n,
                                taper_error *error) {
    return formats_png_encode_with(image, NULL, NULL, out, n, error);
}

taper_status formats_png_encode_by(const taper_image *image, const char *program, uint8_t **out,
                                   size_t *n, taper_error *error) {
    return formats_png_encode_with(image, program, NULL, out, n, error);
}

taper_status formats_png_encode_with(const taper_image *image, const char *program,
                                     const formats_metadata *metadata, uint8_t **out, size_t *n,
                                     taper_error *error) {
    *out = NULL;
    *n = 0;
    TAPER_TRY(formats_image_check(
        image->width, image->height, image->channels, image->depth,
        &(taper_limits){.max_pixels = UINT64_MAX, .max_memory = UINT64_MAX}, NULL, error));
    png_job job = {.program = program,
                   .metadata = metadata,
                   .error = error,
                   .output = formats_buffer_make(FORMATS_MOST_BYTES)};
    job.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job,
                                        allocate, NULL);
    if (job.png) job.info = png_create_info_struct(job.png);
    if (job.info) job.rows = make_rows(image);
    taper_status status = job.rows
                              ? write_png(&job, image)
                              : formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode a PNG");
    png_destroy_write_struct(&job.png, &job.info);
    free(job.rows);
    if (status == TAPER_ERR_NOMEM && metadata)
        formats_fail(error, status, "no memory to encode a PNG");
    if (status == TAPER_OK) *out = formats_buffer_take(&job.output, n);
    formats_buffer_free(&job.output);
    return status;
}
