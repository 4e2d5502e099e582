/* byte_store.h -- bytes of a file that have come in any order, as pieces with gaps between them. */
#ifndef CODEC_BYTE_STORE_H
#define CODEC_BYTE_STORE_H
#include "formats/bytes.h"

/* Bytes without a gap, with room to grow on both sides, so that pieces that come from the back
 * cost no more than others. */
typedef struct codec_byte_piece {
    uint64_t at; /* in the file */
    uint8_t *memory;
    size_t from, size, room;               /* its bytes are memory[from .. from + size) of room */
    uint64_t priority;                     /* no less than those of the two below it */
    struct codec_byte_piece *left, *right; /* pieces before it and behind it */
} codec_byte_piece;

/* Zeroed but for the account, it is empty. No piece touches the next. They are a search tree by
 * `at` that chance balances (a treap), so that n puts take n log n in any order. */
typedef struct codec_byte_store {
    codec_byte_piece *root;
    size_t n;                 /* pieces */
    formats_account *account; /* borrowed; charged with all that it takes. NULL: none is kept */
} codec_byte_store;

void codec_byte_store_free(codec_byte_store *store); /* leaves it empty */

/* n bytes from `at`, at + n < 2^64, in place of those that are there. *changed: were there others,
 * or none? TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: the store is as it was. */
taper_status codec_byte_store_put(codec_byte_store *store, uint64_t at, const void *bytes, size_t n,
                                  int *changed);

/* How many bytes there are from `at` on without a gap; *bytes: they, unless it is NULL. */
uint64_t codec_byte_store_run(const codec_byte_store *store, uint64_t at, const uint8_t **bytes);
/* Where the next bytes from `at` on begin, or UINT64_MAX. */
uint64_t codec_byte_store_next(const codec_byte_store *store, uint64_t at);
/* One past the last byte; 0 when there is none. */
uint64_t codec_byte_store_end(const codec_byte_store *store);

/* Drop all but the bytes first .. end - 1. */
void codec_byte_store_keep(codec_byte_store *store, uint64_t first, uint64_t end);

/* For a taper_source whose user is the store. TAPER_ERR_TRUNCATED: not all of them are there. */
taper_status codec_byte_store_read(void *store, uint64_t at, void *to, size_t n);

#endif
