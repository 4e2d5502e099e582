/* account.h -- counts the memory of a handle against its limit: charged before each allocation,
 * credited when the memory is freed. */
#ifndef FORMATS_ACCOUNT_H
#define FORMATS_ACCOUNT_H
#include "formats/status.h"

typedef struct formats_account {
    uint64_t used, limit; /* bytes; used <= limit */
    uint64_t taken;       /* see taper_limits */
} formats_account;

static inline formats_account formats_account_within(const taper_limits *limits) {
    return (formats_account){.limit = limits->max_memory, .taken = limits->taken};
}

/* Charge bytes. TAPER_ERR_LIMIT: less is left; nothing is charged. With account NULL nothing is
 * counted. */
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

/* max_memory with which `bytes` more fit: formats_memory_needed. */
static inline uint64_t formats_account_needed(const formats_account *account, uint64_t bytes) {
    const taper_limits limits = {.taken = account->taken + account->used};
    return formats_memory_needed(&limits, bytes);
}

/* The same, rounded up to a power of two: for callers that will need still more. */
static inline uint64_t formats_account_step(const formats_account *account, uint64_t bytes) {
    const taper_limits limits = {.taken = account->taken + account->used};
    return formats_memory_step(&limits, bytes);
}

#endif
