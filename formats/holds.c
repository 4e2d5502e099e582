/* holds.c -- see holds.h. */
#include "formats/holds.h"

enum { CODE_BITS = 5, RECORD_BITS = 2 * CODE_BITS, SCALE_AT = 60, MANTISSA_BITS = 2 };

uint32_t formats_hold_bytes(uint32_t code) {
    uint32_t exponent = code >> MANTISSA_BITS, one = 1 << MANTISSA_BITS, mantissa = code % one;
    return exponent ? (one + mantissa) << (exponent - 1) : mantissa;
}

uint64_t formats_holds_pack(const formats_hold_record *record, uint32_t scale) {
    uint64_t holds = 0;
    for (int k = FORMATS_HOLD_RECORDS; k--;)
        holds = holds << RECORD_BITS | (uint64_t)record[k].length << CODE_BITS | record[k].gap;
    return holds ? holds | (uint64_t)scale << SCALE_AT : 0;
}

uint64_t formats_holds_drawn(uint64_t holds, uint64_t bytes) {
    uint32_t scale = (uint32_t)(holds >> SCALE_AT) & FORMATS_HOLD_MOST_SCALE;
    uint64_t start = 0, end = 0;
    for (int k = 0; k < FORMATS_HOLD_RECORDS; k++, holds >>= RECORD_BITS) {
        uint32_t gap = holds % FORMATS_HOLD_CODES;
        uint32_t length = (holds >> CODE_BITS) % FORMATS_HOLD_CODES;
        if (gap) start = end + ((uint64_t)formats_hold_bytes(gap) << scale);
        end = (gap ? start : end) + ((uint64_t)formats_hold_bytes(length) << scale);
        if (bytes <= start) return bytes;
        if (bytes < end) return start;
    }
    return bytes;
}
