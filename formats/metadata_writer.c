/* metadata_writer.c -- see metadata_writer.h. */
#include "formats/metadata_writer.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A payload that is stored already. */
typedef struct known_payload {
    XXH128_hash_t hash;
    uint32_t number; /* from 1; 0: an empty place of the table */
} known_payload;

struct formats_metadata_writer {
    formats_buffer records;     /* of the images so far */
    formats_buffer sizes;       /* varint of each payload */
    formats_buffer page_counts; /* varint of each page: its payloads */
    formats_buffer page;        /* the payloads of the last page */
    formats_buffer packed;      /* the pages before it */
    uint32_t payloads, pages, in_page;
    uint64_t images;
    known_payload *known; /* [capacity] open addressing; at most half full */
    size_t capacity;
    uint32_t last[FORMATS_METADATA_BLOBS]; /* number of the last payload of each kind, from 1 */
    int64_t *time;
    size_t times, time_capacity;
};

formats_metadata_writer *formats_metadata_writer_new(void) {
    formats_metadata_writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->records = formats_buffer_make(FORMATS_MOST_BYTES);
    w->sizes = formats_buffer_make(FORMATS_MOST_BYTES);
    w->page_counts = formats_buffer_make(FORMATS_MOST_BYTES);
    w->page = formats_buffer_make(FORMATS_MOST_BYTES);
    w->packed = formats_buffer_make(FORMATS_MOST_BYTES);
    return w;
}

void formats_metadata_writer_free(formats_metadata_writer *w) {
    if (!w) return;
    formats_buffer_free(&w->records), formats_buffer_free(&w->sizes);
    formats_buffer_free(&w->page_counts), formats_buffer_free(&w->page);
    formats_buffer_free(&w->packed);
    free(w->known), free(w->time);
    free(w);
}

/* --- ranges ------------------------------------------------------------------------------ */

static const uint32_t most_number = INT32_MAX;

static int is_payload(const void *bytes, size_t size) {
    return bytes ? size >= 1 && size <= FORMATS_MOST_PAYLOAD : size == 0;
}

static int are_chromaticities(const uint32_t *c) {
    for (int i = 0; i < 8; i++)
        if (c[i] > most_number) return 0;
    return 1;
}

taper_status formats_metadata_check(const taper_metadata *m, taper_error *error) {
    if (!is_payload(m->icc, m->icc_size) || !is_payload(m->exif, m->exif_size) ||
        !is_payload(m->xmp, m->xmp_size))
        return formats_fail(error, TAPER_ERR_ARG,
                            "a colour profile, EXIF or XMP is empty or above %zu bytes",
                            TAPER_MOST_METADATA);
    if (m->has_cicp && m->cicp[3] > 1)
        return formats_fail(error, TAPER_ERR_ARG, "cicp[3] is %u: it is 0 or 1", m->cicp[3]);
    if (m->gamma > most_number || !are_chromaticities(m->chromaticities))
        return formats_fail(error, TAPER_ERR_ARG, "gamma or a chromaticity is 2^31 or more");
    if (m->density_x > most_number || m->density_y > most_number || !m->density_x != !m->density_y)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the density is %u x %u: both below 2^31, and both 0 or neither",
                            m->density_x, m->density_y);
    return TAPER_OK;
}

/* --- payloads ---------------------------------------------------------------------------- */

/* The place of a payload in the table, or the empty one where it belongs. */
static known_payload *find_known(const formats_metadata_writer *w, XXH128_hash_t hash) {
    size_t at = hash.low64 & (w->capacity - 1);
    while (w->known[at].number && !XXH128_isEqual(w->known[at].hash, hash))
        at = (at + 1) & (w->capacity - 1);
    return &w->known[at];
}

static taper_status grow_known(formats_metadata_writer *w) {
    known_payload *old = w->known;
    const size_t before = w->capacity;
    if (2 * ((size_t)w->payloads + 1) <= before) return TAPER_OK;
    known_payload *larger = calloc(before ? 2 * before : 64, sizeof *larger);
    if (!larger) return TAPER_ERR_NOMEM;
    w->known = larger, w->capacity = before ? 2 * before : 64;
    for (size_t i = 0; i < before; i++)
        if (old[i].number) *find_known(w, old[i].hash) = old[i];
    free(old);
    return TAPER_OK;
}

static taper_status end_page(formats_metadata_writer *w) {
    if (!w->in_page) return TAPER_OK;
    TAPER_TRY(formats_write_varint(&w->page_counts, w->in_page));
    TAPER_TRY(formats_part_write(&w->page, FORMATS_PACK_LEVEL, &w->packed)); /* frees the page */
    w->pages++, w->in_page = 0;
    return TAPER_OK;
}

/* *number: of the payload, from 1; it is stored unless it is known. */
static taper_status store(formats_metadata_writer *w, const void *bytes, size_t size,
                          uint32_t *number) {
    TAPER_TRY(grow_known(w));
    const XXH128_hash_t hash = XXH3_128bits(bytes, size);
    known_payload *known = find_known(w, hash);
    if (!known->number) {
        TAPER_TRY(formats_write_bytes(&w->page, bytes, size));
        TAPER_TRY(formats_write_varint(&w->sizes, size));
        *known = (known_payload){hash, ++w->payloads};
        w->in_page++;
    }
    *number = known->number;
    return w->page.size >= FORMATS_METADATA_PAGE ? end_page(w) : TAPER_OK;
}

/* --- images ------------------------------------------------------------------------------ */

static uint8_t kinds_of(const taper_metadata *m) {
    uint8_t what = 0;
    int any = 0;
    for (int i = 0; i < 8; i++) any |= m->chromaticities[i] != 0;
    if (m->icc) what |= FORMATS_METADATA_ICC;
    if (m->exif) what |= FORMATS_METADATA_EXIF;
    if (m->xmp) what |= FORMATS_METADATA_XMP;
    if (m->has_cicp) what |= FORMATS_METADATA_CICP;
    if (m->gamma) what |= FORMATS_METADATA_GAMMA;
    if (any) what |= FORMATS_METADATA_CHROMATICITIES;
    if (m->density_x) what |= FORMATS_METADATA_DENSITY;
    if (m->has_modified) what |= FORMATS_METADATA_MODIFIED;
    return what;
}

static taper_status add_payload(formats_metadata_writer *w, int kind, const void *bytes,
                                size_t size) {
    uint32_t number = 0;
    const uint32_t before = w->payloads;
    TAPER_TRY(store(w, bytes, size, &number));
    const uint64_t said = number > before ? 0 : number == w->last[kind] ? 1 : (uint64_t)number + 1;
    w->last[kind] = number;
    return formats_write_varint(&w->records, said);
}

static taper_status add_time(formats_metadata_writer *w, int64_t time) {
    if (!formats_grow(&w->time, w->times, &w->time_capacity, sizeof *w->time))
        return TAPER_ERR_NOMEM;
    w->time[w->times++] = time;
    return TAPER_OK;
}

static taper_status add_numbers(formats_metadata_writer *w, uint8_t what, const taper_metadata *m) {
    formats_buffer *to = &w->records;
    if (what & FORMATS_METADATA_CICP) formats_write_bytes(to, m->cicp, sizeof m->cicp);
    if (what & FORMATS_METADATA_GAMMA) formats_write_varint(to, m->gamma);
    for (int i = 0; i < 8 && what & FORMATS_METADATA_CHROMATICITIES; i++)
        formats_write_varint(to, m->chromaticities[i]);
    if (what & FORMATS_METADATA_DENSITY) {
        formats_write_varint(to, m->density_x);
        formats_write_varint(to, m->density_y);
        formats_write_u8(to, m->density_is_ratio != 0);
    }
    return to->status;
}

static taper_status skip_to(formats_metadata_writer *w, uint64_t image) {
    if (image < w->images) return TAPER_ERR_ARG;
    uint8_t *none = formats_buffer_extend(&w->records, (size_t)(image - w->images));
    if (none) memset(none, 0, (size_t)(image - w->images));
    w->images = image;
    return w->records.status;
}

taper_status formats_metadata_writer_add(formats_metadata_writer *w, uint64_t image,
                                         const taper_metadata *m) {
    const uint8_t what = kinds_of(m);
    if (!what) return image < w->images ? TAPER_ERR_ARG : TAPER_OK;
    TAPER_TRY(skip_to(w, image));
    w->images++;
    TAPER_TRY(formats_write_u8(&w->records, what));
    if (m->icc) TAPER_TRY(add_payload(w, 0, m->icc, m->icc_size));
    if (m->exif) TAPER_TRY(add_payload(w, 1, m->exif, m->exif_size));
    if (m->xmp) TAPER_TRY(add_payload(w, 2, m->xmp, m->xmp_size));
    TAPER_TRY(add_numbers(w, what, m));
    return m->has_modified ? add_time(w, m->modified_ns) : TAPER_OK;
}

uint64_t formats_metadata_writer_need(const formats_metadata_writer *w, const taper_metadata *m) {
    enum { RECORD = 128, PACKING = 22 }; /* PACKING: for each byte of a page; packed.c */
    const uint64_t size = (uint64_t)m->icc_size + m->exif_size + m->xmp_size;
    const uint64_t page = w->page.size + size;
    const int ends = page >= FORMATS_METADATA_PAGE;
    return 3 * size + RECORD + formats_metadata_writer_bytes(w) +
           (ends ? PACKING * page + ((uint64_t)4 << 20) : 0);
}

uint64_t formats_metadata_writer_bytes(const formats_metadata_writer *w) {
    return sizeof *w + w->records.capacity + w->sizes.capacity + w->page_counts.capacity +
           w->page.capacity + w->packed.capacity + w->capacity * sizeof *w->known +
           w->time_capacity * sizeof *w->time;
}

/* --- the content ------------------------------------------------------------------------- */

/* The largest unit, as a power of ten, in which all times are whole. */
static uint8_t unit_of(const formats_metadata_writer *w, int64_t *size) {
    uint8_t unit = 0;
    *size = 1;
    for (; unit < FORMATS_METADATA_MOST_UNIT; unit++, *size *= 10)
        for (size_t i = 0; i < w->times; i++)
            if (w->time[i] % (*size * 10)) return unit;
    return unit;
}

static void write_times(const formats_metadata_writer *w, formats_buffer *index) {
    int64_t size, before = 0;
    if (!w->times) return;
    formats_write_u8(index, unit_of(w, &size));
    for (size_t i = 0; i < w->times; i++) {
        const int64_t time = w->time[i] / size;
        formats_write_varint(index, formats_zigzag((uint64_t)time - (uint64_t)before));
        before = time;
    }
}

taper_status formats_metadata_writer_finish(formats_metadata_writer *w, uint64_t images,
                                            formats_buffer *out) {
    formats_buffer index = formats_buffer_make(FORMATS_MOST_BYTES);
    if (!w->images) return TAPER_OK;
    TAPER_TRY(end_page(w));
    TAPER_TRY(skip_to(w, images));
    formats_write_varint(&index, w->payloads);
    formats_write_bytes(&index, w->sizes.data, w->sizes.size);
    formats_write_varint(&index, w->pages);
    formats_write_bytes(&index, w->page_counts.data, w->page_counts.size);
    formats_write_bytes(&index, w->records.data, w->records.size);
    write_times(w, &index);
    TAPER_TRY(formats_part_write(&index, FORMATS_PACK_LEVEL, out)); /* frees the index */
    return formats_write_bytes(out, w->packed.data, w->packed.size);
}
