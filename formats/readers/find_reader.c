/* find_reader.c -- see find_reader.h. */
#include "formats/readers/find_reader.h"
#include <string.h>

static int begins(const uint8_t *front, size_t n, size_t at, const char *magic, size_t size) {
    return n >= at + size && memcmp(front + at, magic, size) == 0;
}

/* The magic number has only two letters, so the reserved bytes and the size of the second header
 * are tested too. */
static int is_bmp(const uint8_t *front, size_t n) {
    static const uint8_t sizes[] = {12, 40, 52, 56, 64, 108, 124};
    return n >= 18 && begins(front, n, 0, "BM", 2) && begins(front, n, 6, "\0\0\0\0", 4) &&
           memchr(sizes, front[14], sizeof sizes) && begins(front, n, 15, "\0\0\0", 3);
}

/* The first brand of HEIC and AVIF may be one that they share (mif1, msf1): then the other brands
 * decide. */
static const formats_reader *by_brands(const uint8_t *front, size_t n) {
    if (begins(front, n, 4, "ftypavi", 7)) return &formats_avif_reader;
    if (begins(front, n, 4, "ftyphe", 6)) return &formats_heic_reader;
    if (!begins(front, n, 4, "ftypmif1", 8) && !begins(front, n, 4, "ftypmsf1", 8)) return NULL;
    const size_t end = front[3] < n ? front[3] : n;
    for (size_t at = 16; at + 4 <= end; at += 4)
        if (begins(front, n, at, "avi", 3)) return &formats_avif_reader;
    return n >= 16 ? &formats_heic_reader : NULL;
}

const formats_reader *formats_reader_find(const void *bytes, size_t n) {
    const uint8_t *front = bytes;
    if (begins(front, n, 0, "RIFF", 4) && begins(front, n, 8, "WEBP", 4))
        return &formats_webp_reader;
    if (begins(front, n, 0, "GIF8", 4)) return &formats_gif_reader;
    if (begins(front, n, 0, "II*\0", 4) || begins(front, n, 0, "MM\0*", 4) ||
        begins(front, n, 0, "II+\0", 4) || begins(front, n, 0, "MM\0+", 4))
        return &formats_tiff_reader;
    if (begins(front, n, 0, "\xFF\n", 2) || begins(front, n, 0, "\0\0\0\fJXL \r\n", 10))
        return &formats_jxl_reader;
    if (is_bmp(front, n)) return &formats_bmp_reader;
    return by_brands(front, n);
}
