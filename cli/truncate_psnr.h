/* truncate_psnr.h -- the cut for `truncate --psnr`, and the PSNR of any cut. */
#ifndef CLI_TRUNCATE_PSNR_H
#define CLI_TRUNCATE_PSNR_H
#include "cli/common/inputs.h"

typedef struct cli_truncate_psnr {
    const char *path;      /* of the container, for messages */
    const char *model;     /* NULL: that of the container, or a built-in one */
    const char *originals; /* a file or folder; NULL: the images decoded from the whole container */
    double target_db;
} cli_truncate_psnr;

/* *ceiling: size of the smallest cut whose mean PSNR against the originals reaches the target. On
 * failure prints a message and returns an exit code. */
int cli_truncate_find_psnr(const cli_truncate_psnr *wanted, const cli_container *container,
                           const cli_common *common, uint64_t *ceiling);

/* The PSNR of a cut of the container, as text for the end of a message: "; 33.02 dB in the mean
 * against the whole file, ...". words: [room]. Of large sets a sample is measured; the time is that
 * of decoding it twice. If it cannot be measured, words is empty and a note says why. */
void cli_truncate_measure(const cli_truncate_psnr *wanted, const cli_container *container,
                          const taper_source *cut, const cli_common *common, char *words,
                          size_t room);

#endif
