/* holds.h -- which cuts of a small set are drawn as a shorter one.
 *
 * The next bytes of one small image may undo what a cut shows. Its encoder finds such places and
 * stores them in the header as at most six holds: cuts between the start and the end of a hold are
 * drawn as the cut at its start. Sizes count bytes of the data, behind the front matter.
 *
 * A container stores holds as 64 bits (SPEC section 13): six records of ten bits, from the lowest
 * bit on, then two bits for the scale. A record is the code of a gap and the code of a length. */
#ifndef FORMATS_HOLDS_H
#define FORMATS_HOLDS_H
#include <stdint.h>

enum {
    FORMATS_HOLD_RECORDS = 6,
    FORMATS_HOLD_CODES = 32,    /* of a gap or a length */
    FORMATS_HOLD_MOST = 448,    /* formats_hold_bytes(31) */
    FORMATS_HOLD_MOST_SCALE = 3 /* sizes are multiples of 2^scale bytes */
};

typedef struct formats_hold_record {
    uint8_t gap;    /* code: bytes from the end of the record before to the start of this hold; 0:
                       it has the start of the record before, and makes that hold longer */
    uint8_t length; /* code: bytes from there to its end */
} formats_hold_record;

/* What a code stands for before scaling: 0, 1 .. 8, 10, 12, 14, 16, 20 .. 384, 448, rising. */
uint32_t formats_hold_bytes(uint32_t code);

/* record: [FORMATS_HOLD_RECORDS], the unused ones zeroed, at the end. */
uint64_t formats_holds_pack(const formats_hold_record *record, uint32_t scale);

/* The cut that is drawn in place of one of so many bytes, of a file that is not whole: never more,
 * and rising with them. 0 holds: the cut itself. */
uint64_t formats_holds_drawn(uint64_t holds, uint64_t bytes);

#endif
