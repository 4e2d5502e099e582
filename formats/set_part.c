/* set_part.c -- see set_part.h. */
#include "formats/set_part.h"

/* The product of a part and the images of a set must fit 64 bits. */
_Static_assert((uint64_t)TAPER_MOST_PARTS <= UINT64_MAX / TAPER_MOST_SET, "products overflow");
_Static_assert(FORMATS_MOST_PARTS == TAPER_MOST_PARTS && 1099511627776 == TAPER_MOST_SET, "ranges");

uint64_t formats_set_part_first(uint64_t images, uint32_t parts, uint32_t part) {
    return images * part / parts;
}

uint64_t formats_set_part_count(const taper_part *p) {
    if (!p->parts || p->parts > TAPER_MOST_PARTS || p->part >= p->parts) return 0;
    if (!p->images || p->images > FORMATS_MOST_SET) return 0;
    return formats_set_part_first(p->images, p->parts, p->part + 1) -
           formats_set_part_first(p->images, p->parts, p->part);
}

int formats_set_part_is_legal(const taper_part *p, uint64_t stored) {
    const int is_in_range = p->parts && p->parts <= TAPER_MOST_PARTS && p->part < p->parts &&
                            p->images && p->images <= FORMATS_MOST_SET;
    return is_in_range && p->left_out <= FORMATS_MOST_SET &&
           stored + p->left_out == formats_set_part_count(p);
}

taper_status formats_set_part_read(formats_front *f, formats_cursor *in, taper_error *error) {
    taper_part *p = &f->part;
    p->parts = (uint32_t)formats_read_varint_max(in, TAPER_MOST_PARTS);
    p->part = (uint32_t)formats_read_varint_max(in, TAPER_MOST_PARTS);
    p->images = formats_read_varint_max(in, TAPER_MOST_SET);
    p->left_out = formats_read_varint_max(in, TAPER_MOST_SET);
    p->set_digest = formats_read_u64le(in);
    p->how_digest = formats_read_u64le(in);
    p->inputs_digest = formats_read_u64le(in);
    f->has_part = 1;
    return formats_cursor_check(in, "the part of a set", error);
}

void formats_set_part_write(const formats_front *f, formats_buffer *out) {
    const taper_part *p = &f->part;
    formats_write_varint(out, p->parts);
    formats_write_varint(out, p->part);
    formats_write_varint(out, p->images);
    formats_write_varint(out, p->left_out);
    formats_write_u64le(out, p->set_digest);
    formats_write_u64le(out, p->how_digest);
    formats_write_u64le(out, p->inputs_digest);
}
