/* chunk_padding.c -- see chunk_padding.h. */
#include "codec/groups/chunk_padding.h"
#include "codec/transform/windows.h"
#include <string.h>

_Static_assert(CODEC_STRING_PADDING < 128, "a length is a varint of one byte");

/* The bytes of the lengths, of which a chunk of one strip has none. */
static uint64_t bytes_of_lengths(uint32_t strips) { return strips > 1 ? strips : 0; }

uint64_t codec_chunk_padding_bytes(uint32_t strips) {
    return bytes_of_lengths(strips) + (uint64_t)CODEC_STRING_PADDING * strips;
}

void codec_chunk_padding_copy(uint32_t strips, uint64_t from, void *to, size_t n) {
    const uint64_t lengths = bytes_of_lengths(strips), left = from < lengths ? lengths - from : 0;
    const size_t first = left < n ? (size_t)left : n;
    memset(to, CODEC_STRING_PADDING, first);
    memset((uint8_t *)to + first, 0, n - first);
}

/* The only image of group g that has windows; NULL: none, or several. */
static const formats_geometry *only_image(const formats_front *f, uint32_t g) {
    const formats_geometry *only = NULL;
    for (uint32_t at = f->group_first[g]; at < f->group_first[g + 1]; at++) {
        const formats_geometry *image = &f->geometry[formats_front_image(f, at)];
        if (image->indexed) continue;
        if (only) return NULL;
        only = image;
    }
    return only;
}

uint32_t codec_chunk_strips(const formats_front *f, uint32_t g, codec_window window) {
    const formats_geometry *image = only_image(f, g);
    if (!image) return 1;
    const codec_grid grid = codec_windows_grid(window, image->width, image->height);
    return codec_strips_count(&grid, 1);
}
