/* holds.h -- which cuts of a small set are rendered as a shorter cut.
 *
 * With few and small images, some longer cuts look worse than a shorter one. The encoder finds
 * these ranges and stores at most six of them in the header, as holds. A cut between the start and
 * the end of a hold is rendered as the cut at its start. Sizes count bytes of the data, after the
 * front matter.
 *
 * A container stores holds as 64 bits (SPEC section 13): six records of ten bits, from the lowest
 * bit on, then two bits for the scale. A record is the code of a gap and the code of a length. */
#ifndef FORMATS_HOLDS_H
#define FORMATS_HOLDS_H
#include <stdint.h>

enum {
    FORMATS_HOLD_RECORDS = 6,
    FORMATS_HOLD_CODES = 32,    /* codes of a gap or a length */
    FORMATS_HOLD_MOST = 448,    /* formats_hold_bytes(31) */
    FORMATS_HOLD_MOST_SCALE = 3 /* sizes are multiples of 2^scale bytes */
};

typedef struct formats_hold_record {
    /* Code of the bytes from the end of the record before to the start of this hold. 0: this record
     * extends the hold before. */
    uint8_t gap;
    /* Code of the bytes from there to the end of the hold. */
    uint8_t length;
} formats_hold_record;

/* Value of a code before scaling: 0, 1 .. 8, 10, 12, 14, 16, 20 .. 384, 448, ascending. */
uint32_t formats_hold_bytes(uint32_t code);

/* record: [FORMATS_HOLD_RECORDS]; unused records stand at the end and are zero. */
uint64_t formats_holds_pack(const formats_hold_record *record, uint32_t scale);

/* Size of the cut that is rendered for a cut of `bytes` bytes. Never larger than `bytes`; never
 * decreases when `bytes` grows. With holds == 0 it is `bytes`. Not for complete files. */
uint64_t formats_holds_drawn(uint64_t holds, uint64_t bytes);

#endif
