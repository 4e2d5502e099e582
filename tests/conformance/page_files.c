/* page_files.c -- see page_files.h. The library finds where leaves end; what they have is written
 * again here, part by part. */
#include "page_files.h"
#include "container_files.h"
#include "formats/directory.h"
#include "formats/leaf.h"
#include "formats/packed.h"
#include "model_files.h"
#include <stdlib.h>
#include <string.h>

/* --- parts ------------------------------------------------------------------------------- */

/* Append a part, and empty the content. */
static void add_part(formats_buffer *content, int packed, formats_buffer *out) {
    formats_buffer frame = formats_buffer_make(1 << 20);
    if (packed) plain_zstd_frame(content->data, content->size, &frame);
    const int smaller = packed && frame.size < content->size;
    const formats_buffer *stored = smaller ? &frame : content;
    formats_write_varint(out, content->size);
    formats_write_varint(out, stored->size);
    formats_write_bytes(out, stored->data, stored->size);
    formats_buffer_free(&frame);
    formats_buffer_clear(content);
}

static void write_leaf(const formats_root *r, formats_front *leaf, int packed,
                       formats_buffer *out) {
    formats_buffer content = formats_buffer_make(1 << 20);
    for (uint32_t l = 0; l < leaf->layers; l++) /* from the start of the layer */
        leaf->layer_at[l] += leaf->chunk_at[(uint64_t)l * leaf->groups] - r->layer_at[l];
    formats_leaf_directory_write(leaf, &content);
    add_part(&content, packed, out);
    if (leaf->names) formats_names_write(leaf, &content), add_part(&content, packed, out);
    if (leaf->label) formats_labels_write(leaf, &content), add_part(&content, packed, out);
    formats_buffer_free(&content);
}

/* --- sections ---------------------------------------------------------------------------- */

static void write_leaves(const formats_buffer *file, formats_root *r, const formats_front *shared,
                         int packed, formats_buffer *out) {
    const taper_limits limits = formats_limits_or_default(NULL);
    formats_root old = *r;
    old.leaf = calloc((size_t)r->leaves + 1, sizeof *old.leaf);
    if (!old.leaf) abort();
    memcpy(old.leaf, r->leaf, ((size_t)r->leaves + 1) * sizeof *old.leaf);
    for (uint32_t k = 0; k < r->leaves; k++) {
        const uint8_t *bytes = file->data + r->leaves_at + old.leaf[k].at;
        formats_front leaf;
        if (formats_leaf_read(&old, shared, k, bytes, &limits, &leaf, NULL)) abort();
        const size_t at = out->size;
        write_leaf(r, &leaf, packed, out);
        r->leaf[k].crc = formats_crc32c(0, out->data + at, out->size - at);
        r->leaf[k + 1].at = out->size;
        formats_front_free(&leaf);
    }
    free(old.leaf);
}

static void write_pages(const formats_buffer *file, formats_root *r, formats_front *shared,
                        int packed, formats_buffer *out) {
    uint64_t at = 0;
    for (uint32_t p = 0; p < formats_root_pages(r); p++) {
        const uint64_t size = r->page_at[p + 1] - at, start = out->size;
        formats_cursor in = formats_cursor_over(file->data + r->pages_at + at, (size_t)size);
        formats_buffer content = formats_buffer_make(1 << 20);
        uint8_t *bytes;
        uint64_t n;
        at = r->page_at[p + 1];
        if (size) {
            if (formats_part_read(shared, &in, "page", &bytes, &n, NULL)) abort();
            formats_write_bytes(&content, bytes, (size_t)n);
            formats_unpack_free(shared, bytes, n);
            add_part(&content, packed, out);
        }
        r->page_at[p + 1] = out->size;
        r->page_crc[p] = formats_crc32c(0, out->data + start, out->size - start);
        formats_buffer_free(&content);
    }
}

void page_file_make(formats_buffer *file, uint32_t each, int packed) {
    formats_buffer paged = formats_buffer_make(1 << 22), leaves = formats_buffer_make(1 << 20),
                   pages = formats_buffer_make(1 << 20), content = formats_buffer_make(1 << 20),
                   out = formats_buffer_make(1 << 22);
    formats_front f, shared;
    formats_root root;
    if (formats_front_read(file->data, file->size, NULL, &f, NULL)) abort();
    const size_t front = (size_t)f.front_size;
    if (formats_front_write_paged(&f, each, &paged, NULL)) abort();
    if (formats_head_read(paged.data, paged.size, NULL, &shared, &root, NULL) || !root.leaves)
        abort();
    write_leaves(&paged, &root, &shared, packed, &leaves);
    write_pages(&paged, &root, &shared, packed, &pages);
    formats_root_write(&root, &shared, &content);
    file_parts parts = file_parts_begin();
    file_parts_add(&parts, "DIRE", content.data, content.size, packed);
    if (f.model) file_parts_add(&parts, "modl", f.model, f.model_size, 0);
    file_parts_add(&parts, "LEAF", leaves.data, leaves.size, 0);
    if (pages.size) file_parts_add(&parts, "find", pages.data, pages.size, 0);
    f.data_bytes = 1; /* for the header: in pages */
    file_parts_end(&parts, &f, f.holds, &out);
    formats_write_bytes(&out, file->data + front, file->size - front);
    formats_front_free(&f), formats_front_free(&shared), formats_root_free(&root);
    formats_buffer_free(&paged), formats_buffer_free(&leaves), formats_buffer_free(&pages);
    formats_buffer_free(&content), formats_buffer_free(file);
    *file = out;
}

/* --- illegal ones ------------------------------------------------------------------------ */

const char *const page_faults[] = {"leaf-checksum", "leaf-offset", "leaf-order", "leaf-missing",
                                   NULL};

/* The section table's entry of a type, and where the section begins. */
static uint8_t *entry_of(formats_buffer *file, const char *type, size_t *at) {
    const uint32_t n = formats_get_u32le(file->data + 48);
    *at = FORMATS_HEADER_SIZE + (size_t)n * FORMATS_SECTION_SIZE;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *entry = file->data + FORMATS_HEADER_SIZE + (size_t)i * FORMATS_SECTION_SIZE;
        if (!memcmp(entry, type, 4)) return entry;
        *at += (size_t)formats_get_u64le(entry + 8);
    }
    abort();
}

static void sum_all(formats_buffer *file) {
    const uint32_t n = formats_get_u32le(file->data + 48);
    size_t at = FORMATS_HEADER_SIZE + (size_t)n * FORMATS_SECTION_SIZE;
    const size_t table = at;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *entry = file->data + FORMATS_HEADER_SIZE + (size_t)i * FORMATS_SECTION_SIZE;
        const size_t size = (size_t)formats_get_u64le(entry + 8);
        formats_set_u32le(entry + 4, formats_crc32c(0, file->data + at, size));
        at += size;
    }
    formats_set_u32le(file->data + 20, 0);
    formats_set_u32le(file->data + 20, formats_crc32c(0, file->data, table));
}

/* Set the first u32 `from` in the root to `to`. */
static void replace_sum(formats_buffer *file, uint32_t from, uint32_t to) {
    size_t at;
    (void)entry_of(file, "DIRE", &at);
    while (formats_get_u32le(file->data + at) != from) at++;
    formats_set_u32le(file->data + at, to);
}

/* Bytes of the first leaf, or page: change one, with the right checksum. */
static void change_byte(formats_buffer *file, size_t at, size_t size, size_t byte, uint8_t value) {
    const uint32_t before = formats_crc32c(0, file->data + at, size);
    file->data[at + byte] = value;
    replace_sum(file, before, formats_crc32c(0, file->data + at, size));
}

void page_file_spoil(formats_buffer *file, const char *what) {
    formats_front shared;
    formats_root r;
    size_t at;
    if (formats_head_read(file->data, file->size, NULL, &shared, &r, NULL)) abort();
    const size_t leaves = (size_t)r.leaves_at, second = (size_t)r.leaf[1].at;
    if (!strcmp(what, "leaf-checksum")) file->data[leaves + second + 3] ^= 1;
    if (!strcmp(what, "leaf-order")) { /* the second says what the first says */
        const size_t size = (size_t)(r.leaf[2].at - r.leaf[1].at);
        if (size != second) abort();
        memcpy(file->data + leaves + second, file->data + leaves, size);
        replace_sum(file, r.leaf[1].crc, r.leaf[0].crc);
    }
    if (!strcmp(what, "leaf-offset")) { /* of the second, in its first layer */
        uint8_t *leaf = file->data + leaves + second;
        size_t offset = 2; /* sizes of the part; then a run of images, a run of groups */
        offset += 1 + 4 + 1 + 2;
        change_byte(file, leaves + second, (size_t)(r.leaf[2].at - r.leaf[1].at), offset,
                    (uint8_t)(leaf[offset] - 1));
    }
    if (!strcmp(what, "leaf-missing")) memcpy(entry_of(file, "LEAF", &at), "leaf", 4);
    sum_all(file);
    formats_front_free(&shared), formats_root_free(&r);
}
