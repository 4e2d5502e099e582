/* fse.h -- tables of finite-state entropy (RFC 8878, 4.1.1). */
#ifndef WEB_ZSTD_FSE_H
#define WEB_ZSTD_FSE_H
#include "web/zstd/backward_bits.h"

enum { WEB_FSE_MOST_LOG = 9, WEB_FSE_MOST_SYMBOLS = 256 };

typedef struct web_fse_state {
    uint16_t base; /* the next state is this, plus `bits` bits of the stream */
    uint8_t symbol, bits;
} web_fse_state;

typedef struct web_fse {
    unsigned log; /* 1 << log states */
    int is_there;
    web_fse_state state[1 << WEB_FSE_MOST_LOG];
} web_fse;

/* A table of counts, whose magnitudes add up to 1 << log; -1: less than one. */
void web_fse_make(web_fse *table, const int16_t *counts, unsigned symbols, unsigned log);
/* One symbol, which takes no bits. */
void web_fse_constant(web_fse *table, uint8_t symbol);
/* Reads a description of at most most_symbols symbols. Returns its bytes, 0 if it is illegal. */
size_t web_fse_read(web_fse *table, const uint8_t *from, size_t size, unsigned most_log,
                    unsigned most_symbols);

/* The state that follows. */
static inline unsigned web_fse_next(const web_fse *table, unsigned state, web_bits *bits) {
    web_fse_state s = table->state[state];
    return s.base + web_bits_take(bits, s.bits);
}

#endif
