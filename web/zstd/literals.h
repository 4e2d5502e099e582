/* literals.h -- the literals of a block: as they are, one byte repeated, or in Huffman codes (RFC
 * 8878, 3.1.1.3.1 and 4.2). */
#ifndef WEB_ZSTD_LITERALS_H
#define WEB_ZSTD_LITERALS_H
#include "web/zstd/fse.h"

enum { WEB_ZSTD_BLOCK = 1 << 17, WEB_HUFFMAN_MOST_BITS = 11 };

typedef struct web_huffman {
    unsigned bits; /* of the longest code; 0: there is no table */
    struct {
        uint8_t symbol, bits;
    } code[1 << WEB_HUFFMAN_MOST_BITS]; /* by the next `bits` bits of the stream */
} web_huffman;

typedef struct web_literals {
    web_huffman huffman; /* stays from block to block */
    web_fse weights;     /* while a table is read */
    size_t size;
    uint8_t byte[WEB_ZSTD_BLOCK];
} web_literals;

/* Reads the literals at the begin of a block. Returns the bytes that they take, 0 if they are
 * illegal. */
size_t web_literals_read(web_literals *to, const uint8_t *from, size_t size);

#endif
