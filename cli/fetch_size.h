/* fetch_size.h -- how much of a container behind a URL `taper fetch` is to fetch. */
#ifndef CLI_FETCH_SIZE_H
#define CLI_FETCH_SIZE_H
#include "cli/common/inputs.h"

/* Members that are 0: not given. */
typedef struct cli_fetch_wish {
    uint64_t budget; /* bytes */
    double psnr_db;
    uint32_t scale;    /* 2, 4, 8 or 16 */
    const char *model; /* for psnr_db; NULL: its own */
} cli_fetch_wish;

/* *size: bytes of the beginning of the file. Returns an exit code, after a message. */
int cli_fetch_size_find(uint64_t *size, const cli_fetch_wish *wish, const char *url,
                        const cli_container *container, const cli_common *common);

#endif
