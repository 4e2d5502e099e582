/* jpeg.c -- JPEG decoding by libjpeg-turbo; see jpeg.h.
 *
 * setjmp is necessary: libjpeg requires that error_exit does not return. Functions that call setjmp
 * change no local after it; all resources are in jpeg_job. */
#include "formats/images/jpeg.h"
#include "formats/images/jpeg_noise.h"
#include "formats/image.h"
#include "formats/late/srgb.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/read_payloads.h"
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* Each scan of a progressive file takes time for the whole picture, and a hostile file can have
 * thousands of scans in few bytes. Real encoders write about ten. */
enum { MAX_SCANS = 200 };

/* Upper bound of the pixels per byte. A Huffman-coded block takes at least one bit: 64 pixels per
 * block, 8 blocks per byte, times 16 if the only component with data is subsampled 4 x 4. */
enum { MAX_PIXELS_PER_BYTE = 64 * 8 * 16 };

typedef struct jpeg_job {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr input;
    jmp_buf escape;
    const taper_limits *limits;
    taper_image *image;
    int is_cmyk;
    JOCTET *profile; /* [profile_size], of CMYK */
    unsigned profile_size;
    unsigned seen;     /* bit c: component c has had a scan */
    int is_behind_end; /* the decoder requested more bytes than there are */
    taper_status status;
    taper_error *error;
} jpeg_job;

static void fail_job(jpeg_job *job) { longjmp(job->escape, 1); }

static void fail_early(jpeg_job *job) {
    job->status =
        formats_fail(job->error, TAPER_ERR_TRUNCATED, "the JPEG ends early; fetch it anew");
    fail_job(job);
}

/* Memory for the coefficients of all components, padded to whole MCUs of at most 32 x 32, and for
 * other memory of libjpeg. That is not known exactly, so the result is rounded up to a power of
 * two. */
static uint64_t memory_to_give(const jpeg_job *job) {
    enum { PADDING = 32, OVERHEAD = 1 << 20 };
    const struct jpeg_decompress_struct *d = &job->decoder;
    const taper_limits l = formats_limits_or_default(job->limits);
    const uint64_t each = ((uint64_t)d->image_width + PADDING) * (d->image_height + PADDING);
    const uint64_t bytes = (uint64_t)d->num_components * each * sizeof(JCOEF) + OVERHEAD;
    return formats_memory_step(&l, bytes > l.max_memory ? bytes : l.max_memory);
}

static void on_error(j_common_ptr decoder) {
    jpeg_job *job = decoder->client_data;
    char message[JMSG_LENGTH_MAX];
    decoder->err->format_message(decoder, message);
    int code = decoder->err->msg_code;
    if (code == JERR_OUT_OF_MEMORY)
        job->status = formats_fail(job->error, TAPER_ERR_NOMEM, "no memory to decode a JPEG");
    else if (code == JERR_NO_BACKING_STORE || code == JERR_WIDTH_OVERFLOW)
        job->status = formats_fail_fact(job->error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                        memory_to_give(job),
                                        "decoding the JPEG takes more memory than allowed");
    else if (code == JERR_BAD_PRECISION || code == JERR_SOF_UNSUPPORTED ||
             code == JERR_CONVERSION_NOTIMPL)
        job->status =
            formats_fail(job->error, TAPER_ERR_UNSUPPORTED,
                         "this kind of JPEG cannot be read (%s); convert it to PNG", message);
    else if (job->is_behind_end)
        fail_early(job);
    else
        job->status = formats_fail(job->error, TAPER_ERR_CORRUPT,
                                   "the JPEG is damaged: %s; fetch it anew", message);
    fail_job(job);
}

/* Warnings that mean wrong pixels are errors; those about extra bytes and unusual headers are not.
 */
static void on_message(j_common_ptr decoder, int level) {
    if (level >= 0) return;
    switch (decoder->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_JPEG_EOF:
    case JWRN_BOGUS_PROGRESSION: on_error(decoder);
    }
}

static void on_output(j_common_ptr decoder) { (void)decoder; }

static void input_begin(j_decompress_ptr decoder) { (void)decoder; }
static void input_end(j_decompress_ptr decoder) { (void)decoder; }

/* All bytes are in the buffer from the start, so a request for more means that the end marker is
 * missing. The decoder reads ahead: data is missing only if it takes bits after the marker that
 * this function supplies, which is an error (on_message). An arithmetic decoder would silently take
 * zeros there, so for it the request itself is an error. */
static boolean input_fill(j_decompress_ptr decoder) {
    static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};
    jpeg_job *job = decoder->client_data;
    if (decoder->arith_code) fail_early(job);
    job->is_behind_end = 1;
    decoder->src->next_input_byte = end_of_image;
    decoder->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void input_skip(j_decompress_ptr decoder, long n) {
    if (n <= 0) return;
    if ((unsigned long)n > decoder->src->bytes_in_buffer) fail_early(decoder->client_data);
    decoder->src->next_input_byte += n;
    decoder->src->bytes_in_buffer -= (size_t)n;
}

int formats_jpeg_detect(const void *bytes, size_t n) {
    return n >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0;
}

static void attach(jpeg_job *job, const void *bytes, size_t n) {
    job->input.next_input_byte = bytes;
    job->input.bytes_in_buffer = n;
    job->input.init_source = input_begin;
    job->input.fill_input_buffer = input_fill;
    job->input.skip_input_data = input_skip;
    job->input.resync_to_restart = jpeg_resync_to_restart;
    job->input.term_source = input_end;
    job->decoder.src = &job->input;
}

/* Choose the output colours: grey, RGB, or CMYK, which is converted afterwards. */
static taper_status choose_colours(jpeg_job *job) {
    struct jpeg_decompress_struct *d = &job->decoder;
    switch (d->jpeg_color_space) {
    case JCS_GRAYSCALE: d->out_color_space = JCS_GRAYSCALE; return TAPER_OK;
    case JCS_YCbCr:
    case JCS_RGB: d->out_color_space = JCS_RGB; return TAPER_OK;
    case JCS_CMYK:
    case JCS_YCCK:
        d->out_color_space = JCS_CMYK;
        job->is_cmyk = 1;
        if (!jpeg_read_icc_profile(d, &job->profile, &job->profile_size)) job->profile_size = 0;
        return TAPER_OK;
    default:
        return formats_fail(
            job->error, TAPER_ERR_UNSUPPORTED,
            "the JPEG has %d colour components of unknown meaning; convert it to RGB first",
            d->num_components);
    }
}

/* Header to geometry: choose the output colours and check the size. Runs under
 * the caller's setjmp. */
static taper_status prepare(jpeg_job *job) {
    struct jpeg_decompress_struct *d = &job->decoder;
    jpeg_save_markers(d, JPEG_APP0 + 2, 0xFFFF); /* profiles */
    jpeg_read_header(d, TRUE);
    TAPER_TRY(choose_colours(job));
    const unsigned channels = d->out_color_space == JCS_GRAYSCALE ? 1 : job->is_cmyk ? 4 : 3;
    d->dct_method = JDCT_ISLOW;
    /* libjpeg's working memory: coefficients of a progressive file take 2 bytes a sample */
    uint64_t ceiling = formats_limits_or_default(job->limits).max_memory;
    d->mem->max_memory_to_use = ceiling < LONG_MAX ? (long)ceiling : LONG_MAX;
    TAPER_TRY(formats_image_check(d->image_width, d->image_height, channels, 8, job->limits, NULL,
                                  job->error));
    uint64_t pixels = (uint64_t)d->image_width * d->image_height;
    if (!d->arith_code && pixels / MAX_PIXELS_PER_BYTE > d->src->bytes_in_buffer)
        return formats_fail(
            job->error, TAPER_ERR_TRUNCATED,
            "the header asks for %u x %u pixels, which %zu bytes cannot hold; fetch the "
            "file anew",
            d->image_width, d->image_height, d->src->bytes_in_buffer);
    return formats_image_make(job->image, d->image_width, d->image_height, channels, 8, job->limits,
                              job->error);
}

/* Record the components of the current scan. */
static void note_scan(jpeg_job *job) {
    const struct jpeg_decompress_struct *d = &job->decoder;
    for (int i = 0; i < d->comps_in_scan; i++)
        job->seen |= 1u << d->cur_comp_info[i]->component_index;
    if (d->input_scan_number <= MAX_SCANS) return;
    job->status = formats_fail(
        job->error, TAPER_ERR_LIMIT,
        "the JPEG has more than %d scans; it is damaged or made to waste time", MAX_SCANS);
    fail_job(job);
}

/* 1 if all data has been read: each component has had a scan, and in a progressive file one for the
 * last bit of each coefficient. */
static int is_complete(const jpeg_job *job) {
    const struct jpeg_decompress_struct *d = &job->decoder;
    if (job->seen != (1u << d->num_components) - 1) return 0;
    for (int c = 0; d->progressive_mode && c < d->num_components; c++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (d->coef_bits[c][k] != 0) return 0;
    return 1;
}

/* Read the scans of a file with several, up to its end marker or until all data has been read; the
 * bytes after that need not be JPEG. A file with an end marker may omit scans. */
static void read_scans(jpeg_job *job) {
    struct jpeg_decompress_struct *d = &job->decoder;
    int code;
    note_scan(job);
    while ((code = jpeg_consume_input(d)) != JPEG_REACHED_EOI) {
        if (code == JPEG_REACHED_SOS) note_scan(job);
        if (code == JPEG_SCAN_COMPLETED && is_complete(job)) return;
    }
    if (job->is_behind_end) fail_early(job);
}

/* Does not look for the end of the file: when the last row is decoded, all data was there. */
static taper_status decode_with(jpeg_job *job, const void *bytes, size_t n) {
    if (setjmp(job->escape)) return job->status;
    jpeg_create_decompress(&job->decoder);
    attach(job, bytes, n);
    TAPER_TRY(prepare(job));
    job->decoder.buffered_image = jpeg_has_multiple_scans(&job->decoder);
    jpeg_start_decompress(&job->decoder);
    if (job->decoder.buffered_image) {
        read_scans(job);
        jpeg_start_output(&job->decoder, job->decoder.input_scan_number);
    }
    size_t stride = (size_t)job->image->width * job->image->channels;
    while (job->decoder.output_scanline < job->decoder.output_height) {
        JSAMPROW row = (JSAMPROW)job->image->pixels + job->decoder.output_scanline * stride;
        jpeg_read_scanlines(&job->decoder, &row, 1);
    }
    return TAPER_OK;
}

taper_status formats_jpeg_decode(const void *bytes, size_t n, const taper_limits *limits,
                                 taper_image *out, formats_metadata *metadata, taper_error *error) {
    *out = (taper_image){0};
    if (metadata) *metadata = (formats_metadata){0};
    if (!formats_jpeg_detect(bytes, n)) {
        taper_status status = n < 3 ? TAPER_ERR_TRUNCATED : TAPER_ERR_CORRUPT;
        return formats_fail(error, status,
                            "this is not a JPEG: its first bytes are not those of one");
    }
    jpeg_job job = {.limits = limits, .image = out, .error = error};
    job.decoder.client_data =
        &job; /* jpeg_create_decompress keeps these two, and can itself fail */
    job.decoder.err = jpeg_std_error(&job.errors);
    job.errors.error_exit = on_error;
    job.errors.emit_message = on_message;
    job.errors.output_message = on_output;
    taper_status status = decode_with(&job, bytes, n);
    jpeg_destroy_decompress(&job.decoder);
    /* Programs write CMYK inverted, whether they say so (Adobe's marker) or not. */
    if (status == TAPER_OK && job.is_cmyk)
        status = formats_cmyk_to_srgb(out, 1, job.profile, job.profile_size, error);
    free(job.profile);
    if (status == TAPER_OK)
        status = formats_image_orient(out, formats_jpeg_orientation(bytes, n).how, limits, error);
    if (status == TAPER_OK && metadata) status = formats_jpeg_metadata(bytes, n, metadata, error);
    if (status != TAPER_OK)
        formats_image_free(out);
    else if (metadata)
        metadata->quantisation_mse = formats_jpeg_noise(bytes, n);
    return status;
}
