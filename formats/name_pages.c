/* name_pages.c -- see name_pages.h; SPEC.md, "Pages of names". */
#include "formats/name_pages.h"
#include "formats/packed.h"
#include <stdlib.h>
#include <string.h>

enum { MORE_BITS = 5 }; /* of a hash than tell as many names apart: few false leaves are read */

/* --- writing --------------------------------------------------------------------------- */

static uint8_t bits_of(uint32_t n) {
    uint8_t bits = 0;
    for (; n; n >>= 1) bits++;
    return bits;
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Entries, hash << 32 | leaf, in order and without repetition; returns their number. */
static size_t list_entries(const formats_front *f, const formats_root *r, uint64_t *entry) {
    size_t n = 0;
    for (uint32_t k = 0; k < r->leaves; k++)
        for (uint32_t i = r->leaf[k].first_image; i < r->leaf[k + 1].first_image; i++)
            entry[n++] = (uint64_t)formats_root_hash(r, formats_front_name(f, i)) << 32 | k;
    qsort(entry, n, sizeof *entry, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || entry[kept - 1] != entry[i]) entry[kept++] = entry[i];
    return kept;
}

/* Append the page of n entries; the first hash counts from `base`. */
static taper_status write_page(const uint64_t *entry, size_t n, uint64_t base,
                               formats_buffer *out) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = out->account;
    if (!n) return TAPER_OK;
    formats_write_varint(&content, n);
    for (size_t i = 0; i < n; base = entry[i++] >> 32)
        formats_write_varint(&content, (entry[i] >> 32) - base);
    for (size_t i = 0; i < n; i++) formats_write_varint(&content, (uint32_t)entry[i]);
    return formats_part_write(&content, FORMATS_PACK_LEVEL, out);
}

static taper_status write_pages(const uint64_t *entry, size_t n, formats_root *r,
                                formats_buffer *out) {
    const size_t start = out->size;
    const uint32_t pages = formats_root_pages(r);
    for (uint32_t p = 0; p < pages; p++) {
        size_t end = 0;
        while (end < n && formats_root_page(r, (uint32_t)(entry[end] >> 32)) == p) end++;
        const size_t at = out->size;
        TAPER_TRY(write_page(entry, end, (uint64_t)p << (r->hash_bits - r->page_bits), out));
        r->page_at[p + 1] = out->size - start;
        r->page_crc[p] = formats_crc32c(0, out->data + at, out->size - at);
        if (out->size - at > UINT32_MAX) return TAPER_ERR_LIMIT;
        entry += end, n -= end;
    }
    return TAPER_OK;
}

taper_status formats_name_pages_write(const formats_front *f, formats_root *r, uint32_t each,
                                      formats_buffer *out) {
    const uint64_t bytes = ((uint64_t)f->images + 1) * sizeof(uint64_t);
    const uint8_t bits = bits_of(f->images - 1), most = FORMATS_MOST_HASH_BITS;
    r->find = FORMATS_FIND_HASHED;
    r->hash_bits = bits + MORE_BITS < most ? (uint8_t)(bits + MORE_BITS) : most;
    r->page_bits = bits_of((f->images - 1) / each);
    if (r->page_bits > FORMATS_MOST_PAGE_BITS) r->page_bits = FORMATS_MOST_PAGE_BITS;
    const uint32_t pages = formats_root_pages(r);
    r->page_at = calloc((size_t)pages + 1, sizeof *r->page_at);
    r->page_crc = calloc(pages, sizeof *r->page_crc);
    if (!r->page_at || !r->page_crc) return TAPER_ERR_NOMEM;
    TAPER_TRY(formats_account_take(out->account, bytes));
    uint64_t *entry = malloc((size_t)bytes);
    const taper_status status =
        entry ? write_pages(entry, list_entries(f, r, entry), r, out) : TAPER_ERR_NOMEM;
    free(entry);
    formats_account_give(out->account, bytes);
    return status;
}

/* --- reading --------------------------------------------------------------------------- */

/* Check all entries of a page; leaves of the hash go to `to` [n], if that is not NULL. */
static taper_status read_entries(const formats_root *r, uint32_t p, formats_cursor *in,
                                 uint32_t hash, uint32_t *to, uint32_t *n, taper_error *error) {
    const unsigned low = r->hash_bits - r->page_bits;
    const uint64_t base = (uint64_t)p << low, end = base + ((uint64_t)1 << low);
    const uint64_t entries = formats_read_varint(in);
    int ascend = entries > 0 && entries <= formats_cursor_left(in) / 2;
    formats_cursor leaves = *in;
    for (uint64_t i = 0; ascend && i < entries; i++) (void)formats_read_varint(&leaves);
    uint64_t h = base, before = 0;
    *n = 0;
    for (uint64_t i = 0; ascend && i < entries; i++) {
        const uint64_t step = formats_read_varint_max(in, end - h - 1);
        const uint64_t leaf = formats_read_varint_max(&leaves, r->leaves - 1);
        ascend = !i || step || leaf > before;
        h += step, before = leaf;
        if (h != hash) continue;
        if (to) to[*n] = (uint32_t)leaf;
        ++*n;
    }
    if (in->status == TAPER_OK && leaves.status == TAPER_OK && ascend &&
        !formats_cursor_left(&leaves))
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "entries");
}

static taper_status collect(const formats_root *r, uint32_t p, formats_cursor in, uint32_t hash,
                            uint32_t **leaves, uint32_t *n, taper_error *error) {
    formats_cursor again = in;
    TAPER_TRY(read_entries(r, p, &in, hash, NULL, n, error));
    if (!*n) return TAPER_OK;
    *leaves = calloc(*n, sizeof **leaves);
    if (!*leaves) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u leaves", *n);
    return read_entries(r, p, &again, hash, *leaves, n, error);
}

taper_status formats_name_page_find(const formats_root *r, formats_front *f, uint32_t p,
                                    const uint8_t *bytes, uint32_t hash, uint32_t **leaves,
                                    uint32_t *n, taper_error *error) {
    taper_error why = {0};
    formats_cursor in = formats_cursor_over(bytes, (size_t)(r->page_at[p + 1] - r->page_at[p]));
    uint8_t *content = NULL;
    uint64_t size = 0;
    *leaves = NULL;
    *n = 0;
    taper_status status = TAPER_OK;
    if (formats_crc32c(0, bytes, in.size) != r->page_crc[p])
        status = formats_fail(&why, TAPER_ERR_CORRUPT, "checksum");
    if (!in.size && status == TAPER_OK) return TAPER_OK;
    if (status == TAPER_OK) status = formats_part_read(f, &in, "page", &content, &size, &why);
    if (status == TAPER_OK && formats_cursor_left(&in)) status = TAPER_ERR_CORRUPT;
    if (status == TAPER_OK)
        status = collect(r, p, formats_cursor_over(content, (size_t)size), hash, leaves, n, &why);
    formats_unpack_free(f, content, size);
    if (status == TAPER_OK) return TAPER_OK;
    free(*leaves);
    *leaves = NULL, *n = 0;
    if (status == TAPER_ERR_LIMIT || status == TAPER_ERR_NOMEM) {
        if (error) *error = why;
        return status;
    }
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "page %u of the names is damaged (%s); fetch the file again", p, why.text);
}
