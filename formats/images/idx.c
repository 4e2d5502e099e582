/* idx.c -- IDX image and label files; see idx.h. */
#include "formats/images/idx.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/images/gzip.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

/* Types of elements: bytes, signed 16- and 32-bit integers, floats, doubles. */
enum { UNSIGNED_BYTE = 8, SIGNED_BYTE, SHORT = 11, INTEGER, FLOAT, DOUBLE };
enum { MAX_DIMENSIONS = 4, MAX_HEADER = 4 + 4 * MAX_DIMENSIONS, QMNIST_COLUMNS = 8 };

/* Bytes of an element; 0: unknown type. */
static unsigned bytes_of_type(unsigned type) {
    static const uint8_t sizes[] = {1, 1, 0, 2, 4, 4, 8};
    return type >= UNSIGNED_BYTE && type <= DOUBLE ? sizes[type - UNSIGNED_BYTE] : 0;
}

int formats_idx_detect(const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    int idx = n >= 4 && p[0] == 0 && p[1] == 0 && bytes_of_type(p[2]) && p[3] >= 1;
    return idx && p[3] <= MAX_DIMENSIONS ? p[3] : 0;
}

/* The header of an IDX file. */
typedef struct idx_shape {
    unsigned type, dimensions;
    uint32_t size[MAX_DIMENSIONS];
    uint32_t header_bytes;
    uint64_t data_bytes; /* bytes of all elements */
} idx_shape;

static taper_status read_shape(const uint8_t *bytes, size_t n, idx_shape *shape,
                               taper_error *error) {
    formats_cursor c = formats_cursor_over(bytes, n);
    uint16_t zero = formats_read_u16be(&c);
    uint8_t type = formats_read_u8(&c), dimensions = formats_read_u8(&c);
    TAPER_TRY(formats_cursor_check(&c, "the IDX header", error));
    if (zero != 0 || dimensions == 0)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this is not an IDX file: its first bytes are wrong");
    if (!bytes_of_type(type) || dimensions > MAX_DIMENSIONS)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "the IDX file has %u dimensions of element type 0x%02x; up to 4 of the "
                            "types 0x08 to 0x0e can be read",
                            dimensions, type);
    shape->type = type;
    shape->dimensions = dimensions;
    shape->data_bytes = bytes_of_type(type);
    for (unsigned d = 0; d < dimensions; d++) {
        shape->size[d] = formats_read_u32be(&c);
        if (formats_mul_u64(shape->data_bytes, shape->size[d], &shape->data_bytes) != TAPER_OK)
            return formats_fail(error, TAPER_ERR_LIMIT,
                                "the IDX header asks for more than 2^64 bytes");
    }
    shape->header_bytes = (uint32_t)c.at;
    return formats_cursor_check(&c, "the IDX header", error);
}

/* Convert dimensions to an image geometry; idx.h has the rule for 4 dimensions. */
static taper_status set_geometry(const idx_shape *shape, formats_idx *out, taper_error *error) {
    const uint32_t *size = shape->size;
    *out = (formats_idx){.count = size[0], .header_bytes = shape->header_bytes, .channels = 1};
    if (shape->dimensions <= 2)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "this IDX file holds labels, not images; give it with --labels");
    if (shape->type != UNSIGNED_BYTE)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "the IDX file has elements of type 0x%02x; of images only unsigned "
                            "bytes (0x08) can be read",
                            shape->type);
    if (shape->dimensions == 3) {
        out->height = size[1];
        out->width = size[2];
    } else if (shape->dimensions == 4 && size[3] >= 1 && size[3] <= 4) {
        out->height = size[1];
        out->width = size[2];
        out->channels = (uint8_t)size[3];
    } else if (shape->dimensions == 4 && (size[1] == 1 || size[1] == 3)) {
        out->planar = 1;
        out->channels = (uint8_t)size[1];
        out->height = size[2];
        out->width = size[3];
    } else {
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "the dimensions of this IDX file are not those of images; 3 (count, height, "
            "width) or 4 with channels last or second can be read");
    }
    return TAPER_OK;
}

/* bytes: size of the stored file. */
static taper_status check_count(uint64_t count, uint64_t bytes, const char *what,
                                const taper_limits *limits, taper_error *error) {
    enum {
        LEAST = 1 << 16,
        A_BYTE = 16
    }; /* gzip rarely compresses images below this, except flat ones */
    const taper_limits l = formats_limits_or_default(limits);
    const uint64_t most = formats_most_images(&l, LEAST, bytes, A_BYTE);
    if (count <= most) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, count,
                             "the IDX header asks for %llu %s, more than the limit of %llu",
                             (unsigned long long)count, what, (unsigned long long)most);
}

static taper_status check_length(const idx_shape *shape, uint64_t size, taper_error *error) {
    uint64_t promised;
    if (formats_add_u64(shape->data_bytes, shape->header_bytes, &promised) == TAPER_OK &&
        promised == size)
        return TAPER_OK;
    return formats_fail(error, promised > size ? TAPER_ERR_TRUNCATED : TAPER_ERR_CORRUPT,
                        "the IDX header promises %llu bytes, but the file has %llu; fetch it anew",
                        (unsigned long long)promised, (unsigned long long)size);
}

taper_status formats_idx_open(const taper_source *source, const taper_limits *limits,
                              formats_idx *out, taper_error *error) {
    uint8_t header[MAX_HEADER];
    size_t n = source->size < sizeof header ? (size_t)source->size : sizeof header;
    idx_shape shape;
    *out = (formats_idx){0};
    TAPER_TRY(formats_source_read(source, 0, header, n, error));
    TAPER_TRY(read_shape(header, n, &shape, error));
    formats_idx idx;
    TAPER_TRY(set_geometry(&shape, &idx, error));
    if (idx.count == 0)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the IDX file holds no image");
    TAPER_TRY(check_count(idx.count, source->size, "images", limits, error));
    TAPER_TRY(formats_image_check(idx.width, idx.height, idx.channels, 8, limits, &idx.image_bytes,
                                  error));
    TAPER_TRY(check_length(&shape, source->size, error));
    *out = idx;
    return TAPER_OK;
}

/* Planar to interleaved. */
static void interleave(const uint8_t *planes, taper_image *image) {
    size_t pixels = (size_t)image->width * image->height;
    uint8_t *to = image->pixels;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < image->channels; c++) *to++ = planes[c * pixels + i];
}

static taper_status read_planar(const taper_source *source, uint64_t offset, size_t n,
                                taper_image *out, taper_error *error) {
    uint8_t *planes = malloc(n);
    if (!planes) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read an image");
    taper_status status = formats_source_read(source, offset, planes, n, error);
    if (status == TAPER_OK) interleave(planes, out);
    free(planes);
    return status;
}

taper_status formats_idx_read(const taper_source *source, const formats_idx *idx, uint32_t i,
                              taper_image *out, taper_error *error) {
    static const taper_limits no_limit = {.max_pixels = UINT64_MAX,
                                          .max_memory = UINT64_MAX}; /* checked by open */
    *out = (taper_image){0};
    if (i >= idx->count)
        return formats_fail(error, TAPER_ERR_ARG, "the IDX file has no image %u", i);
    TAPER_TRY(formats_image_make(out, idx->width, idx->height, idx->channels, 8, &no_limit, error));
    uint64_t offset = idx->header_bytes + (uint64_t)i * idx->image_bytes;
    taper_status status =
        idx->planar && idx->channels > 1
            ? read_planar(source, offset, idx->image_bytes, out, error)
            : formats_source_read(source, offset, out->pixels, idx->image_bytes, error);
    if (status == TAPER_OK)
        formats_image_drop_opaque_alpha(out);
    else
        formats_image_free(out);
    return status;
}

/* Check the size that the IDX header in a gzip file gives, before allocating memory for it. */
static taper_status check_claim(const idx_shape *shape, size_t compressed,
                                const taper_limits *limits, uint64_t *promised,
                                taper_error *error) {
    taper_limits l = formats_limits_or_default(limits);
    TAPER_TRY(check_count(shape->size[0], compressed, "items", limits, error));
    taper_status fits = formats_add_u64(shape->data_bytes, shape->header_bytes, promised);
    if (fits != TAPER_OK || *promised > l.max_memory || *promised > SIZE_MAX / 2)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_memory_needed(&l, *promised),
                                 "the IDX header asks for %llu bytes, more than the limit of %llu",
                                 (unsigned long long)*promised, (unsigned long long)l.max_memory);
    if (formats_gzip_can_hold(compressed, *promised)) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_TRUNCATED,
        "the IDX header promises %llu bytes, which %zu bytes of gzip cannot hold; fetch the "
        "file anew",
        (unsigned long long)*promised, compressed);
}

taper_status formats_idx_unpack(const void *bytes, size_t n, const taper_limits *limits,
                                uint8_t **out, size_t *out_size, taper_error *error) {
    uint8_t header[MAX_HEADER];
    size_t got;
    idx_shape shape;
    uint64_t promised;
    *out = NULL;
    *out_size = 0;
    TAPER_TRY(formats_gzip_peek(bytes, n, header, sizeof header, &got, error));
    TAPER_TRY(read_shape(header, got, &shape, error));
    TAPER_TRY(check_claim(&shape, n, limits, &promised, error));
    uint8_t *plain = malloc((size_t)promised);
    if (!plain) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to expand the IDX file");
    taper_status status = formats_gzip_unpack(bytes, n, plain, (size_t)promised, error);
    if (status != TAPER_OK) {
        free(plain);
        return status;
    }
    *out = plain;
    *out_size = (size_t)promised;
    return TAPER_OK;
}

/* A table with one row per label: only that of QMNIST is supported; its first column is the class.
 */
static taper_status check_label_shape(const idx_shape *shape, taper_error *error) {
    if (shape->dimensions > 2)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this IDX file has %u dimensions; labels have 1. Are these the images?",
                            shape->dimensions);
    if (shape->type >= FLOAT)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "this IDX file holds numbers with fractions (type 0x%02x); labels are "
                            "whole numbers",
                            shape->type);
    const uint32_t columns = shape->dimensions == 2 ? shape->size[1] : 1;
    if (columns == 1 || (columns == QMNIST_COLUMNS && shape->type == INTEGER)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "this IDX file has %u numbers for each label, and which one is the class "
                        "is known of QMNIST's 8 integers only; write the classes as CSV or as IDX "
                        "of 1 dimension",
                        columns);
}

/* A signed big-endian integer. */
static int64_t element_at(const uint8_t *p, unsigned type) {
    switch (type) {
    case SIGNED_BYTE: return (int8_t)*p;
    case SHORT: return (int16_t)formats_get_u16be(p);
    case INTEGER: return (int32_t)formats_get_u32be(p);
    default: return *p;
    }
}

static taper_status decode_plain_labels(const uint8_t *bytes, size_t n, const taper_limits *limits,
                                        uint8_t **labels, size_t *count, taper_error *error) {
    idx_shape shape;
    TAPER_TRY(read_shape(bytes, n, &shape, error));
    TAPER_TRY(check_label_shape(&shape, error));
    TAPER_TRY(check_count(shape.size[0], n, "labels", limits, error));
    TAPER_TRY(check_length(&shape, n, error));
    *count = shape.size[0];
    *labels = malloc(*count ? *count : 1);
    if (!*labels) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
    const size_t step = *count ? (size_t)(shape.data_bytes / *count) : 0;
    for (size_t i = 0; i < *count; i++) {
        const int64_t value = element_at(bytes + shape.header_bytes + i * step, shape.type);
        if (value >= 0 && value <= UINT8_MAX) {
            (*labels)[i] = (uint8_t)value;
            continue;
        }
        free(*labels), *labels = NULL, *count = 0;
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "label %zu of the IDX file is %lld; its labels can be 0 to 255: write "
                            "others as CSV",
                            i + 1, (long long)value);
    }
    return TAPER_OK;
}

taper_status formats_idx_labels_decode(const void *bytes, size_t n, const taper_limits *limits,
                                       uint8_t **labels, size_t *count, taper_error *error) {
    *labels = NULL;
    *count = 0;
    if (!formats_gzip_detect(bytes, n))
        return decode_plain_labels(bytes, n, limits, labels, count, error);
    uint8_t *plain;
    size_t size;
    TAPER_TRY(formats_idx_unpack(bytes, n, limits, &plain, &size, error));
    taper_status status = decode_plain_labels(plain, size, limits, labels, count, error);
    free(plain);
    return status;
}

/* Return the contents of the buffer, compressed if requested. Frees the buffer. */
static taper_status finish(formats_buffer *buffer, int gzip, uint8_t **out, size_t *n,
                           taper_error *error) {
    taper_status status = buffer->status;
    if (status != TAPER_OK)
        formats_fail(error, status = TAPER_ERR_NOMEM, "no memory to encode IDX");
    else if (gzip)
        status = formats_gzip_pack(buffer->data, buffer->size, out, n, error);
    else
        *out = formats_buffer_take(buffer, n);
    formats_buffer_free(buffer);
    return status;
}

taper_status formats_idx_encode_images(const taper_image *images, size_t count, int gzip,
                                       uint8_t **out, size_t *n, taper_error *error) {
    *out = NULL;
    *n = 0;
    if (count < 1 || count > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG, "no image to write as IDX");
    const taper_image *first = &images[0];
    for (size_t i = 0; i < count; i++)
        if (images[i].width != first->width || images[i].height != first->height ||
            images[i].channels != first->channels || images[i].depth != 8)
            return formats_fail(error, TAPER_ERR_ARG,
                                "IDX needs images of 8 bits and of one size; image %zu differs",
                                i + 1);
    formats_buffer buffer = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_write_u16be(&buffer, 0);
    formats_write_u8(&buffer, UNSIGNED_BYTE);
    formats_write_u8(&buffer, first->channels == 1 ? 3 : 4);
    formats_write_u32be(&buffer, (uint32_t)count);
    formats_write_u32be(&buffer, first->height);
    formats_write_u32be(&buffer, first->width);
    if (first->channels > 1) formats_write_u32be(&buffer, first->channels);
    for (size_t i = 0; i < count; i++)
        formats_write_bytes(&buffer, images[i].pixels, formats_image_bytes(&images[i]));
    return finish(&buffer, gzip, out, n, error);
}

taper_status formats_idx_encode_labels(const uint8_t *labels, size_t count, int gzip, uint8_t **out,
                                       size_t *n, taper_error *error) {
    *out = NULL;
    *n = 0;
    if (count > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG, "IDX holds at most 2^32 - 1 labels");
    formats_buffer buffer = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_write_u16be(&buffer, 0);
    formats_write_u8(&buffer, UNSIGNED_BYTE);
    formats_write_u8(&buffer, 1);
    formats_write_u32be(&buffer, (uint32_t)count);
    formats_write_bytes(&buffer, labels, count);
    return finish(&buffer, gzip, out, n, error);
}
