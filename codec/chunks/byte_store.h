/* byte_store.h -- parts of a file, received in any order, stored as pieces with gaps between them.
 */
#ifndef CODEC_BYTE_STORE_H
#define CODEC_BYTE_STORE_H
#include "formats/bytes.h"

/* A run of bytes without a gap. It can grow at both ends, so that a file that is received from its
 * end is as fast as any other. */
typedef struct codec_byte_piece {
    uint64_t at; /* offset in the file */
    /* [capacity] the bytes are memory[from .. from + size - 1]. */
    uint8_t *memory;
    size_t from, size, capacity;
    /* At least those of its two children. */
    uint64_t priority;
    /* The children: pieces before and after it. */
    struct codec_byte_piece *left, *right;
} codec_byte_piece;

/* A search tree of pieces by `at`, balanced by random priorities (a treap): n insertions take
 * O(n log n) in any order. Pieces do not touch each other. Zeroed, except for the account, it is
 * empty. */
typedef struct codec_byte_store {
    codec_byte_piece *root;
    size_t n; /* number of pieces */
    /* Borrowed; charged with the memory. NULL: no account. */
    formats_account *account;
} codec_byte_store;

/* Leaves it empty. */
void codec_byte_store_free(codec_byte_store *store);

/* Store n bytes at offset `at`, at + n < 2^64; they replace older ones. *changed: 1: some are
 * new; 2: some differ from those that were there; 0: neither. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: the
 * store is unchanged. */
taper_status codec_byte_store_put(codec_byte_store *store, uint64_t at, const void *bytes, size_t n,
                                  int *changed);

/* The number of bytes from `at` to the next gap. *bytes: these bytes; `bytes` may be NULL. */
uint64_t codec_byte_store_run(const codec_byte_store *store, uint64_t at, const uint8_t **bytes);
/* The first offset >= at that is stored, or UINT64_MAX. */
uint64_t codec_byte_store_next(const codec_byte_store *store, uint64_t at);
/* One past the last byte; 0 when there is none. */
uint64_t codec_byte_store_end(const codec_byte_store *store);

/* Drop all but the bytes first .. end - 1. */
void codec_byte_store_keep(codec_byte_store *store, uint64_t first, uint64_t end);

/* The read function of a taper_source whose user is the store. TAPER_ERR_TRUNCATED: some of the
 * bytes are not stored. */
taper_status codec_byte_store_read(void *store, uint64_t at, void *to, size_t n);

#endif
