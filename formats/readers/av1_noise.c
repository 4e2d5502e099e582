/* av1_noise.c -- see av1_noise.h. The headers are read up to the quantiser, as the AV1
 * specification has them (5.5 and 5.9); the boxes as ISO/IEC 14496-12 and 23008-12. */
#include "formats/readers/av1_noise.h"
#include "formats/bytes.h"
#include <math.h>
#include <string.h>

/* --- boxes ----------------------------------------------------------------------------- */

/* A part of the file. */
typedef struct part {
    const uint8_t *p;
    size_t n;
} part;

enum { BOX = 8, FULL_BOX = 4 };

/* The content of the first box of a type among those in a part, behind `skip` bytes of it; n 0:
 * there is none. */
static part find_box(part in, size_t skip, const char *type) {
    for (size_t at = skip; at <= in.n && in.n - at >= BOX;) {
        size_t size = formats_get_u32be(in.p + at);
        if (size < BOX || size > in.n - at) break;
        if (!memcmp(in.p + at + 4, type, 4)) return (part){in.p + at + BOX, size - BOX};
        at += size;
    }
    return (part){NULL, 0};
}

static uint64_t read_be(formats_cursor *c, unsigned bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | formats_read_u8(c);
    return value;
}

/* The place of an item by its table. Only items of one extent in the file itself. */
static part locate(part table, part file, uint32_t item) {
    formats_cursor c = formats_cursor_over(table.p, table.n);
    const unsigned version = formats_read_u8(&c), wide = version < 2 ? 2 : 4;
    (void)read_be(&c, 3);
    const unsigned sizes = formats_read_u16be(&c);
    const unsigned offset = sizes >> 12, length = sizes >> 8 & 15, base = sizes >> 4 & 15;
    const unsigned index = version ? sizes & 15 : 0;
    const uint64_t items = read_be(&c, wide);
    if (version > 2 || offset > 8 || length > 8 || base > 8) return (part){NULL, 0};
    for (uint64_t i = 0; i < items && c.status == TAPER_OK; i++) {
        const uint64_t id = read_be(&c, wide);
        const unsigned method = version ? formats_read_u16be(&c) & 15 : 0;
        (void)read_be(&c, 2);
        const uint64_t from = read_be(&c, base);
        const unsigned extents = formats_read_u16be(&c);
        uint64_t at = 0, size = 0;
        for (unsigned k = 0; k < extents && c.status == TAPER_OK; k++) {
            (void)read_be(&c, index);
            at = read_be(&c, offset), size = read_be(&c, length);
        }
        if (id != item || c.status != TAPER_OK) continue;
        if (method || extents != 1 || from > file.n || at > file.n - from || !size ||
            size > file.n - from - at)
            break;
        return (part){file.p + from + at, (size_t)size};
    }
    return (part){NULL, 0};
}

const uint8_t *formats_primary_item(const void *bytes, size_t n, size_t *size) {
    const part file = {bytes, n}, meta = find_box(file, 0, "meta");
    const part primary = find_box(meta, FULL_BOX, "pitm");
    part found = {NULL, 0};
    if (primary.n >= FULL_BOX + 2) {
        const int is_wide = primary.p[0] && primary.n >= FULL_BOX + 4;
        found = locate(find_box(meta, FULL_BOX, "iloc"), file,
                       is_wide ? formats_get_u32be(primary.p + FULL_BOX)
                               : formats_get_u16be(primary.p + FULL_BOX));
    }
    *size = found.n;
    return found.p;
}

/* --- bits ------------------------------------------------------------------------------ */

typedef struct bits {
    const uint8_t *p;
    size_t n, at; /* in bits; at > n: too many were read */
} bits;

static unsigned read_bits(bits *b, unsigned count) {
    unsigned value = 0;
    for (; count; count--, b->at++)
        value = 2 * value + (b->at < b->n ? b->p[b->at / 8] >> (7 - b->at % 8) & 1u : 0);
    return value;
}

/* --- headers --------------------------------------------------------------------------- */

enum { CHOSEN_BY_FRAME = 2, MOST_TILES = 64 };

/* What the frame needs of the sequence. */
typedef struct sequence {
    int is_known, is_still; /* is_still: with the short header of still pictures */
    unsigned width_bits, height_bits, width, height, id_bits, order_bits;
    unsigned has_large_blocks, screen_tools, whole_vectors, has_superres;
} sequence;

/* Profiles and levels. 0: with a model of the decoder, which no picture has. */
static int skip_levels(bits *b) {
    if (read_bits(b, 1)) return 0; /* timing */
    const unsigned has_delay = read_bits(b, 1), points = read_bits(b, 5) + 1;
    for (unsigned i = 0; i < points; i++) {
        (void)read_bits(b, 12);
        if (read_bits(b, 5) > 7) (void)read_bits(b, 1);
        if (has_delay && read_bits(b, 1)) (void)read_bits(b, 4);
    }
    return 1;
}

static void read_tools(bits *b, sequence *s) {
    s->screen_tools = s->whole_vectors = CHOSEN_BY_FRAME;
    if (s->is_still) return;
    (void)read_bits(b, 4); /* kinds of prediction between frames */
    const unsigned has_order = read_bits(b, 1);
    if (has_order) (void)read_bits(b, 2);
    if (!read_bits(b, 1)) s->screen_tools = read_bits(b, 1);
    if (s->screen_tools && !read_bits(b, 1)) s->whole_vectors = read_bits(b, 1);
    if (has_order) s->order_bits = read_bits(b, 3) + 1;
}

static sequence read_sequence(bits b) {
    sequence s = {0};
    (void)read_bits(&b, 4); /* profile, still */
    s.is_still = (int)read_bits(&b, 1);
    if (s.is_still)
        (void)read_bits(&b, 5);
    else if (!skip_levels(&b))
        return s;
    s.width_bits = read_bits(&b, 4) + 1, s.height_bits = read_bits(&b, 4) + 1;
    s.width = read_bits(&b, s.width_bits) + 1, s.height = read_bits(&b, s.height_bits) + 1;
    if (!s.is_still && read_bits(&b, 1)) {
        s.id_bits = read_bits(&b, 4) + 2;
        s.id_bits += read_bits(&b, 3) + 1;
    }
    s.has_large_blocks = read_bits(&b, 1);
    (void)read_bits(&b, 2);
    read_tools(&b, &s);
    s.has_superres = read_bits(&b, 1);
    s.is_known = b.at <= b.n;
    return s;
}

/* The least k with size << k >= target. */
static unsigned log2_of(uint64_t size, uint64_t target) {
    unsigned k = 0;
    while (size << k < target) k++;
    return k;
}

static unsigned read_steps(bits *b, unsigned from, unsigned most) {
    while (from < most && read_bits(b, 1)) from++;
    return from;
}

/* Tiles of equal size. 0: of others. */
static int skip_tiles(bits *b, const sequence *s, unsigned width, unsigned height) {
    const unsigned shift = s->has_large_blocks ? 7 : 6;
    const uint64_t columns = (width + (1u << shift) - 1) >> shift;
    const uint64_t rows = (height + (1u << shift) - 1) >> shift;
    const unsigned least_columns = log2_of(4096u >> shift, columns);
    const unsigned least = log2_of((4096u * 2304u) >> 2 * shift, columns * rows);
    const unsigned all = least > least_columns ? least : least_columns;
    if (!read_bits(b, 1)) return 0;
    const unsigned across =
        read_steps(b, least_columns, log2_of(1, formats_smaller((size_t)columns, MOST_TILES)));
    const unsigned down = read_steps(b, all > across ? all - across : 0,
                                     log2_of(1, formats_smaller((size_t)rows, MOST_TILES)));
    if (across || down) (void)read_bits(b, across + down + 2);
    return 1;
}

/* The quantiser of a frame that is shown and depends on no other; -1: of others. */
static int read_frame(bits b, const sequence *s) {
    unsigned width = s->width, height = s->height, has_own_size = 0;
    if (!s->is_still && (read_bits(&b, 1) || read_bits(&b, 2) || !read_bits(&b, 1))) return -1;
    const unsigned keeps_tables = read_bits(&b, 1);
    const unsigned tools = s->screen_tools == CHOSEN_BY_FRAME ? read_bits(&b, 1) : s->screen_tools;
    if (tools && s->whole_vectors == CHOSEN_BY_FRAME) (void)read_bits(&b, 1);
    (void)read_bits(&b, s->id_bits);
    if (!s->is_still) has_own_size = read_bits(&b, 1);
    (void)read_bits(&b, s->order_bits);
    if (has_own_size) width = read_bits(&b, s->width_bits) + 1;
    if (has_own_size) height = read_bits(&b, s->height_bits) + 1;
    if (s->has_superres && read_bits(&b, 1)) return -1;
    if (read_bits(&b, 1)) (void)read_bits(&b, 16), (void)read_bits(&b, 16);
    if (tools) (void)read_bits(&b, 1);
    if (!s->is_still && !keeps_tables) (void)read_bits(&b, 1);
    if (!skip_tiles(&b, s, width, height)) return -1;
    const int index = (int)read_bits(&b, 8);
    return b.at <= b.n ? index : -1;
}

int formats_av1_quantiser(const void *bytes, size_t n) {
    enum { SEQUENCE = 1, FRAME_HEADER = 3, FRAME = 6 };
    formats_cursor c = formats_cursor_over(bytes, n);
    sequence s = {0};
    while (formats_cursor_left(&c)) {
        const unsigned head = formats_read_u8(&c), type = head >> 3 & 15;
        if (head & 4) (void)formats_read_u8(&c);
        const uint64_t size = head & 2 ? formats_read_varint(&c) : formats_cursor_left(&c);
        if (size > formats_cursor_left(&c)) return -1;
        const bits b = {formats_read_bytes(&c, (size_t)size), (size_t)size * 8, 0};
        if (type == SEQUENCE) s = read_sequence(b);
        if (type == FRAME || type == FRAME_HEADER) return s.is_known ? read_frame(b, &s) : -1;
    }
    return -1;
}

double formats_avif_noise(const void *bytes, size_t n, uint64_t pixels) {
    size_t size;
    const uint8_t *item = formats_primary_item(bytes, n, &size);
    if (!item || !pixels) return 0;
    const int index = formats_av1_quantiser(item, size);
    const double rate = 8.0 * (double)size / (double)pixels;
    return index > 0 ? exp(0.0265 * index - 0.03) * pow(rate, 0.506) : 0;
}
