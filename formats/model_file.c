/* model_file.c -- see model_file.h.
 *
 *    0  magic 89 'T' 'P' 'M' 0D 0A 1A 0A
 *    8  u16 version         10  u16 reserved, 0
 *   12  u32 CRC32C of bytes 0..39, this field 0
 *   16  u64 packed bytes    24  u64 payload bytes
 *   32  u64 model id
 *   40  the payload, one zstd frame */
#include "formats/model_file.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

static const uint8_t magic[8] = {0x89, 'T', 'P', 'M', 0x0D, 0x0A, 0x1A, 0x0A};

uint64_t formats_model_id(const void *payload, size_t size) { return XXH3_64bits(payload, size); }

static uint32_t header_crc(const uint8_t *header) {
    uint8_t copy[FORMATS_MODEL_HEADER];
    memcpy(copy, header, sizeof copy);
    memset(copy + 12, 0, 4);
    return formats_crc32c(0, copy, sizeof copy);
}

taper_status formats_model_pack(const void *payload, size_t size, formats_buffer *out,
                                taper_error *error) {
    if (size < FORMATS_MODEL_LEAST)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a model of %zu bytes is too small for its file; take a larger window "
                            "or more units",
                            size);
    size_t bound = ZSTD_compressBound(size), start = out->size;
    uint8_t *to = formats_buffer_extend(out, FORMATS_MODEL_HEADER + bound);
    if (!to)
        return formats_fail(error, out->status, "no memory to pack a model of %zu bytes", size);
    size_t packed = ZSTD_compress(to + FORMATS_MODEL_HEADER, bound, payload, size, 19);
    if (ZSTD_isError(packed))
        return formats_fail(error, TAPER_ERR_NOMEM, "zstd cannot pack the model: %s",
                            ZSTD_getErrorName(packed));
    memset(to, 0, FORMATS_MODEL_HEADER);
    memcpy(to, magic, sizeof magic);
    formats_set_u16le(to + 8, FORMATS_MODEL_VERSION);
    formats_set_u64le(to + 16, packed);
    formats_set_u64le(to + 24, size);
    formats_set_u64le(to + 32, formats_model_id(payload, size));
    formats_set_u32le(to + 12, header_crc(to));
    out->size = start + FORMATS_MODEL_HEADER + packed;
    return TAPER_OK;
}

/* Check the header, without unpacking. */
static taper_status check_header(const uint8_t *h, size_t size, const taper_limits *limits,
                                 taper_error *error) {
    if (size < sizeof magic || memcmp(h, magic, sizeof magic))
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "not a taper model (.tpm): the magic bytes are missing; make one with 'taper train'");
    if (size < FORMATS_MODEL_HEADER)
        return formats_fail(
            error, TAPER_ERR_TRUNCATED, "model header ends %zu byte%s early; copy the file again",
            FORMATS_MODEL_HEADER - size, formats_plural(FORMATS_MODEL_HEADER - size, "s"));
    uint16_t version = formats_get_u16le(h + 8);
    if (version && version != FORMATS_MODEL_VERSION)
        return formats_fail(
            error, TAPER_ERR_VERSION, "model version %u is %s than this build reads (%u); %s",
            version, version > FORMATS_MODEL_VERSION ? "newer" : "older", FORMATS_MODEL_VERSION,
            version > FORMATS_MODEL_VERSION ? "update taper" : "train the model again");
    if (header_crc(h) != formats_get_u32le(h + 12) || version == 0 || formats_get_u16le(h + 10))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model header is damaged (checksum); copy the file again");
    uint64_t packed = formats_get_u64le(h + 16), left = size - FORMATS_MODEL_HEADER;
    if (packed > left)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "model is cut: %llu of its %llu bytes are missing; copy the file again",
                            (unsigned long long)(packed - left), (unsigned long long)packed);
    if (packed < left)
        return formats_fail(error, TAPER_ERR_CORRUPT, "%llu byte%s follow%s the model's end",
                            (unsigned long long)(left - packed), formats_plural(left - packed, "s"),
                            formats_singular(left - packed));
    uint64_t unpacked = formats_get_u64le(h + 24);
    if (unpacked < FORMATS_MODEL_LEAST)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model unpacks to %llu bytes, at least %d are legal",
                            (unsigned long long)unpacked, FORMATS_MODEL_LEAST);
    if (unpacked > limits->max_model_bytes)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "model unpacks to %llu bytes, above the limit of %llu; give "
                            "--max-model %llu if you trust it",
                            (unsigned long long)unpacked,
                            (unsigned long long)limits->max_model_bytes,
                            (unsigned long long)unpacked);
    return TAPER_OK;
}

taper_status formats_model_unpack(const void *bytes, size_t size, const taper_limits *given,
                                  uint8_t **payload, size_t *payload_size, uint64_t *id,
                                  taper_error *error) {
    *payload = NULL;
    const uint8_t *h = bytes;
    taper_limits limits = formats_limits_or_default(given);
    TAPER_TRY(check_header(h, size, &limits, error));
    size_t unpacked = (size_t)formats_get_u64le(h + 24), packed = size - FORMATS_MODEL_HEADER;
    const uint8_t *frame = h + FORMATS_MODEL_HEADER;
    if (ZSTD_getFrameContentSize(frame, packed) != unpacked)
        return formats_fail(
            error, TAPER_ERR_CORRUPT,
            "model payload does not have the size its header claims; copy the file again");
    uint8_t *to = malloc(unpacked + 1);
    if (!to)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model of %zu bytes", unpacked);
    size_t got = ZSTD_decompress(to, unpacked, frame, packed);
    if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) {
        free(to);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to unpack a model of %zu bytes",
                            unpacked);
    }
    *id = formats_get_u64le(h + 32);
    if (ZSTD_isError(got) || got != unpacked || formats_model_id(to, unpacked) != *id) {
        free(to);
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model payload is damaged (checksum); copy the file again");
    }
    *payload = to;
    *payload_size = unpacked;
    return TAPER_OK;
}

int formats_model_is(const void *bytes, size_t size, uint64_t id) {
    const uint8_t *h = bytes;
    return size >= FORMATS_MODEL_HEADER && formats_get_u64le(h + 32) == id &&
           formats_get_u64le(h + 16) == size - FORMATS_MODEL_HEADER;
}
