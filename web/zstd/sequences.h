/* sequences.h -- the sequences of a block: so many literals, then a match (RFC 8878, 3.1.1.3.2, 4).
 * */
#ifndef WEB_ZSTD_SEQUENCES_H
#define WEB_ZSTD_SEQUENCES_H
#include "web/zstd/literals.h"

typedef struct web_sequences {
    web_fse
        tables[3]; /* of literal lengths, offsets, match lengths; they stay from block to block */
    uint32_t offsets[3];
} web_sequences;

/* What was unpacked so far: `size` bytes of at most `room`. */
typedef struct web_unpacked {
    uint8_t *byte;
    size_t size, room;
} web_unpacked;

/* Unpacks literals and the `size` bytes of sequences that follow them in a block. 0 if they are
 * illegal. */
int web_sequences_unpack(web_sequences *s, const web_literals *literals, const uint8_t *from,
                         size_t size, web_unpacked *to);

#endif
