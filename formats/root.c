/* root.c -- see root.h; SPEC.md, "The root".
 *
 * Numbers are varints unless a type is given.
 *   rate classes, layers, chunks per checksum, as in directory.c
 *   bytes of each layer; pixels
 *   labels (u8): 0 or 1; classes: as in directory.c, if 1
 *   leaves: their number; images of each; groups of each; stored bytes of each; CRC-32C (u32) of
 *   each
 *   find (u8)
 *   1: of each leaf but the first: bytes that its separator shares with the one before; the other
 *      bytes, ended by a 0
 *   2: hash bits (u8), page bits (u8); of each page its stored bytes; of each its CRC-32C (u32) */
#include "formats/root.h"
#include "formats/directory.h"
#include <stdlib.h>
#include <string.h>

static taper_status corrupt(const char *what, taper_error *error) {
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the root of the front matter %s; fetch the file again", what);
}

/* --- reading --------------------------------------------------------------------------- */

static taper_status read_layer_bytes(formats_root *r, formats_front *f, formats_cursor *in,
                                     taper_error *error) {
    TAPER_TRY(formats_front_take(f, f->layers, sizeof *r->layer_at, &r->layer_at, error));
    for (uint32_t l = 0; l < f->layers; l++) {
        r->layer_at[l + 1] = r->layer_at[l] + formats_read_varint_max(in, (uint64_t)1 << 62);
        if (r->layer_at[l + 1] >= (uint64_t)1 << 62)
            return corrupt("has impossibly long layers", error);
    }
    f->data_bytes = r->layer_at[f->layers];
    r->pixels = formats_read_varint(in);
    r->has_labels = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "root: layers", error));
    if (r->has_labels > 1) return corrupt("has an illegal mark of labels", error);
    return r->has_labels ? formats_classes_read(f, in, error) : TAPER_OK;
}

/* Images and groups of the leaves, which have all of the header's. */
static taper_status read_counts(formats_root *r, const formats_front *f, formats_cursor *in,
                                taper_error *error) {
    for (uint32_t k = 0; k < r->leaves; k++) {
        const uint32_t first = r->leaf[k].first_image;
        const uint64_t images = formats_read_varint_max(in, f->images - first);
        if (in->status == TAPER_OK && !images) return corrupt("has a leaf without images", error);
        r->leaf[k + 1].first_image = first + (uint32_t)images;
    }
    for (uint32_t k = 0; k < r->leaves; k++) {
        const formats_leaf *leaf = &r->leaf[k];
        const uint32_t most = f->groups - leaf->first_group,
                       images = leaf[1].first_image - leaf->first_image;
        const uint64_t groups = formats_read_varint_max(in, most < images ? most : images);
        if (in->status == TAPER_OK && !groups) return corrupt("has a leaf without groups", error);
        r->leaf[k + 1].first_group = leaf->first_group + (uint32_t)groups;
        if (k + 1 < r->leaves && r->leaf[k + 1].first_group % f->chunks_per_checksum)
            return corrupt("has a checksum of chunks in two leaves", error);
    }
    TAPER_TRY(formats_cursor_check(in, "root: leaves", error));
    const formats_leaf *end = &r->leaf[r->leaves];
    return end->first_image == f->images && end->first_group == f->groups
               ? TAPER_OK
               : corrupt("has leaves of other images or groups than the header says", error);
}

static taper_status read_leaves(formats_root *r, formats_front *f, formats_cursor *in,
                                taper_error *error) {
    const uint64_t leaves = formats_read_varint_max(in, f->groups);
    TAPER_TRY(formats_cursor_check(in, "root: leaves", error));
    if (!leaves) return corrupt("has no leaves", error);
    if (leaves > formats_cursor_left(in) / 7) return corrupt("ends before its leaves", error);
    TAPER_TRY(formats_front_take(f, leaves, sizeof *r->leaf, &r->leaf, error));
    r->leaves = (uint32_t)leaves;
    TAPER_TRY(read_counts(r, f, in, error));
    for (uint32_t k = 0; k < r->leaves; k++)
        r->leaf[k + 1].at = r->leaf[k].at + formats_read_varint_max(in, UINT32_MAX);
    for (uint32_t k = 0; k < r->leaves; k++) r->leaf[k].crc = formats_read_u32le(in);
    return formats_cursor_check(in, "root: leaves", error);
}

/* The separators in full: each shares its beginning with the one before. */
static taper_status expand_separators(formats_root *r, formats_cursor *in, formats_buffer *out,
                                      taper_error *error) {
    enum { MOST = 4095 };
    formats_write_u8(out, 0); /* of leaf 0 */
    for (uint32_t k = 1; k < r->leaves; k++) {
        const size_t before = r->separator_at[k - 1], length = out->size - 1 - before;
        const size_t shared = (size_t)formats_read_varint_max(in, length);
        const uint8_t *rest = in->bytes + in->at;
        const size_t left = formats_cursor_left(in);
        const uint8_t *end = left ? memchr(rest, 0, left) : NULL;
        if (!end || out->size + shared > UINT32_MAX - 2 * MOST)
            return corrupt("ends within its separators of names", error);
        const size_t n = (size_t)(end - rest);
        r->separator_at[k] = (uint32_t)out->size;
        /* all ascend: the rest, not empty, is above what follows the shared bytes before */
        if (shared + n > MOST || formats_buffer_reserve(out, shared + n + 1) != TAPER_OK)
            return out->status != TAPER_OK
                       ? formats_fail(error, out->status, "no memory for the names of leaves")
                       : corrupt("has an illegal separator of names", error);
        if (rest[0] <= out->data[before + shared])
            return corrupt("has separators of names that do not ascend", error);
        formats_write_bytes(out, out->data + before, shared);
        formats_write_bytes(out, formats_read_bytes(in, n + 1), n + 1);
    }
    return TAPER_OK;
}

static taper_status read_separators(formats_root *r, formats_front *f, formats_cursor *in,
                                    taper_error *error) {
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    TAPER_TRY(formats_front_take(f, r->leaves, sizeof *r->separator_at, &r->separator_at, error));
    out.account = formats_front_account(f);
    taper_status status = formats_buffer_reserve(&out, 64);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory for the names of leaves");
    status = expand_separators(r, in, &out, error);
    r->separators = (char *)out.data; /* stays charged */
    r->separators_size = out.capacity;
    return status;
}

static taper_status read_pages(formats_root *r, formats_front *f, formats_cursor *in,
                               taper_error *error) {
    r->hash_bits = formats_read_u8(in);
    r->page_bits = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "root: pages of names", error));
    if (r->hash_bits > FORMATS_MOST_HASH_BITS || r->page_bits > FORMATS_MOST_PAGE_BITS ||
        r->page_bits >= r->hash_bits)
        return corrupt("has illegal bits of hashes", error);
    const uint32_t pages = formats_root_pages(r);
    if (pages > formats_cursor_left(in) / 5) return corrupt("ends before its pages", error);
    TAPER_TRY(formats_front_take(f, pages, sizeof *r->page_at, &r->page_at, error));
    TAPER_TRY(formats_front_take(f, pages, sizeof *r->page_crc, &r->page_crc, error));
    for (uint32_t k = 0; k < pages; k++)
        r->page_at[k + 1] = r->page_at[k] + formats_read_varint_max(in, UINT32_MAX);
    for (uint32_t k = 0; k < pages; k++) r->page_crc[k] = formats_read_u32le(in);
    return formats_cursor_check(in, "root: pages of names", error);
}

taper_status formats_root_read(formats_root *r, formats_front *f, formats_cursor *in,
                               taper_error *error) {
    TAPER_TRY(formats_directory_check(f, error));
    TAPER_TRY(formats_rate_classes_read(f, in, error));
    TAPER_TRY(formats_layers_read(f, in, error));
    TAPER_TRY(read_layer_bytes(r, f, in, error));
    TAPER_TRY(read_leaves(r, f, in, error));
    const uint8_t find = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "root: names", error));
    if (find > FORMATS_FIND_HASHED) return corrupt("finds names in an unknown way", error);
    r->find = (formats_find)find;
    if (find == FORMATS_FIND_ASCENDING) return read_separators(r, f, in, error);
    return find == FORMATS_FIND_HASHED ? read_pages(r, f, in, error) : TAPER_OK;
}

uint64_t formats_root_bytes(const formats_root *r, const formats_front *f) {
    const uint64_t leaves = (uint64_t)r->leaves + 1, pages = (uint64_t)formats_root_pages(r) + 1;
    return (r->leaf ? leaves * sizeof *r->leaf : 0) +
           (r->layer_at ? ((uint64_t)f->layers + 1) * sizeof *r->layer_at : 0) +
           (r->separator_at ? leaves * sizeof *r->separator_at : 0) + r->separators_size +
           (r->page_at ? pages * (sizeof *r->page_at + sizeof *r->page_crc) : 0);
}

void formats_root_free(formats_root *r) {
    free(r->leaf), free(r->layer_at), free(r->separators), free(r->separator_at);
    free(r->page_at), free(r->page_crc);
    memset(r, 0, sizeof *r);
}

/* --- writing --------------------------------------------------------------------------- */

static void write_leaves(const formats_root *r, formats_buffer *out) {
    formats_write_varint(out, r->leaves);
    for (uint32_t k = 0; k < r->leaves; k++)
        formats_write_varint(out, r->leaf[k + 1].first_image - r->leaf[k].first_image);
    for (uint32_t k = 0; k < r->leaves; k++)
        formats_write_varint(out, r->leaf[k + 1].first_group - r->leaf[k].first_group);
    for (uint32_t k = 0; k < r->leaves; k++)
        formats_write_varint(out, r->leaf[k + 1].at - r->leaf[k].at);
    for (uint32_t k = 0; k < r->leaves; k++) formats_write_u32le(out, r->leaf[k].crc);
}

static void write_separators(const formats_root *r, formats_buffer *out) {
    for (uint32_t k = 1; k < r->leaves; k++) {
        const char *before = r->separators + r->separator_at[k - 1],
                   *here = r->separators + r->separator_at[k];
        size_t shared = 0;
        while (before[shared] && before[shared] == here[shared]) shared++;
        formats_write_varint(out, shared);
        formats_write_bytes(out, here + shared, strlen(here + shared) + 1);
    }
}

void formats_root_write(const formats_root *r, const formats_front *f, formats_buffer *out) {
    if (f->rate_classes > 1) formats_write_u8(out, (uint8_t)f->rate_classes);
    formats_layers_write(f, out);
    for (uint32_t l = 0; l < f->layers; l++)
        formats_write_varint(out, r->layer_at[l + 1] - r->layer_at[l]);
    formats_write_varint(out, r->pixels);
    formats_write_u8(out, r->has_labels);
    if (r->has_labels) formats_classes_write(f, out);
    write_leaves(r, out);
    formats_write_u8(out, (uint8_t)r->find);
    if (r->find == FORMATS_FIND_ASCENDING) write_separators(r, out);
    if (r->find != FORMATS_FIND_HASHED) return;
    formats_write_u8(out, r->hash_bits);
    formats_write_u8(out, r->page_bits);
    const uint32_t pages = formats_root_pages(r);
    for (uint32_t k = 0; k < pages; k++)
        formats_write_varint(out, r->page_at[k + 1] - r->page_at[k]);
    for (uint32_t k = 0; k < pages; k++) formats_write_u32le(out, r->page_crc[k]);
}

/* --- finding --------------------------------------------------------------------------- */

uint32_t formats_root_leaf_of_image(const formats_root *r, uint32_t i) {
    uint32_t low = 0, high = r->leaves;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->leaf[middle].first_image <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t formats_root_leaf_of_group(const formats_root *r, uint32_t g) {
    uint32_t low = 0, high = r->leaves;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->leaf[middle].first_group <= g)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t formats_root_leaf_of_name(const formats_root *r, const char *name) {
    uint32_t low = 0, high = r->leaves;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(r->separators + r->separator_at[middle], name) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t formats_root_hash(const formats_root *r, const char *name) {
    return formats_crc32c(0, name, strlen(name)) >> (32 - r->hash_bits);
}

uint32_t formats_root_page(const formats_root *r, uint32_t hash) {
    return hash >> (r->hash_bits - r->page_bits);
}
