/* zstd_errors.h -- errors of zstd.h, by the names of libzstd. */
#ifndef WEB_ZSTD_ZSTD_ERRORS_H
#define WEB_ZSTD_ZSTD_ERRORS_H
#include "web/zstd/frame.h"

typedef enum {
    ZSTD_error_no_error,
    ZSTD_error_memory_allocation,
    ZSTD_error_GENERIC
} ZSTD_ErrorCode;

static inline ZSTD_ErrorCode ZSTD_getErrorCode(size_t got) {
    return got == WEB_ZSTD_NO_MEMORY ? ZSTD_error_memory_allocation
           : got == WEB_ZSTD_DAMAGED ? ZSTD_error_GENERIC
                                     : ZSTD_error_no_error;
}

#endif
