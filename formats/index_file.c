/* index_file.c -- see index_file.h. */
#include "formats/index_file.h"
#include "formats/directory.h"
#include <string.h>

enum { TRAILER = 4 * FORMATS_INDEX_PARTS + 4, CHECKSUM_AT = 12 };

_Static_assert(FORMATS_INDEX_PART_AT + FORMATS_INDEX_PART_BYTES ==
                   FORMATS_INDEX_HEADER + FORMATS_INDEX_ALIGN,
               "the record of the part of a set ends where the shares begin");

static const uint8_t magic[8] = {0x89, 'T', 'P', 'X', 0x0D, 0x0A, 0x1A, 0x0A};

/* --- sizes and offsets ------------------------------------------------------------------ */

uint32_t formats_index_words(const formats_index_header *h) { return (h->bits + 63) / 64; }

uint32_t formats_index_layers(const formats_index_header *h) {
    uint32_t layers = 1;
    while (1u << (layers - 1) < formats_index_words(h)) layers++;
    return layers;
}

uint64_t formats_index_size(const formats_index_header *h, unsigned part) {
    switch (part) {
    case FORMATS_INDEX_WEIGHTS: return 2 * (uint64_t)formats_index_layers(h);
    case FORMATS_INDEX_SHARES: return 8 * (uint64_t)formats_index_layers(h);
    case FORMATS_INDEX_RECALLS: return 4 * FORMATS_INDEX_EFFORTS;
    case FORMATS_INDEX_START: return 4 * (((uint64_t)1 << h->table_bits) + 1);
    case FORMATS_INDEX_CODES: return 8 * h->codes * formats_index_words(h);
    case FORMATS_INDEX_IMAGE: return 4 * h->codes;
    case FORMATS_INDEX_NAMES: return h->names_size;
    case FORMATS_INDEX_LABELS: return h->labels_size;
    default: return TRAILER;
    }
}

static uint64_t padded(uint64_t size) {
    return (size + FORMATS_INDEX_ALIGN - 1) / FORMATS_INDEX_ALIGN * FORMATS_INDEX_ALIGN;
}

uint64_t formats_index_offset(const formats_index_header *header, unsigned part) {
    uint64_t at = FORMATS_INDEX_HEADER;
    for (unsigned p = 0; p < part; p++) at += padded(formats_index_size(header, p));
    return at;
}

uint64_t formats_index_file_size(const formats_index_header *header) {
    return formats_index_offset(header, FORMATS_INDEX_PARTS) + TRAILER;
}

/* --- the header ------------------------------------------------------------------------- */

static uint32_t header_checksum(const uint8_t *bytes) {
    uint8_t copy[FORMATS_INDEX_HEADER];
    memcpy(copy, bytes, sizeof copy);
    memset(copy + CHECKSUM_AT, 0, 4);
    return formats_crc32c(0, copy, sizeof copy);
}

static void put_header(const formats_index_header *h, uint8_t to[FORMATS_INDEX_HEADER]) {
    memset(to, 0, FORMATS_INDEX_HEADER);
    memcpy(to, magic, sizeof magic);
    formats_set_u16le(to + 8, FORMATS_INDEX_VERSION);
    formats_set_u32le(to + 16, h->bits);
    formats_set_u32le(to + 20, h->table_bits);
    formats_set_u64le(to + 24, h->codes);
    formats_set_u64le(to + 32, h->model_id);
    formats_set_u64le(to + 40, h->names_size);
    formats_set_u64le(to + 48, h->labels_size);
    formats_set_u32le(to + CHECKSUM_AT, header_checksum(to));
}

static taper_status get_header(const uint8_t *from, uint64_t size, formats_index_header *h,
                               taper_error *error) {
    if (size < sizeof magic || memcmp(from, magic, sizeof magic) != 0)
        return formats_fail_fact(error, TAPER_ERR_CORRUPT, TAPER_FACT_NO_INDEX, 0,
                                 "not an index (.tpx): the magic bytes are missing");
    if (size < FORMATS_INDEX_HEADER)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "the index's header is cut; copy the file again");
    if (formats_get_u16le(from + 8) > FORMATS_INDEX_VERSION || formats_get_u16le(from + 10))
        return formats_fail(error, TAPER_ERR_VERSION,
                            "the index is of version %u or has features that this build does not "
                            "know; update taper, or make it again",
                            formats_get_u16le(from + 8));
    *h = (formats_index_header){formats_get_u32le(from + 16), formats_get_u32le(from + 20),
                                formats_get_u64le(from + 24), formats_get_u64le(from + 32),
                                formats_get_u64le(from + 40), formats_get_u64le(from + 48)};
    if (!formats_get_u16le(from + 8) ||
        header_checksum(from) != formats_get_u32le(from + CHECKSUM_AT) ||
        formats_get_u64le(from + 56))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index's header is damaged (checksum); copy the file again");
    return TAPER_OK;
}

/* Check the ranges of the fields, then the length of the file. With at most 2^32 codes of 2^16
 * bits, and names no longer than the file, sizes do not overflow. */
static taper_status check_header(const formats_index_header *h, uint64_t size,
                                 const taper_limits *limits, taper_error *error) {
    if (h->bits < 1 || h->bits > FORMATS_INDEX_MOST_BITS || h->codes < 1 || h->codes > UINT32_MAX ||
        h->table_bits > FORMATS_INDEX_MOST_TABLE_BITS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index claims %llu codes of %u bits and a table by %u: out of "
                            "range; make it again",
                            (unsigned long long)h->codes, h->bits, h->table_bits);
    if (h->codes > limits->max_images)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, h->codes,
                                 "the index has %llu codes, more than the limit of %llu",
                                 (unsigned long long)h->codes,
                                 (unsigned long long)limits->max_images);
    if (h->names_size > size || h->labels_size > size || formats_index_file_size(h) > size)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "the index is cut: only %llu bytes of it are here; copy the file again",
                            (unsigned long long)size);
    if (formats_index_file_size(h) < size)
        return formats_fail(error, TAPER_ERR_CORRUPT, "%llu bytes follow the index's end",
                            (unsigned long long)(size - formats_index_file_size(h)));
    return TAPER_OK;
}

/* --- reading ---------------------------------------------------------------------------- */

const void *formats_index_part_at(const formats_index_file *file, unsigned part) {
    return file->bytes + formats_index_offset(&file->header, part);
}

static taper_status check_part(const formats_index_file *file, unsigned part, taper_error *error) {
    static const char *const what[FORMATS_INDEX_PARTS] = {"weights", "shares", "recalls", "table",
                                                          "codes",   "images", "names",   "labels"};
    const uint8_t *sums = formats_index_part_at(file, FORMATS_INDEX_PARTS);
    const uint64_t size = formats_index_size(&file->header, part);
    if (formats_crc32c(0, formats_index_part_at(file, part), (size_t)size) ==
        formats_get_u32le(sums + 4 * part))
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the index is damaged: the checksum of its %s does not hold; copy the "
                        "file again, or make it again",
                        what[part]);
}

taper_status formats_index_check_codes(const formats_index_file *file, taper_error *error) {
    return check_part(file, FORMATS_INDEX_CODES, error);
}

static uint32_t most_of(const uint32_t *number, uint64_t n) {
    uint32_t most = 0;
    for (uint64_t i = 0; i < n; i++)
        if (number[i] > most) most = number[i];
    return most;
}

/* 1 if all n numbers are in 0..most; NaN is not. */
static int are_within(const float *number, uint64_t n, float most) {
    for (uint64_t i = 0; i < n; i++)
        if (!(number[i] >= 0 && number[i] <= most)) return 0;
    return 1;
}

static taper_status check_numbers(const formats_index_file *file, taper_error *error) {
    const formats_index_header *h = &file->header;
    const uint16_t *weight = formats_index_part_at(file, FORMATS_INDEX_WEIGHTS);
    const float *share = formats_index_part_at(file, FORMATS_INDEX_SHARES);
    const float *recall = formats_index_part_at(file, FORMATS_INDEX_RECALLS);
    const uint32_t *image = formats_index_part_at(file, FORMATS_INDEX_IMAGE);
    const uint32_t *start = formats_index_part_at(file, FORMATS_INDEX_START);
    int weights_count = 1;
    for (uint32_t l = 0; l < formats_index_layers(h); l++) weights_count &= weight[l] > 0;
    if (weights_count && most_of(image, h->codes) < h->codes &&
        most_of(start, ((uint64_t)1 << h->table_bits) + 1) <= h->codes &&
        are_within(share, 2 * (uint64_t)formats_index_layers(h), FORMATS_INDEX_MOST_SHARE) &&
        are_within(recall, FORMATS_INDEX_EFFORTS, 1))
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "a number in the index is out of range, though its checksum holds; make "
                        "it again");
}

typedef taper_status section_reader(formats_front *f, formats_cursor *in, taper_error *error);

static taper_status read_section(formats_index_file *file, unsigned part, section_reader *read,
                                 const char *what, taper_error *error) {
    const uint64_t size = formats_index_size(&file->header, part);
    formats_cursor in = formats_cursor_over(formats_index_part_at(file, part), (size_t)size);
    if (!size) return TAPER_OK;
    TAPER_TRY(read(&file->set, &in, error));
    if (!formats_cursor_left(&in)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "bytes follow the index's %s", what);
}

static taper_status read_all(formats_index_file *file, taper_error *error) {
    TAPER_TRY(formats_index_part_get(file->bytes + FORMATS_INDEX_PART_AT, file->header.codes,
                                     &file->part, error));
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++)
        if (part != FORMATS_INDEX_CODES) TAPER_TRY(check_part(file, part, error));
    TAPER_TRY(check_numbers(file, error));
    TAPER_TRY(read_section(file, FORMATS_INDEX_NAMES, formats_names_view, "names", error));
    return read_section(file, FORMATS_INDEX_LABELS, formats_labels_section_read, "labels", error);
}

taper_status formats_index_open(formats_index_file *out, const void *bytes, uint64_t size,
                                const taper_limits *limits, taper_error *error) {
    const uint16_t one = 1;
    *out = (formats_index_file){.bytes = bytes};
    if (!bytes || (uintptr_t)bytes % 8)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the index must be at an address that is a multiple of 8");
    if (!*(const uint8_t *)&one)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "an index can be used on little-endian machines only");
    TAPER_TRY(get_header(bytes, size, &out->header, error));
    TAPER_TRY(check_header(&out->header, size, limits, error));
    const uint8_t *sums = formats_index_part_at(out, FORMATS_INDEX_PARTS);
    if (formats_crc32c(0, sums, TRAILER - 4) != formats_get_u32le(sums + TRAILER - 4))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index's end is damaged (checksum); copy the file again");
    out->set.images = (uint32_t)out->header.codes;
    out->set.account = formats_account_within(limits);
    taper_status status = read_all(out, error);
    if (status) formats_index_close(out);
    return status;
}

void formats_index_close(formats_index_file *file) {
    file->set.names = NULL; /* they are the file's own bytes */
    formats_front_free(&file->set);
    *file = (formats_index_file){0};
}

/* --- writing ---------------------------------------------------------------------------- */

taper_status formats_index_texts(const formats_front *set, formats_index_header *header,
                                 formats_buffer *names, formats_buffer *labels,
                                 taper_error *error) {
    *names = *labels = formats_buffer_make(FORMATS_MOST_BYTES);
    if (set->names) formats_names_write(set, names);
    if (set->label) formats_labels_section_write(set, labels);
    if (names->status || labels->status) {
        formats_buffer_free(names);
        formats_buffer_free(labels);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the index's names");
    }
    header->names_size = names->size;
    header->labels_size = labels->size;
    return TAPER_OK;
}

static void put_raw(formats_index_writer *w, const void *bytes, size_t n) {
    if (!w->status && n) w->status = w->sink->write(w->sink->user, bytes, n);
}

/* The record of the part of a set ends the padding of the weights. */
static void put_padding(formats_index_writer *w, size_t n) {
    uint8_t bytes[FORMATS_INDEX_ALIGN] = {0};
    if (w->part == FORMATS_INDEX_WEIGHTS && w->of_set.parts)
        formats_index_part_put(&w->of_set, bytes + n - FORMATS_INDEX_PART_BYTES);
    put_raw(w, bytes, n);
}

/* Pad the part that has ended and continue with the next part that is not empty. */
static void next_parts(formats_index_writer *w) {
    while (!w->left && w->part < FORMATS_INDEX_PARTS) {
        const uint64_t size = formats_index_size(&w->header, w->part);
        put_padding(w, (size_t)(padded(size) - size));
        w->part++;
        if (w->part < FORMATS_INDEX_PARTS) w->left = formats_index_size(&w->header, w->part);
    }
}

void formats_index_begin(formats_index_writer *w, const formats_index_header *header,
                         const taper_part *part, const taper_sink *sink) {
    uint8_t bytes[FORMATS_INDEX_HEADER];
    *w = (formats_index_writer){.header = *header, .sink = sink};
    if (part) w->of_set = *part;
    put_header(header, bytes);
    put_raw(w, bytes, sizeof bytes);
    w->left = formats_index_size(header, 0);
    next_parts(w);
}

void formats_index_put(formats_index_writer *w, const void *bytes, uint64_t n) {
    const uint8_t *at = bytes;
    while (n && !w->status && w->part < FORMATS_INDEX_PARTS) {
        const size_t piece = (size_t)(n < w->left ? n : w->left);
        put_raw(w, at, piece);
        w->checksum[w->part] = formats_crc32c(w->checksum[w->part], at, piece);
        at += piece;
        n -= piece;
        w->left -= piece;
        next_parts(w);
    }
}

taper_status formats_index_end(formats_index_writer *w) {
    uint8_t bytes[TRAILER];
    if (!w->status && w->part < FORMATS_INDEX_PARTS) return TAPER_ERR_ARG; /* parts are missing */
    for (unsigned p = 0; p < FORMATS_INDEX_PARTS; p++)
        formats_set_u32le(bytes + 4 * p, w->checksum[p]);
    formats_set_u32le(bytes + TRAILER - 4, formats_crc32c(0, bytes, TRAILER - 4));
    put_raw(w, bytes, sizeof bytes);
    return w->status;
}
