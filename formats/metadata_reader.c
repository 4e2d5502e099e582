/* metadata_reader.c -- see metadata_reader.h. */
#include "formats/metadata_reader.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>

/* What an image has. */
typedef struct image_record {
    uint32_t payload[FORMATS_METADATA_BLOBS]; /* numbers from 0 */
    uint32_t numbers_at;                      /* of cICP to density, in the index */
    int64_t modified_ns;
    uint8_t what;
} image_record;

/* A page in memory. Each kind of payload has its own, so that the payloads of one image may lie in
 * several pages. */
typedef struct open_page {
    uint8_t *bytes; /* NULL: none */
    uint64_t size;
    uint32_t page;
} open_page;

struct formats_metadata_reader {
    formats_front charge; /* only its account is used, by packed.h */
    formats_cursor content;
    uint8_t *index;
    uint64_t index_size;
    image_record *record; /* [images]; NULL: no image has metadata */
    uint32_t images, payloads, pages;
    uint64_t *payload_at; /* [payloads + 1] as if all pages were one */
    uint32_t *page_first; /* [pages + 1] the first payload */
    size_t *page_at;      /* [pages] in the content */
    open_page open[FORMATS_METADATA_BLOBS];
    formats_metadata_counts counts;
};

static taper_status illegal(const char *what, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT, "the metadata of the container is damaged: %s",
                        what);
}

/* --- the index --------------------------------------------------------------------------- */

static taper_status read_payload_sizes(formats_metadata_reader *r, formats_cursor *in,
                                       taper_error *error) {
    r->payloads = (uint32_t)formats_read_varint_max(
        in, formats_smaller((size_t)UINT32_MAX - 1, formats_cursor_left(in)));
    TAPER_TRY(formats_cursor_check(in, "metadata", error));
    TAPER_TRY(
        formats_front_take(&r->charge, r->payloads, sizeof *r->payload_at, &r->payload_at, error));
    for (uint32_t k = 0; k < r->payloads; k++) {
        const uint64_t size = formats_read_varint_max(in, FORMATS_MOST_PAYLOAD);
        if (!size && in->status == TAPER_OK) return illegal("a payload is empty", error);
        r->payload_at[k + 1] = r->payload_at[k] + size;
    }
    return formats_cursor_check(in, "metadata", error);
}

static taper_status read_pages(formats_metadata_reader *r, formats_cursor *in, taper_error *error) {
    r->pages = (uint32_t)formats_read_varint_max(in, r->payloads);
    TAPER_TRY(
        formats_front_take(&r->charge, r->pages, sizeof *r->page_first, &r->page_first, error));
    TAPER_TRY(formats_front_take(&r->charge, r->pages, sizeof *r->page_at, &r->page_at, error));
    for (uint32_t p = 0; p < r->pages; p++) {
        const uint32_t first = r->page_first[p];
        const uint32_t n = (uint32_t)formats_read_varint_max(in, r->payloads - first);
        TAPER_TRY(formats_cursor_check(in, "metadata", error));
        if (!n || r->payload_at[first + n - 1] - r->payload_at[first] >= FORMATS_METADATA_PAGE)
            return illegal("a page has no payload, or too many", error);
        r->page_first[p + 1] = first + n;
    }
    return r->page_first[r->pages] == r->payloads ? TAPER_OK
                                                  : illegal("payloads are in no page", error);
}

/* Payloads are numbered in the order in which images refer to them first. */
static taper_status read_reference(const formats_metadata_reader *r, formats_cursor *in,
                                   uint32_t last[], int kind, uint32_t *next, uint32_t *payload,
                                   taper_error *error) {
    const uint64_t said = formats_read_varint_max(in, (uint64_t)*next + 1);
    TAPER_TRY(formats_cursor_check(in, "metadata", error));
    if (said == 1 && last[kind] == UINT32_MAX)
        return illegal("an image repeats a payload that none has", error);
    *payload = said == 0 ? (*next)++ : said == 1 ? last[kind] : (uint32_t)said - 2;
    if (*payload >= r->payloads) return illegal("an image has a payload that is not there", error);
    last[kind] = *payload;
    return TAPER_OK;
}

/* cICP to density. With `to` NULL they are only checked. */
static int read_numbers(formats_cursor *in, uint8_t what, taper_metadata *to) {
    static const uint32_t most = INT32_MAX;
    taper_metadata m = {0};
    int is_legal = 1;
    if (what & FORMATS_METADATA_CICP) {
        const uint8_t *cicp = formats_read_bytes(in, sizeof m.cicp);
        if (cicp) memcpy(m.cicp, cicp, sizeof m.cicp);
        is_legal &= m.cicp[3] <= 1;
    }
    if (what & FORMATS_METADATA_GAMMA) {
        m.gamma = (uint32_t)formats_read_varint_max(in, most);
        is_legal &= m.gamma > 0;
    }
    if (what & FORMATS_METADATA_CHROMATICITIES) {
        uint32_t any = 0;
        for (int i = 0; i < 8; i++)
            any |= m.chromaticities[i] = (uint32_t)formats_read_varint_max(in, most);
        is_legal &= any != 0;
    }
    if (what & FORMATS_METADATA_DENSITY) {
        m.density_x = (uint32_t)formats_read_varint_max(in, most);
        m.density_y = (uint32_t)formats_read_varint_max(in, most);
        m.density_is_ratio = formats_read_u8(in);
        is_legal &= m.density_x > 0 && m.density_y > 0 && m.density_is_ratio <= 1;
    }
    if (in->status != TAPER_OK) return 0;
    m.has_cicp = (what & FORMATS_METADATA_CICP) != 0;
    if (to) *to = m;
    return is_legal;
}

static taper_status read_record(formats_metadata_reader *r, formats_cursor *in, uint32_t last[],
                                uint32_t *next, image_record *record, taper_error *error) {
    record->what = formats_read_u8(in);
    for (int kind = 0; kind < FORMATS_METADATA_BLOBS; kind++)
        if (record->what >> kind & 1)
            TAPER_TRY(read_reference(r, in, last, kind, next, &record->payload[kind], error));
    record->numbers_at = (uint32_t)in->at;
    if (!read_numbers(in, record->what, NULL))
        return illegal("a number of an image is not legal, or missing", error);
    for (int kind = 0; kind < 8; kind++) r->counts.images[kind] += record->what >> kind & 1;
    return TAPER_OK;
}

static taper_status read_records(formats_metadata_reader *r, formats_cursor *in,
                                 taper_error *error) {
    uint32_t last[FORMATS_METADATA_BLOBS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, next = 0;
    if (formats_cursor_left(in) < r->images) return illegal("it lacks images", error);
    TAPER_TRY(formats_front_take(&r->charge, r->images, sizeof *r->record, &r->record, error));
    for (uint32_t i = 0; i < r->images; i++)
        TAPER_TRY(read_record(r, in, last, &next, &r->record[i], error));
    return next == r->payloads ? TAPER_OK : illegal("no image has one of its payloads", error);
}

static taper_status read_times(formats_metadata_reader *r, formats_cursor *in, taper_error *error) {
    int64_t size = 1, before = 0;
    if (!r->counts.images[7]) return TAPER_OK;
    unsigned unit = formats_read_u8(in);
    if (unit > FORMATS_METADATA_MOST_UNIT) return illegal("times have no legal unit", error);
    while (unit--) size *= 10;
    for (uint32_t i = 0; i < r->images; i++) {
        if (!(r->record[i].what & FORMATS_METADATA_MODIFIED)) continue;
        before = (int64_t)((uint64_t)before + formats_unzigzag(formats_read_varint(in)));
        if (before > INT64_MAX / size || before < INT64_MIN / size)
            return illegal("a time is out of range", error);
        r->record[i].modified_ns = before * size;
    }
    return TAPER_OK;
}

static taper_status read_index(formats_metadata_reader *r, taper_error *error) {
    TAPER_TRY(
        formats_part_read(&r->charge, &r->content, "metadata", &r->index, &r->index_size, error));
    if (r->index_size > UINT32_MAX) return illegal("it claims an impossible size", error);
    formats_cursor in = formats_cursor_over(r->index, (size_t)r->index_size);
    TAPER_TRY(read_payload_sizes(r, &in, error));
    TAPER_TRY(read_pages(r, &in, error));
    TAPER_TRY(read_records(r, &in, error));
    TAPER_TRY(read_times(r, &in, error));
    TAPER_TRY(formats_cursor_check(&in, "metadata", error));
    return formats_cursor_left(&in) ? illegal("bytes follow its index", error) : TAPER_OK;
}

/* --- pages ------------------------------------------------------------------------------- */

/* The bytes of a page, unpacked. */
static uint64_t page_size(const formats_metadata_reader *r, uint32_t page) {
    return r->payload_at[r->page_first[page + 1]] - r->payload_at[r->page_first[page]];
}

/* Note where pages begin, and check their sizes. */
static taper_status find_pages(formats_metadata_reader *r, taper_error *error) {
    formats_cursor *in = &r->content;
    for (uint32_t p = 0; p < r->pages; p++) {
        r->page_at[p] = in->at;
        const uint64_t unpacked = formats_read_varint(in), stored = formats_read_varint(in);
        formats_read_bytes(in, stored <= formats_cursor_left(in) ? (size_t)stored : SIZE_MAX);
        TAPER_TRY(formats_cursor_check(in, "metadata", error));
        if (unpacked != page_size(r, p) ||
            !formats_packed_is_bounded(FORMATS_PACKED_USUAL, stored, unpacked))
            return illegal("a page has another size than its payloads", error);
    }
    return formats_cursor_left(in) ? illegal("bytes follow its pages", error) : TAPER_OK;
}

static void close_page(formats_metadata_reader *r, open_page *open) {
    formats_unpack_free(&r->charge, open->bytes, open->size);
    *open = (open_page){0};
}

static uint32_t page_of(const formats_metadata_reader *r, uint32_t payload) {
    uint32_t low = 0, high = r->pages;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->page_first[middle] <= payload)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static taper_status need_page(formats_metadata_reader *r, open_page *open, uint32_t page,
                              taper_error *error) {
    if (open->bytes && open->page == page) return TAPER_OK;
    close_page(r, open);
    formats_cursor in = formats_cursor_over(r->content.bytes, r->content.size);
    in.at = r->page_at[page];
    open->page = page;
    return formats_part_read(&r->charge, &in, "metadata", &open->bytes, &open->size, error);
}

/* --- images ------------------------------------------------------------------------------ */

static taper_status find_payload(formats_metadata_reader *r, const image_record *record, int kind,
                                 const void **bytes, size_t *size, taper_error *error) {
    if (!(record->what >> kind & 1)) return TAPER_OK;
    const uint32_t k = record->payload[kind], page = page_of(r, k);
    TAPER_TRY(need_page(r, &r->open[kind], page, error));
    *bytes = r->open[kind].bytes + (r->payload_at[k] - r->payload_at[r->page_first[page]]);
    *size = (size_t)(r->payload_at[k + 1] - r->payload_at[k]);
    return TAPER_OK;
}

static taper_status find_payloads(formats_metadata_reader *r, const image_record *record,
                                  taper_metadata *m, taper_error *error) {
    TAPER_TRY(find_payload(r, record, 0, &m->icc, &m->icc_size, error));
    TAPER_TRY(find_payload(r, record, 1, &m->exif, &m->exif_size, error));
    return find_payload(r, record, 2, &m->xmp, &m->xmp_size, error);
}

taper_status formats_metadata_reader_get(formats_metadata_reader *r, uint32_t i,
                                         taper_metadata *out, taper_error *error) {
    *out = (taper_metadata){.size = sizeof *out};
    if (!r->record) return TAPER_OK;
    const image_record *record = &r->record[i];
    formats_cursor in = formats_cursor_over(r->index, (size_t)r->index_size);
    in.at = record->numbers_at;
    read_numbers(&in, record->what, out);
    out->size = sizeof *out;
    out->has_modified = (record->what & FORMATS_METADATA_MODIFIED) != 0;
    out->modified_ns = record->modified_ns;
    const taper_status status = find_payloads(r, record, out, error);
    if (status != TAPER_OK) *out = (taper_metadata){.size = sizeof *out};
    return status;
}

taper_status formats_metadata_reader_check(formats_metadata_reader *r, taper_error *error) {
    taper_status status = TAPER_OK;
    for (uint32_t p = 0; p < r->pages && status == TAPER_OK; p++)
        status = need_page(r, &r->open[0], p, error);
    return status;
}

formats_metadata_counts formats_metadata_reader_counts(const formats_metadata_reader *r) {
    return r->counts;
}

/* --- opening ----------------------------------------------------------------------------- */

/* A complete section that ends inside a field is corrupt, not truncated. */
static taper_status read_all(formats_metadata_reader *r, taper_error *error) {
    taper_status status = read_index(r, error);
    if (status == TAPER_OK) status = find_pages(r, error);
    if (status != TAPER_ERR_TRUNCATED) return status;
    return illegal("it ends early", error);
}

taper_status formats_metadata_reader_open(formats_metadata_reader **out, const formats_front *front,
                                          const taper_limits *given, taper_error *error) {
    const taper_limits all = formats_limits_or_default(given);
    const taper_limits limits = formats_limits_minus(&all, front->account.used);
    formats_metadata_reader *r = *out = calloc(1, sizeof *r);
    if (!r) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read metadata");
    r->charge.account = formats_account_within(&limits);
    r->images = front->images;
    if (!front->metadata) return TAPER_OK;
    r->content = formats_cursor_over(front->metadata, front->metadata_size);
    const taper_status status = read_all(r, error);
    if (status == TAPER_OK) {
        r->counts.payloads = r->payloads;
        r->counts.payload_bytes = r->payload_at[r->payloads];
        return TAPER_OK;
    }
    formats_metadata_reader_close(r);
    *out = NULL;
    return status;
}

void formats_metadata_reader_close(formats_metadata_reader *r) {
    if (!r) return;
    for (int kind = 0; kind < FORMATS_METADATA_BLOBS; kind++) free(r->open[kind].bytes);
    free(r->index), free(r->record), free(r->payload_at), free(r->page_first), free(r->page_at);
    free(r);
}
