/* account.h -- the memory that a handle has taken: charged before each block, given back when
 * freed. */
#ifndef FORMATS_ACCOUNT_H
#define FORMATS_ACCOUNT_H
#include "formats/status.h"

typedef struct formats_account {
    uint64_t used, limit; /* bytes; used <= limit */
} formats_account;

/* TAPER_ERR_LIMIT, and nothing is charged: less is left. account NULL: none is kept. */
static inline taper_status formats_account_take(formats_account *account, uint64_t bytes) {
    if (!account) return TAPER_OK;
    if (bytes > account->limit - account->used) return TAPER_ERR_LIMIT;
    account->used += bytes;
    return TAPER_OK;
}

static inline void formats_account_give(formats_account *account, uint64_t bytes) {
    if (account) account->used -= bytes;
}

static inline uint64_t formats_account_left(const formats_account *account) {
    return account->limit - account->used;
}

#endif
