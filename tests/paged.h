/* paged.h -- containers in pages of a few images, for tests. */
#ifndef TESTS_PAGED_H
#define TESTS_PAGED_H
#include "formats/container.h"
#include "formats/leaf.h"
#include "formats/name_pages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same container with leaves of at least `each` images, and a checksum for every chunk so that
 * leaves may end anywhere. sorted: 1: ascending names, 0: others, -1: those that it has. */
static inline formats_buffer paged_from(const formats_buffer *file, uint32_t each, int sorted) {
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_front f;
    if (formats_front_read(file->data, file->size, NULL, &f, NULL)) abort();
    const uint8_t *data = file->data + f.front_size;
    const size_t size = file->size - (size_t)f.front_size;
    const uint64_t chunks = (uint64_t)f.layers * f.groups;
    free(f.checksum);
    f.chunks_per_checksum = 1;
    f.checksum = calloc((size_t)chunks + 1, sizeof *f.checksum);
    for (uint64_t c = 0; c < chunks; c++)
        f.checksum[c] =
            formats_crc32c(0, data + f.chunk_at[c], (size_t)(f.chunk_at[c + 1] - f.chunk_at[c]));
    if (sorted >= 0) {
        enum { LENGTH = 32 };
        free(f.names), free(f.name_at);
        f.names = calloc(f.images, LENGTH);
        f.name_at = calloc(f.images, sizeof *f.name_at);
        for (uint32_t i = 0; i < f.images; i++) {
            f.name_at[i] = i * LENGTH;
            snprintf(f.names + f.name_at[i], LENGTH, "n/%02u.png",
                     sorted ? i : (i * 5 + 3) % f.images);
        }
    }
    if (formats_front_write_paged(&f, each, &out, NULL)) abort();
    formats_write_bytes(&out, data, size);
    formats_front_free(&f);
    return out;
}

/* The offset of a section, or 0; *entry: that of its entry in the table. */
static inline size_t paged_section(const formats_buffer *file, const char *type, size_t *entry) {
    const uint32_t n = formats_get_u32le(file->data + 48);
    size_t at = FORMATS_HEADER_SIZE + (size_t)n * FORMATS_SECTION_SIZE;
    for (uint32_t i = 0; i < n; i++) {
        *entry = FORMATS_HEADER_SIZE + (size_t)i * FORMATS_SECTION_SIZE;
        if (!memcmp(file->data + *entry, type, 4)) return at;
        at += (size_t)formats_get_u64le(file->data + *entry + 8);
    }
    return 0;
}

#endif
