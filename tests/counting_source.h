/* counting_source.h -- bytes in memory as a source that counts the bytes that are read. */
#ifndef TESTS_COUNTING_SOURCE_H
#define TESTS_COUNTING_SOURCE_H
#include "formats/bytes.h"
#include <string.h>

typedef struct counting_source {
    const formats_buffer *file;
    uint64_t bytes; /* bytes read so far */
} counting_source;

static inline taper_status counting_read(void *user, uint64_t offset, void *to, size_t n) {
    counting_source *s = user;
    s->bytes += n;
    if (n) memcpy(to, s->file->data + offset, n);
    return TAPER_OK;
}

/* A source of its first `size` bytes. */
static inline taper_source counting_source_of(counting_source *s, size_t size) {
    return (taper_source){s, size, counting_read};
}

#endif
