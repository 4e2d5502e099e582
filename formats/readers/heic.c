/* heic.c -- HEIC by libheif: the primary image first, then the others of the file's top level. */
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <libheif/heif.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(heif_context_alloc) ONE(heif_context_free) \
    ONE(heif_context_read_from_memory_without_copy) ONE(heif_context_set_max_decoding_threads) \
    ONE(heif_context_get_number_of_top_level_images) \
    ONE(heif_context_get_list_of_top_level_image_IDs) ONE(heif_context_get_primary_image_ID) \
    ONE(heif_context_get_image_handle) ONE(heif_image_handle_release) \
    ONE(heif_image_handle_get_width) ONE(heif_image_handle_get_height) \
    ONE(heif_image_handle_has_alpha_channel) ONE(heif_image_handle_get_luma_bits_per_pixel) \
    ONE(heif_image_handle_get_list_of_metadata_block_IDs) \
    ONE(heif_image_handle_get_metadata_type) ONE(heif_image_handle_get_metadata_content_type) \
    ONE(heif_image_handle_get_metadata_size) ONE(heif_image_handle_get_metadata) \
    ONE(heif_image_handle_get_raw_color_profile_size) \
    ONE(heif_image_handle_get_raw_color_profile) ONE(heif_image_handle_get_nclx_color_profile) \
    ONE(heif_nclx_color_profile_free) ONE(heif_decode_image) ONE(heif_image_release) \
    ONE(heif_image_get_width) ONE(heif_image_get_height) ONE(heif_image_get_plane_readonly) \
    ONE(heif_image_get_bits_per_pixel_range) ONE(heif_image_is_premultiplied_alpha)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);
static const formats_late_library *const libraries[] = {&lib_library, NULL};

/* WORKING_BYTES: a pixel, in the planes of the decoder, in those of libheif, converted, and in the
 * image. MOST_BLOCKS: blocks of metadata that are looked at. */
enum { WORKING_BYTES = 24, MOST_PICTURES = 4096, MOST_BLOCKS = 64 };

typedef struct heic_state {
    struct heif_context *file;
    heif_item_id *picture; /* [frames] */
} heic_state;

static taper_status status_of(struct heif_error e, taper_error *error) {
    const char *why = e.message ? e.message : "";
    if (e.code == heif_error_Ok) return TAPER_OK;
    if (e.code == heif_error_Memory_allocation_error &&
        e.subcode != heif_suberror_Security_limit_exceeded)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a HEIC");
    if (e.code == heif_error_Unsupported_feature || e.code == heif_error_Unsupported_filetype ||
        e.code == heif_error_Plugin_loading_error)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "this kind of HEIC is not read (%.120s); convert it to PNG", why);
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the HEIC is damaged or ends early (%.120s); fetch it anew", why);
}

/* The primary image, then the others in the order of the file. */
static taper_status list_pictures(formats_picture *p, taper_error *error) {
    heic_state *s = p->state;
    heif_item_id primary;
    TAPER_TRY(status_of(lib.heif_context_get_primary_image_ID(s->file, &primary), error));
    int n = lib.heif_context_get_number_of_top_level_images(s->file);
    if (n > MOST_PICTURES) n = MOST_PICTURES;
    s->picture = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *s->picture);
    if (!s->picture) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a HEIC");
    heif_item_id *others = s->picture + 1;
    if (n > 0) n = lib.heif_context_get_list_of_top_level_image_IDs(s->file, others, n);
    p->frames = 1;
    s->picture[0] = primary;
    for (int i = 0; i < n; i++)
        if (others[i] != primary) s->picture[p->frames++] = others[i];
    return TAPER_OK;
}

static taper_status check_size(const struct heif_image_handle *handle, const taper_limits *limits,
                               taper_error *error) {
    const int width = lib.heif_image_handle_get_width(handle);
    const int height = lib.heif_image_handle_get_height(handle);
    TAPER_TRY(formats_image_check(width > 0 ? (uint32_t)width : 0,
                                  height > 0 ? (uint32_t)height : 0, 4, 8, limits, NULL, error));
    return formats_samples_check_room((uint32_t)width, (uint32_t)height, WORKING_BYTES, limits,
                                      error);
}

static taper_status heic_open(formats_picture *p, taper_error *error) {
    heic_state *s = p->state = calloc(1, sizeof *s);
    if (s) s->file = lib.heif_context_alloc();
    if (!s || !s->file) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode a HEIC");
    lib.heif_context_set_max_decoding_threads(s->file, 0);
    TAPER_TRY(status_of(
        lib.heif_context_read_from_memory_without_copy(s->file, p->bytes, p->size, NULL), error));
    return list_pictures(p, error);
}

/* --- metadata --- */

/* EXIF begins with the offset of its first byte, counted from behind that number. */
static taper_status take_exif(formats_metadata *m, const uint8_t *bytes, size_t n,
                              taper_error *error) {
    if (n < 4) return TAPER_OK;
    const size_t offset = formats_get_u32be(bytes);
    if (offset > n - 4) return TAPER_OK;
    return formats_samples_take(m, FORMATS_LEFT_EXIF, bytes + 4 + offset, n - 4 - offset, error);
}

static taper_status take_block(const struct heif_image_handle *handle, heif_item_id id,
                               formats_metadata *m, taper_error *error) {
    const char *type = lib.heif_image_handle_get_metadata_type(handle, id);
    const char *content = lib.heif_image_handle_get_metadata_content_type(handle, id);
    const size_t n = lib.heif_image_handle_get_metadata_size(handle, id);
    const int is_exif = type && !strcmp(type, "Exif");
    const int is_xmp = content && !strcmp(content, "application/rdf+xml");
    if ((!is_exif && !is_xmp) || !n) return TAPER_OK;
    uint8_t *bytes = malloc(n);
    taper_status status = TAPER_OK;
    if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for metadata");
    if (lib.heif_image_handle_get_metadata(handle, id, bytes).code == heif_error_Ok)
        status = is_exif ? take_exif(m, bytes, n, error)
                         : formats_samples_take(m, FORMATS_LEFT_XMP, bytes, n, error);
    free(bytes);
    return status;
}

static taper_status take_profile(const struct heif_image_handle *handle, formats_metadata *m,
                                 taper_error *error) {
    struct heif_color_profile_nclx *code = NULL;
    const size_t n = lib.heif_image_handle_get_raw_color_profile_size(handle);
    if (n) {
        uint8_t *bytes = malloc(n);
        if (!bytes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a colour profile");
        taper_status status = TAPER_OK;
        if (lib.heif_image_handle_get_raw_color_profile(handle, bytes).code == heif_error_Ok)
            status = formats_samples_take(m, FORMATS_LEFT_ICC, bytes, n, error);
        free(bytes);
        return status;
    }
    if (lib.heif_image_handle_get_nclx_color_profile(handle, &code).code != heif_error_Ok || !code)
        return TAPER_OK;
    if (code->color_primaries != heif_color_primaries_unspecified) {
        m->has_cicp = 1; /* of the pixels as they are decoded: RGB of full range */
        m->cicp[0] = (uint8_t)code->color_primaries;
        m->cicp[1] = (uint8_t)code->transfer_characteristics;
        m->cicp[2] = 0, m->cicp[3] = 1;
    }
    lib.heif_nclx_color_profile_free(code);
    return TAPER_OK;
}

static taper_status take_metadata(const struct heif_image_handle *handle, formats_metadata *m,
                                  taper_error *error) {
    heif_item_id blocks[MOST_BLOCKS];
    const int n =
        lib.heif_image_handle_get_list_of_metadata_block_IDs(handle, NULL, blocks, MOST_BLOCKS);
    for (int i = 0; i < n; i++) TAPER_TRY(take_block(handle, blocks[i], m, error));
    return take_profile(handle, m, error);
}

/* --- pixels --- */

/* Upright and cropped, as libheif gives them. */
static taper_status copy_pixels(const struct heif_image *from, unsigned channels, unsigned depth,
                                const taper_limits *limits, taper_image *out, taper_error *error) {
    const enum heif_channel all = heif_channel_interleaved;
    const int width = lib.heif_image_get_width(from, all);
    const int height = lib.heif_image_get_height(from, all);
    int stride = 0;
    const uint8_t *rows = lib.heif_image_get_plane_readonly(from, all, &stride);
    TAPER_TRY(formats_image_make(out, width > 0 ? (uint32_t)width : 0,
                                 height > 0 ? (uint32_t)height : 0, channels, depth, limits,
                                 error));
    const size_t row = (size_t)out->width * channels * (depth / 8);
    if (!rows || stride < 0 || (size_t)stride < row)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the HEIC has no pixels; fetch it anew");
    for (size_t y = 0; y < out->height; y++)
        memcpy((uint8_t *)out->pixels + y * row, rows + y * (size_t)stride, row);
    const int bits = lib.heif_image_get_bits_per_pixel_range(from, all);
    if (depth == 16 && bits > 8) formats_samples_widen(out, (unsigned)bits);
    if (channels == 4 && lib.heif_image_is_premultiplied_alpha((struct heif_image *)from))
        formats_samples_unpremultiply(out);
    return TAPER_OK;
}

static taper_status decode(const struct heif_image_handle *handle, const taper_limits *limits,
                           taper_image *out, taper_error *error) {
    const uint16_t one = 1;
    const int is_little = *(const uint8_t *)&one;
    const unsigned channels = lib.heif_image_handle_has_alpha_channel(handle) ? 4 : 3;
    const unsigned depth = lib.heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? 16 : 8;
    enum heif_chroma chroma =
        channels == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    if (depth == 16 && is_little)
        chroma =
            channels == 4 ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
    else if (depth == 16)
        chroma =
            channels == 4 ? heif_chroma_interleaved_RRGGBBAA_BE : heif_chroma_interleaved_RRGGBB_BE;
    struct heif_image *pixels = NULL;
    taper_status status =
        status_of(lib.heif_decode_image(handle, &pixels, heif_colorspace_RGB, chroma, NULL), error);
    if (status == TAPER_OK) status = copy_pixels(pixels, channels, depth, limits, out, error);
    if (pixels) lib.heif_image_release(pixels);
    return status;
}

static taper_status heic_read(formats_picture *p, uint32_t frame, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    const heic_state *s = p->state;
    struct heif_image_handle *handle = NULL;
    taper_status status =
        status_of(lib.heif_context_get_image_handle(s->file, s->picture[frame], &handle), error);
    if (status == TAPER_OK) status = check_size(handle, &p->limits, error);
    if (status == TAPER_OK) status = take_metadata(handle, metadata, error);
    if (status == TAPER_OK) status = decode(handle, &p->limits, out, error);
    if (handle) lib.heif_image_handle_release(handle);
    return status;
}

static void heic_close(formats_picture *p) {
    heic_state *s = p->state;
    if (!s) return;
    if (s->file) lib.heif_context_free(s->file);
    free(s->picture);
    free(s);
}
#endif

const formats_reader formats_heic_reader = {
    .name = "HEIC",
    .package = "libheif-dev",
#ifdef LATE_LIBRARY
    .libraries = libraries,
    .open = heic_open,
    .read = heic_read,
    .close = heic_close,
#endif
};
