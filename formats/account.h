/* account.h -- the memory that a handle has taken: charged before each block, given back when
 * freed. */
#ifndef FORMATS_ACCOUNT_H
#define FORMATS_ACCOUNT_H
#include "formats/status.h"

typedef struct formats_account {
    uint64_t used, limit; /* bytes; used <= limit */
    uint64_t taken;       /* as in taper_limits */
} formats_account;

static inline formats_account formats_account_within(const taper_limits *limits) {
    return (formats_account){.limit = limits->max_memory, .taken = limits->taken};
}

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

/* What --max-memory has to be, in MiB, to take so many bytes more. */
static inline uint64_t formats_account_needed(const formats_account *account, uint64_t bytes) {
    return ((account->taken + account->used + bytes) >> 20) + 1;
}

/* The same where more is to follow: a power of two. */
static inline uint64_t formats_account_step(const formats_account *account, uint64_t bytes) {
    return formats_power_above(formats_account_needed(account, bytes) - 1);
}

#endif
