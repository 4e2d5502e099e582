/* jxl.c -- JPEG XL by libjxl: upright, in the colours of the profile that libjxl gives. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <jxl/decode.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(JxlDecoderCreate) ONE(JxlDecoderDestroy) \
    ONE(JxlDecoderSubscribeEvents) ONE(JxlDecoderSetInput) ONE(JxlDecoderProcessInput) \
    ONE(JxlDecoderGetBasicInfo) ONE(JxlDecoderSkipFrames) \
    ONE(JxlDecoderSetUnpremultiplyAlpha) ONE(JxlDecoderSetImageOutBuffer) \
    ONE(JxlDecoderGetColorAsEncodedProfile) ONE(JxlDecoderGetICCProfileSize) \
    ONE(JxlDecoderGetColorAsICCProfile) ONE(JxlDecoderGetBoxType) \
    ONE(JxlDecoderSetDecompressBoxes) ONE(JxlDecoderSetBoxBuffer) ONE(JxlDecoderReleaseBoxBuffer)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);
static const formats_late_library *const libraries[] = {&lib_library, NULL};

/* WORKING_BYTES: a pixel: four channels of floats, twice, and the image. MOST_BOX: bytes of a box
 * of metadata that is kept, also after it is unpacked. */
enum { WORKING_BYTES = 40, FIRST_BOX = 1 << 16, MOST_BOX = 2 * FORMATS_MOST_BLOB };

/* One pass over the file. */
typedef struct jxl_job {
    const formats_picture *p;
    JxlDecoder *decoder;
    JxlBasicInfo info;
    taper_image *image;
    formats_metadata *metadata;
    char box[4]; /* type of the box that is being read into box_bytes */
    uint8_t *box_bytes;
    size_t box_room;
    taper_error *error;
} jxl_job;

static taper_status fail_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a JPEG XL");
}

static taper_status fail_damaged(const jxl_job *job, JxlDecoderStatus status) {
    if (status == JXL_DEC_NEED_MORE_INPUT)
        return formats_fail(job->error, TAPER_ERR_TRUNCATED,
                            "the JPEG XL ends early; fetch it anew");
    return formats_fail(job->error, TAPER_ERR_CORRUPT, "the JPEG XL is damaged; fetch it anew");
}

static taper_status begin(jxl_job *job, int events) {
    job->decoder = lib.JxlDecoderCreate(NULL);
    if (!job->decoder) return fail_memory(job->error);
    if (lib.JxlDecoderSubscribeEvents(job->decoder, events) != JXL_DEC_SUCCESS ||
        lib.JxlDecoderSetInput(job->decoder, job->p->bytes, job->p->size) != JXL_DEC_SUCCESS)
        return fail_damaged(job, JXL_DEC_ERROR);
    return TAPER_OK; /* without JxlDecoderCloseInput, after which libjxl prints what is missing */
}

static taper_status take_info(jxl_job *job) {
    if (lib.JxlDecoderGetBasicInfo(job->decoder, &job->info) != JXL_DEC_SUCCESS)
        return fail_damaged(job, JXL_DEC_ERROR);
    TAPER_TRY(formats_image_check(job->info.xsize, job->info.ysize, 4, 8, &job->p->limits, NULL,
                                  job->error));
    return formats_samples_check_room(job->info.xsize, job->info.ysize, WORKING_BYTES,
                                      &job->p->limits, job->error);
}

/* --- opening --- */

/* Count the frames of an animation; they are not decoded. */
static taper_status count_frames(jxl_job *job, uint32_t *frames) {
    TAPER_TRY(begin(job, JXL_DEC_BASIC_INFO | JXL_DEC_FRAME));
    *frames = 0;
    for (;;) {
        const JxlDecoderStatus status = lib.JxlDecoderProcessInput(job->decoder);
        if (status == JXL_DEC_BASIC_INFO) {
            TAPER_TRY(take_info(job));
            if (!job->info.have_animation) break;
        } else if (status == JXL_DEC_FRAME)
            ++*frames;
        else if (status == JXL_DEC_SUCCESS || *frames)
            break; /* frames behind damage are not counted */
        else
            return fail_damaged(job, status);
    }
    if (!*frames) *frames = 1;
    return TAPER_OK;
}

static taper_status jxl_open(formats_picture *p, taper_error *error) {
    jxl_job job = {.p = p, .error = error};
    const taper_status status = count_frames(&job, &p->frames);
    if (job.decoder) lib.JxlDecoderDestroy(job.decoder);
    return status;
}

/* --- metadata --- */

static int is_srgb(const JxlColorEncoding *c) {
    return c->transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
           c->white_point == JXL_WHITE_POINT_D65 &&
           (c->color_space == JXL_COLOR_SPACE_GRAY ||
            (c->color_space == JXL_COLOR_SPACE_RGB && c->primaries == JXL_PRIMARIES_SRGB));
}

static taper_status take_profile(jxl_job *job) {
    const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    JxlColorEncoding encoding;
    size_t n = 0;
    if (lib.JxlDecoderGetColorAsEncodedProfile(job->decoder, NULL, target, &encoding) ==
            JXL_DEC_SUCCESS &&
        is_srgb(&encoding))
        return TAPER_OK;
    if (lib.JxlDecoderGetICCProfileSize(job->decoder, NULL, target, &n) != JXL_DEC_SUCCESS || !n)
        return TAPER_OK;
    if (n > FORMATS_MOST_BLOB) job->metadata->left_out |= FORMATS_LEFT_ICC;
    if (n > FORMATS_MOST_BLOB) return TAPER_OK;
    formats_blob *icc = &job->metadata->icc;
    icc->bytes = malloc(n);
    if (!icc->bytes) return fail_memory(job->error);
    icc->size = n;
    if (lib.JxlDecoderGetColorAsICCProfile(job->decoder, NULL, target, icc->bytes, n) ==
        JXL_DEC_SUCCESS)
        return TAPER_OK;
    free(icc->bytes);
    *icc = (formats_blob){0};
    return TAPER_OK;
}

/* EXIF begins with the offset of its first byte, counted from behind that number. */
static taper_status end_box(jxl_job *job) {
    if (!job->box_bytes) return TAPER_OK;
    const size_t n = job->box_room - lib.JxlDecoderReleaseBoxBuffer(job->decoder);
    const uint8_t *bytes = job->box_bytes;
    taper_status status = TAPER_OK;
    if (!memcmp(job->box, "xml ", 4))
        status = formats_samples_take(job->metadata, FORMATS_LEFT_XMP, bytes, n, job->error);
    else if (n >= 4 && formats_get_u32be(bytes) <= n - 4) {
        const size_t at = 4 + (size_t)formats_get_u32be(bytes);
        status =
            formats_samples_take(job->metadata, FORMATS_LEFT_EXIF, bytes + at, n - at, job->error);
    }
    free(job->box_bytes);
    job->box_bytes = NULL;
    return status;
}

static taper_status begin_box(jxl_job *job) {
    TAPER_TRY(end_box(job));
    if (lib.JxlDecoderGetBoxType(job->decoder, job->box, JXL_TRUE) != JXL_DEC_SUCCESS ||
        (memcmp(job->box, "Exif", 4) && memcmp(job->box, "xml ", 4)))
        return TAPER_OK;
    job->box_room = FIRST_BOX;
    job->box_bytes = malloc(job->box_room);
    if (!job->box_bytes) return fail_memory(job->error);
    lib.JxlDecoderSetBoxBuffer(job->decoder, job->box_bytes, job->box_room);
    return TAPER_OK;
}

/* The buffer of a box is full: twice the room, or the box is dropped. */
static taper_status grow_box(jxl_job *job) {
    const size_t n = job->box_room - lib.JxlDecoderReleaseBoxBuffer(job->decoder);
    if (job->box_room >= MOST_BOX) { /* without a buffer libjxl skips the rest */
        job->metadata->left_out |=
            (uint8_t)(memcmp(job->box, "xml ", 4) ? FORMATS_LEFT_EXIF : FORMATS_LEFT_XMP);
        free(job->box_bytes);
        job->box_bytes = NULL;
        return TAPER_OK;
    }
    uint8_t *more = realloc(job->box_bytes, job->box_room * 2);
    if (!more) return fail_memory(job->error);
    job->box_bytes = more;
    job->box_room *= 2;
    lib.JxlDecoderSetBoxBuffer(job->decoder, more + n, job->box_room - n);
    return TAPER_OK;
}

/* --- pixels --- */

static taper_status give_buffer(jxl_job *job) {
    const JxlBasicInfo *i = &job->info;
    const unsigned channels = (i->num_color_channels == 1 ? 1 : 3) + (i->alpha_bits > 0);
    const unsigned depth = i->bits_per_sample > 8 || i->exponent_bits_per_sample ? 16 : 8;
    const JxlPixelFormat format = {channels, depth == 16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                                   JXL_NATIVE_ENDIAN, 0};
    if (job->image->pixels) return fail_damaged(job, JXL_DEC_ERROR);
    TAPER_TRY(formats_image_make(job->image, i->xsize, i->ysize, channels, depth, &job->p->limits,
                                 job->error));
    if (lib.JxlDecoderSetImageOutBuffer(job->decoder, &format, job->image->pixels,
                                        formats_image_bytes(job->image)) != JXL_DEC_SUCCESS)
        return fail_damaged(job, JXL_DEC_ERROR);
    return TAPER_OK;
}

/* Up to the end of the file: metadata may follow the pixels. What comes after the picture need not
 * be whole. */
static taper_status run(jxl_job *job) {
    for (int is_done = 0;;) {
        const JxlDecoderStatus status = lib.JxlDecoderProcessInput(job->decoder);
        switch (status) {
        case JXL_DEC_BASIC_INFO: TAPER_TRY(take_info(job)); break;
        case JXL_DEC_COLOR_ENCODING: TAPER_TRY(take_profile(job)); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (is_done) return end_box(job); /* the next frame */
            TAPER_TRY(give_buffer(job));
            break;
        case JXL_DEC_FULL_IMAGE: is_done = 1; break;
        case JXL_DEC_BOX: TAPER_TRY(begin_box(job)); break;
        case JXL_DEC_BOX_NEED_MORE_OUTPUT: TAPER_TRY(grow_box(job)); break;
        default: return is_done ? end_box(job) : fail_damaged(job, status);
        }
    }
}

static taper_status jxl_read(formats_picture *p, uint32_t frame, taper_image *out,
                             formats_metadata *metadata, taper_error *error) {
    jxl_job job = {.p = p, .image = out, .metadata = metadata, .error = error};
    taper_status status =
        begin(&job, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX | JXL_DEC_FULL_IMAGE);
    if (status == TAPER_OK) {
        lib.JxlDecoderSetDecompressBoxes(job.decoder, JXL_TRUE);
        lib.JxlDecoderSetUnpremultiplyAlpha(job.decoder, JXL_TRUE);
        if (frame) lib.JxlDecoderSkipFrames(job.decoder, frame);
        status = run(&job);
    }
    if (job.decoder) lib.JxlDecoderDestroy(job.decoder);
    free(job.box_bytes);
    return status;
}

static void jxl_close(formats_picture *p) { (void)p; }
#endif

const formats_reader formats_jxl_reader = {
    .name = "JPEG XL",
    .package = "libjxl-dev",
#ifdef LATE_LIBRARY
    .libraries = libraries,
    .open = jxl_open,
    .read = jxl_read,
    .close = jxl_close,
#endif
};
