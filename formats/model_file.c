/* model_file.c -- see model_file.h.
 *
 *    0  magic 89 'T' 'P' 'M' 0D 0A 1A 0A
 *    8  u16 version         10  u16 stages S
 *   12  u32 CRC32C of header and table, this field 0
 *   16  u64 model id
 *   24  the table: of each stage u64 stored bytes, u64 unpacked bytes, u32 CRC32C of the former
 *       the stages, one zstd frame each */
#include "formats/model_file.h"
#include "formats/status.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { HEADER = FORMATS_MODEL_HEADER, ENTRY = FORMATS_MODEL_ENTRY, ID_AT = FORMATS_MODEL_ID_AT };

static const uint8_t magic[8] = {0x89, 'T', 'P', 'M', 0x0D, 0x0A, 0x1A, 0x0A};

uint64_t formats_model_id(const void *payload, size_t size) { return XXH3_64bits(payload, size); }

static uint32_t header_crc(const uint8_t *header, uint32_t stages) {
    uint8_t copy[HEADER + ENTRY * FORMATS_MODEL_MOST_STAGES];
    size_t size = HEADER + ENTRY * (size_t)stages;
    memcpy(copy, header, size);
    memset(copy + 12, 0, 4);
    return formats_crc32c(0, copy, size);
}

/* --- packing --------------------------------------------------------------------------- */

/* Append the frame of a stage, and fill its entry of the table, which is at `entry` of out. */
static taper_status pack_stage(const uint8_t *from, size_t size, size_t entry, formats_buffer *out,
                               taper_error *error) {
    size_t bound = ZSTD_compressBound(size), start = out->size;
    uint8_t *to = formats_buffer_extend(out, bound);
    if (!to)
        return formats_fail(error, out->status, "no memory to pack a model of %zu bytes", size);
    size_t packed = ZSTD_compress(to, bound, from, size, 19);
    if (ZSTD_isError(packed))
        return formats_fail(error, TAPER_ERR_NOMEM, "zstd cannot pack the model: %s",
                            ZSTD_getErrorName(packed));
    formats_set_u64le(out->data + entry, packed);
    formats_set_u64le(out->data + entry + 8, size);
    formats_set_u32le(out->data + entry + 16, formats_crc32c(0, to, packed));
    out->size = start + packed;
    return TAPER_OK;
}

taper_status formats_model_pack(const void *payload, const formats_model_stages *s,
                                formats_buffer *out, taper_error *error) {
    const uint8_t *from = payload;
    size_t start = out->size, size = s->end[s->n - 1];
    if (size < FORMATS_MODEL_LEAST)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a model of %zu bytes is too small for its file; take a larger window "
                            "or more units",
                            size);
    uint8_t *head = formats_buffer_extend(out, HEADER + ENTRY * (size_t)s->n);
    if (!head)
        return formats_fail(error, out->status, "no memory to pack a model of %zu bytes", size);
    memcpy(head, magic, sizeof magic);
    formats_set_u16le(head + 8, FORMATS_MODEL_VERSION);
    formats_set_u16le(head + 10, (uint16_t)s->n);
    formats_set_u64le(head + ID_AT, formats_model_id(payload, size));
    for (uint32_t i = 0; i < s->n; i++) {
        size_t begin = i ? s->end[i - 1] : 0;
        if (s->end[i] <= begin)
            return formats_fail(error, TAPER_ERR_ARG, "stage %u of a model has no bytes", i + 1);
        TAPER_TRY(pack_stage(from + begin, s->end[i] - begin, start + HEADER + ENTRY * (size_t)i,
                             out, error));
    }
    head = out->data + start;
    formats_set_u32le(head + 12, header_crc(head, s->n));
    return TAPER_OK;
}

/* --- the header ------------------------------------------------------------------------ */

static taper_status check_header(const uint8_t *h, size_t size, taper_error *error) {
    if (size < sizeof magic || memcmp(h, magic, sizeof magic))
        return formats_fail_fact(error, TAPER_ERR_CORRUPT, TAPER_FACT_NO_MODEL, 0,
                                 "not a taper model (.tpm): the magic bytes are missing");
    uint16_t version = size >= 10 ? formats_get_u16le(h + 8) : FORMATS_MODEL_VERSION;
    if (version && version != FORMATS_MODEL_VERSION)
        return formats_fail(
            error, TAPER_ERR_VERSION, "model version %u is %s than this build reads (%u); %s",
            version, version > FORMATS_MODEL_VERSION ? "newer" : "older", FORMATS_MODEL_VERSION,
            version > FORMATS_MODEL_VERSION ? "update taper" : "train the model again");
    uint32_t stages = size >= 12 ? formats_get_u16le(h + 10) : 1;
    if (!version || !stages || stages > FORMATS_MODEL_MOST_STAGES)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model header is damaged: %u stages; copy the file again", stages);
    size_t need = HEADER + ENTRY * (size_t)stages;
    if (size < need)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "model header ends %zu byte%s early; copy the file again", need - size,
                            formats_plural(need - size, "s"));
    if (header_crc(h, stages) != formats_get_u32le(h + 12))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model header is damaged (checksum); copy the file again");
    return TAPER_OK;
}

/* Read the table. stored[i]: where the frame of stage i ends in the file. */
static taper_status read_table(const uint8_t *h, formats_model_contents *c, uint64_t *stored,
                               taper_error *error) {
    uint64_t unpacked = 0, at = HEADER + ENTRY * (uint64_t)c->stages.n;
    for (uint32_t i = 0; i < c->stages.n; i++) {
        const uint8_t *entry = h + HEADER + ENTRY * (size_t)i;
        uint64_t packed = formats_get_u64le(entry), bytes = formats_get_u64le(entry + 8);
        if (!packed || !bytes || formats_add_u64(at, packed, &at) != TAPER_OK ||
            formats_add_u64(unpacked, bytes, &unpacked) != TAPER_OK || unpacked > SIZE_MAX / 2)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: stage %u of %llu bytes, packed %llu, is not legal", i + 1,
                                (unsigned long long)bytes, (unsigned long long)packed);
        c->stages.end[i] = (size_t)unpacked;
        stored[i] = at;
    }
    c->file_bytes = at;
    if (unpacked >= FORMATS_MODEL_LEAST) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "model unpacks to %llu bytes, at least %d are legal",
                        (unsigned long long)unpacked, FORMATS_MODEL_LEAST);
}

/* Set the number of known stages. */
static taper_status find_known(formats_model_contents *c, const uint64_t *stored, size_t size,
                               int prefix, taper_error *error) {
    if (size > c->file_bytes)
        return formats_fail(error, TAPER_ERR_CORRUPT, "%llu byte%s follow%s the model's end",
                            (unsigned long long)(size - c->file_bytes),
                            formats_plural(size - c->file_bytes, "s"),
                            formats_singular(size - c->file_bytes));
    while (c->known < c->stages.n && stored[c->known] <= size) c->known++;
    if (c->known == c->stages.n || (prefix && c->known)) return TAPER_OK;
    uint64_t need = prefix ? stored[0] : c->file_bytes;
    return formats_fail(error, TAPER_ERR_TRUNCATED,
                        "model is cut: %llu of the %llu bytes of %s are missing; copy the file "
                        "again",
                        (unsigned long long)(need - size), (unsigned long long)need,
                        prefix ? "its first stage" : "its file");
}

/* All stages must be within the limit; the known ones also within that for so few bytes. */
static taper_status check_limit(const formats_model_contents *c, size_t size,
                                const taper_limits *given, taper_error *error) {
    taper_limits limits = formats_limits_or_default(given);
    uint64_t all = c->stages.end[c->stages.n - 1], most = formats_most_model_bytes(&limits, size);
    if (all <= limits.max_model_bytes && c->size <= most) return TAPER_OK;
    uint64_t bytes = c->size > most ? c->size : all;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MODEL_BYTES, bytes,
                             "model unpacks to %llu bytes, more than the limit of %llu",
                             (unsigned long long)bytes,
                             (unsigned long long)(c->size > most ? most : limits.max_model_bytes));
}

/* --- unpacking ------------------------------------------------------------------------- */

static taper_status unpack_stage(const uint8_t *frame, size_t packed, uint32_t crc, uint8_t *to,
                                 size_t size, uint32_t stage, taper_error *error) {
    if (formats_crc32c(0, frame, packed) != crc)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "stage %u of the model is damaged (checksum); copy the file again",
                            stage);
    if (ZSTD_getFrameContentSize(frame, packed) != size)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "stage %u of the model does not have the size its header claims; copy "
                            "the file again",
                            stage);
    size_t got = ZSTD_decompress(to, size, frame, packed);
    if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to unpack a model of %zu bytes",
                            size);
    if (ZSTD_isError(got) || got != size)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "stage %u of the model is damaged; copy the file again", stage);
    return TAPER_OK;
}

static taper_status unpack_stages(const uint8_t *h, const uint64_t *stored,
                                  formats_model_contents *c, taper_error *error) {
    for (uint32_t i = 0; i < c->known; i++) {
        size_t at = i ? (size_t)stored[i - 1] : HEADER + ENTRY * (size_t)c->stages.n,
               to = i ? c->stages.end[i - 1] : 0;
        TAPER_TRY(unpack_stage(h + at, (size_t)stored[i] - at,
                               formats_get_u32le(h + HEADER + ENTRY * (size_t)i + 16),
                               c->payload + to, c->stages.end[i] - to, i + 1, error));
    }
    if (c->known == c->stages.n && formats_model_id(c->payload, c->size) != c->id)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the model's stages do not have its id; copy the file again");
    return TAPER_OK;
}

taper_status formats_model_unpack(const void *bytes, size_t size, int prefix,
                                  const taper_limits *limits, formats_model_contents *out,
                                  taper_error *error) {
    *out = (formats_model_contents){0};
    const uint8_t *h = bytes;
    uint64_t stored[FORMATS_MODEL_MOST_STAGES];
    TAPER_TRY(check_header(h, size, error));
    formats_model_contents c = {.id = formats_get_u64le(h + ID_AT),
                                .stages.n = formats_get_u16le(h + 10)};
    TAPER_TRY(read_table(h, &c, stored, error));
    TAPER_TRY(find_known(&c, stored, size, prefix, error));
    c.size = c.stages.end[c.known - 1];
    TAPER_TRY(check_limit(&c, size, limits, error));
    c.payload = malloc(c.size + 1);
    if (!c.payload)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model of %zu bytes", c.size);
    taper_status status = unpack_stages(h, stored, &c, error);
    if (status != TAPER_OK)
        free(c.payload);
    else
        *out = c;
    return status;
}

taper_status formats_model_find_stages(const void *bytes, size_t size, formats_model_places *out,
                                       taper_error *error) {
    const uint8_t *h = bytes;
    TAPER_TRY(check_header(h, size, error));
    formats_model_contents c = {.stages.n = formats_get_u16le(h + 10)};
    *out = (formats_model_places){.n = c.stages.n, .id = formats_get_u64le(h + ID_AT)};
    TAPER_TRY(read_table(h, &c, out->end, error));
    for (uint32_t i = 0; i < c.stages.n; i++)
        out->crc[i] = formats_get_u32le(h + HEADER + ENTRY * (size_t)i + 16);
    while (out->known < out->n && out->end[out->known] <= size) out->known++;
    return TAPER_OK;
}

int formats_model_is(const void *bytes, size_t size, uint64_t id) {
    const uint8_t *h = bytes;
    uint64_t at = HEADER;
    if (size < HEADER || formats_get_u64le(h + ID_AT) != id) return 0;
    uint32_t stages = formats_get_u16le(h + 10);
    at += ENTRY * (uint64_t)stages;
    if (size < at || stages > FORMATS_MODEL_MOST_STAGES) return 0;
    for (uint32_t i = 0; i < stages; i++)
        if (formats_add_u64(at, formats_get_u64le(h + HEADER + ENTRY * (size_t)i), &at)) return 0;
    return at == size;
}
