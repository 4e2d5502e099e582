/* container.c -- header and sections of a .taper file; directory.c has the section contents.
 *
 *    0  magic 89 'T' 'P' 'R' 0D 0A 1A 0A
 *    8  u16 version      10  u8 layout      11  u8 tail
 *   12  u32 required features      16  u32 ignorable features
 *   20  u32 CRC32C of header and table, this field 0
 *   24  u64 model id     32  u64 images
 *   40  u32 groups       44  u32 layers     48  u32 sections     52  u32 reserved, 0
 *   56  section table: u32 type, u32 CRC32C of the stored bytes, u64 stored size, u64 unpacked size
 * Then the bytes of the sections in the order of the table, then the chunks. */
#include "formats/container.h"
#include "formats/directory.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

static const uint8_t magic[8] = {0x89, 'T', 'P', 'R', 0x0D, 0x0A, 0x1A, 0x0A};

#define SECTION(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
enum { /* a reader may skip an unknown type whose first letter is lower case */
       DIRECTORY = SECTION('D', 'I', 'R', 'E'),
       NAMES = SECTION('n', 'a', 'm', 'e'),
       LABELS = SECTION('l', 'a', 'b', 'l'),
       MODEL = SECTION('m', 'o', 'd', 'l'),
       SEARCH = SECTION('c', 'o', 'd', 'e'),
       SEARCH_MODEL = SECTION('s', 'm', 'd', 'l')
};

typedef struct section {
    uint32_t type, crc;
    uint64_t stored, unpacked;
} section;

/* Default limit of images for a front matter. For comparison: groups of 1,024 images in two layers,
 * without names and labels, take 4 bytes each. */
enum { LEAST_IMAGES = 1 << 20, IMAGES_A_BYTE = 256 };

/* The most bytes to which a section may unpack; above the ratio of any real file. Codes and models
 * hardly compress. */
static uint64_t most_unpacked(uint32_t type, uint64_t stored) {
    if (type == SEARCH) return 64 * stored + ((uint64_t)1 << 20);
    if (type == MODEL || type == SEARCH_MODEL) return 4 * stored + 65536;
    return 1024 * stored + 65536;
}

/* --- reading --------------------------------------------------------------------------- */

static taper_status need_more(uint64_t missing, taper_error *error) {
    return formats_fail(error, TAPER_ERR_TRUNCATED,
                        "incomplete header, need %llu more byte%s; fetch more of the file",
                        (unsigned long long)missing, formats_plural(missing, "s"));
}

static uint64_t table_end(const uint8_t *h) {
    return FORMATS_HEADER_SIZE + (uint64_t)formats_get_u32le(h + 48) * FORMATS_SECTION_SIZE;
}

/* Check the first 56 bytes. */
static taper_status check_header(const uint8_t *h, size_t size, taper_error *error) {
    if (memcmp(h, magic, size < sizeof magic ? size : sizeof magic))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "not a taper container: the magic bytes are missing%s",
                            size >= 4 && !memcmp(h + 1, "TPR", 3)
                                ? " (a transfer in text mode damages it: fetch it as binary)"
                                : "");
    if (size < FORMATS_HEADER_SIZE) return need_more(FORMATS_HEADER_SIZE - size, error);
    uint16_t version = formats_get_u16le(h + 8);
    if (version > FORMATS_CONTAINER_VERSION)
        return formats_fail(
            error, TAPER_ERR_VERSION,
            "container version %u is newer than this build reads (%u); update taper", version,
            FORMATS_CONTAINER_VERSION);
    if (formats_get_u32le(h + 12) &
        ~(uint32_t)(FORMATS_FEATURE_RATE_CLASSES | FORMATS_FEATURE_RAISED))
        return formats_fail(error, TAPER_ERR_VERSION,
                            "container needs features 0x%x that this build lacks; update taper",
                            formats_get_u32le(h + 12));
    if (version == 0 || formats_get_u32le(h + 48) > FORMATS_MAX_SECTIONS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container header is damaged at byte %d; fetch the file again",
                            version ? 48 : 8);
    return TAPER_OK;
}

static taper_status check_crc(const uint8_t *h, size_t end, taper_error *error) {
    static const uint8_t zero[4] = {0};
    uint32_t crc = formats_crc32c(0, h, 20);
    crc = formats_crc32c(crc, zero, sizeof zero);
    crc = formats_crc32c(crc, h + 24, end - 24);
    if (crc == formats_get_u32le(h + 20)) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_CORRUPT,
        "container header is damaged (checksum over bytes 0 to %zu); fetch the file again", end);
}

static section section_at(const uint8_t *h, uint32_t i) {
    const uint8_t *s = h + FORMATS_HEADER_SIZE + (size_t)i * FORMATS_SECTION_SIZE;
    return (section){formats_get_u32le(s), formats_get_u32le(s + 4), formats_get_u64le(s + 8),
                     formats_get_u64le(s + 16)};
}

taper_status formats_front_need(const void *bytes, size_t size, uint64_t *need,
                                taper_error *error) {
    const uint8_t *h = bytes;
    *need = FORMATS_HEADER_SIZE;
    taper_status status = check_header(h, size, error);
    if (size < FORMATS_HEADER_SIZE && status == TAPER_ERR_TRUNCATED) return TAPER_OK;
    TAPER_TRY(status);
    *need = table_end(h);
    if (size < *need) return TAPER_OK;
    TAPER_TRY(check_crc(h, (size_t)*need, error));
    for (uint32_t i = 0; i < formats_get_u32le(h + 48); i++)
        if (formats_add_u64(*need, section_at(h, i).stored, need) != TAPER_OK || *need > INT64_MAX)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "section %u claims an impossible size; fetch the file again", i);
    return TAPER_OK;
}

/* A complete section that ends inside a field is corrupt, not truncated. */
static taper_status refuse_short(taper_status status, taper_error *error) {
    if (status != TAPER_ERR_TRUNCATED) return status;
    if (error) error->status = TAPER_ERR_CORRUPT;
    return TAPER_ERR_CORRUPT;
}

/* The content of a section in new memory (one byte more than its size, so never NULL). It is packed
 * by zstd if the two sizes differ. Real files compress at most 1000-fold; more is refused. */
static taper_status unpack(formats_front *f, const uint8_t *stored, section s, uint8_t **out,
                           taper_error *error) {
    *out = NULL;
    if (formats_crc32c(0, stored, (size_t)s.stored) != s.crc)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the container's front matter is damaged (checksum of section %.4s); "
                            "fetch the file again",
                            (const char *)&s.type);
    if (s.unpacked < s.stored || s.unpacked > most_unpacked(s.type, s.stored))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "section %.4s claims to unpack to an impossible size",
                            (const char *)&s.type);
    uint8_t *to;
    TAPER_TRY(formats_front_take(f, s.unpacked, 1, &to, error));
    to[s.unpacked] = 0;
    if (s.unpacked == s.stored) {
        memcpy(to, stored, (size_t)s.stored);
    } else {
        size_t got = ZSTD_decompress(to, (size_t)s.unpacked, stored, (size_t)s.stored);
        if (ZSTD_isError(got) || got != s.unpacked) {
            free(to);
            formats_account_give(&f->account, s.unpacked + 1);
            if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
                return formats_fail(error, TAPER_ERR_NOMEM,
                                    "no memory to unpack section %.4s of the front matter",
                                    (const char *)&s.type);
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "section %.4s does not unpack; fetch the file again",
                                (const char *)&s.type);
        }
    }
    *out = to;
    return TAPER_OK;
}

/* raised: the header has FORMATS_FEATURE_RAISED. */
static taper_status read_section(formats_front *f, const uint8_t *stored, section s, int raised,
                                 const taper_limits *limits, taper_error *error) {
    int known = s.type == DIRECTORY || s.type == NAMES || s.type == LABELS || s.type == MODEL ||
                s.type == SEARCH || s.type == SEARCH_MODEL;
    if (!known && (s.type & 0x20)) return TAPER_OK; /* ignorable */
    if (!known)
        return formats_fail(
            error, TAPER_ERR_VERSION,
            "container has a section %.4s that this build does not know; update taper",
            (const char *)&s.type);
    if (s.type != DIRECTORY && !f->geometry)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the directory is not the first section");
    if ((s.type == DIRECTORY && f->geometry) || (s.type == NAMES && f->names) ||
        (s.type == LABELS && f->label) || (s.type == MODEL && f->model) ||
        (s.type == SEARCH && f->search_codes) || (s.type == SEARCH_MODEL && f->search_model))
        return formats_fail(error, TAPER_ERR_CORRUPT, "section %.4s occurs twice",
                            (const char *)&s.type);
    uint8_t *content;
    TAPER_TRY(unpack(f, stored, s, &content, error));
    if (s.type == MODEL) {
        f->model = content;
        f->model_size = (size_t)s.unpacked;
        return TAPER_OK;
    }
    if (s.type == SEARCH_MODEL) {
        f->search_model = content;
        f->search_model_size = (size_t)s.unpacked;
        return TAPER_OK;
    }
    formats_cursor in = formats_cursor_over(content, (size_t)s.unpacked);
    taper_status status = s.type == DIRECTORY
                              ? formats_directory_read(f, &in, raised, limits, error)
                          : s.type == NAMES  ? formats_names_read(f, &in, error)
                          : s.type == SEARCH ? formats_search_codes_read(f, &in, error)
                                             : formats_labels_section_read(f, &in, error);
    status = refuse_short(status, error);
    if (status == TAPER_OK && formats_cursor_left(&in))
        status = formats_fail(error, TAPER_ERR_CORRUPT, "bytes follow the content of section %.4s",
                              (const char *)&s.type);
    free(content);
    formats_account_give(&f->account, s.unpacked + 1);
    return status;
}

taper_status formats_front_read(const void *bytes, size_t size, const taper_limits *given,
                                formats_front *f, taper_error *error) {
    memset(f, 0, sizeof *f);
    const uint8_t *h = bytes;
    taper_limits limits = formats_limits_or_default(given);
    uint64_t need;
    TAPER_TRY(formats_front_need(bytes, size, &need, error));
    if (need > size) return need_more(need - size, error);
    uint64_t images = formats_get_u64le(h + 32);
    if (images > UINT32_MAX - 1) /* no limit that can be given is enough */
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "container claims %llu images; no container holds more than %u",
                            (unsigned long long)images, UINT32_MAX - 1);
    if (images > formats_most_images(&limits, LEAST_IMAGES, need, IMAGES_A_BYTE))
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "container holds %llu images, many for a front matter of %llu bytes; "
                            "give --max-images %llu if you trust it",
                            (unsigned long long)images, (unsigned long long)need,
                            (unsigned long long)images);
    *f = (formats_front){
        .model_id = formats_get_u64le(h + 24),
        .layout = h[10],
        .holds = formats_get_u32le(h + 16) | (uint64_t)formats_get_u32le(h + 52) << 32,
        .tail = h[11],
        .images = (uint32_t)images,
        .groups = formats_get_u32le(h + 40),
        .layers = formats_get_u32le(h + 44),
        .rate_classes = formats_get_u32le(h + 12) & FORMATS_FEATURE_RATE_CLASSES ? 2 : 1,
        .front_size = need,
        .account = formats_account_within(&limits)};
    int raised = (formats_get_u32le(h + 12) & FORMATS_FEATURE_RAISED) != 0;
    if (f->layout > FORMATS_MOST_LAYOUT || f->tail > 1)
        return formats_fail(error, TAPER_ERR_CORRUPT, "container layout %u or tail %u is not legal",
                            h[10], h[11]);
    uint64_t at = table_end(h);
    taper_status status = TAPER_OK;
    for (uint32_t i = 0; i < formats_get_u32le(h + 48) && status == TAPER_OK; i++) {
        section s = section_at(h, i);
        status = read_section(f, h + at, s, raised, &limits, error);
        at += s.stored;
    }
    if (status == TAPER_OK && !f->geometry)
        status = formats_fail(error, TAPER_ERR_CORRUPT, "container has no directory");
    if (status == TAPER_OK && f->search_model && !f->search_codes)
        status = formats_fail(error, TAPER_ERR_CORRUPT,
                              "container has a model for search, but no codes for search");
    if (status != TAPER_OK) formats_front_free(f);
    return status;
}

/* --- writing --------------------------------------------------------------------------- */

/* Upper bound of the memory that zstd needs to pack n bytes. */
static uint64_t packing_bytes(uint64_t n) {
    const uint64_t most = (uint64_t)100 << 20, least = (uint64_t)2 << 20;
    return n < most / 20 ? least + 20 * n : most;
}

static taper_status pack(const formats_buffer *content, int level, uint8_t *to, size_t bound,
                         formats_account *account, size_t *packed) {
    uint64_t bytes = packing_bytes(content->size);
    if (!level) return TAPER_OK;
    TAPER_TRY(formats_account_take(account, bytes));
    *packed = ZSTD_compress(to, bound, content->data, content->size, level);
    formats_account_give(account, bytes);
    return ZSTD_isError(*packed) ? TAPER_ERR_NOMEM : TAPER_OK;
}

/* Pack content, append it to body and add it to the table. Frees content. */
static taper_status add_section(uint32_t type, formats_buffer *content, int level,
                                formats_buffer *table, formats_buffer *body) {
    size_t bound = ZSTD_compressBound(content->size), start = body->size, stored = content->size;
    taper_status status = content->status;
    uint8_t *to = status == TAPER_OK ? formats_buffer_extend(body, bound) : NULL;
    size_t packed = 0;
    if (status == TAPER_OK) status = body->status;
    if (status == TAPER_OK) status = pack(content, level, to, bound, body->account, &packed);
    if (status != TAPER_OK) {
        formats_buffer_free(content);
        return status;
    }
    if (level && packed < content->size && content->size <= most_unpacked(type, packed))
        stored = packed;
    else if (content->size)
        memcpy(to, content->data, content->size);
    body->size = start + stored;
    formats_write_u32le(table, type);
    formats_write_u32le(table, formats_crc32c(0, body->data + start, stored));
    formats_write_u64le(table, stored);
    formats_write_u64le(table, content->size);
    formats_buffer_free(content);
    return table->status;
}

static void write_header(const formats_front *f, uint32_t sections, uint8_t *h) {
    memcpy(h, magic, sizeof magic);
    formats_set_u16le(h + 8, FORMATS_CONTAINER_VERSION);
    h[10] = f->layout;
    h[11] = f->tail;
    formats_set_u32le(h + 12, (f->rate_classes > 1 ? FORMATS_FEATURE_RATE_CLASSES : 0) +
                                  (f->raised_at ? FORMATS_FEATURE_RAISED : 0));
    formats_set_u32le(h + 16, (uint32_t)f->holds);
    formats_set_u64le(h + 24, f->model_id);
    formats_set_u64le(h + 32, f->images);
    formats_set_u32le(h + 40, f->groups);
    formats_set_u32le(h + 44, f->layers);
    formats_set_u32le(h + 48, sections);
    formats_set_u32le(h + 52, (uint32_t)(f->holds >> 32));
}

taper_status formats_front_write(formats_front *f, formats_buffer *out, taper_error *error) {
    enum { LEVEL = 19 };
    formats_buffer table = formats_buffer_make(1 << 16),
                   body = formats_buffer_make(FORMATS_MOST_BYTES);
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    body.account = content.account = formats_front_account(f);
    formats_directory_write(f, &content);
    taper_status status = add_section(DIRECTORY, &content, LEVEL, &table, &body);
    if (status == TAPER_OK && f->search_codes) {
        formats_search_codes_write(f, &content);
        status = add_section(SEARCH, &content, LEVEL, &table, &body);
    }
    if (status == TAPER_OK && f->names) {
        formats_names_write(f, &content);
        status = add_section(NAMES, &content, LEVEL, &table, &body);
    }
    if (status == TAPER_OK && f->label) {
        formats_labels_section_write(f, &content);
        status = add_section(LABELS, &content, LEVEL, &table, &body);
    }
    if (status == TAPER_OK && f->model) {
        formats_write_bytes(&content, f->model, f->model_size);
        status = add_section(MODEL, &content, 0, &table, &body);
    }
    if (status == TAPER_OK && f->search_model) {
        formats_write_bytes(&content, f->search_model, f->search_model_size);
        status = add_section(SEARCH_MODEL, &content, 0, &table, &body);
    }
    uint8_t header[FORMATS_HEADER_SIZE] = {0};
    write_header(f, (uint32_t)(table.size / FORMATS_SECTION_SIZE), header);
    if (status == TAPER_OK) {
        formats_set_u32le(header + 20, formats_crc32c(formats_crc32c(0, header, sizeof header),
                                                      table.data, table.size));
        f->front_size = sizeof header + table.size + body.size;
        formats_write_bytes(out, header, sizeof header);
        formats_write_bytes(out, table.data, table.size);
        status = formats_write_bytes(out, body.data, body.size);
    }
    formats_buffer_free(&table), formats_buffer_free(&body), formats_buffer_free(&content);
    if (status == TAPER_ERR_LIMIT && f->account.limit)
        return formats_front_refuse(f, formats_account_left(&f->account) + 1, error);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory for the container's front matter");
}
