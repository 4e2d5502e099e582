/* truncate_psnr.h -- where `truncate --psnr` cuts, and how well any cut shows the images. */
#ifndef CLI_TRUNCATE_PSNR_H
#define CLI_TRUNCATE_PSNR_H
#include "cli/common/inputs.h"

typedef struct cli_truncate_psnr {
    const char *path;      /* of the container, for messages */
    const char *model;     /* NULL: its own, or one that is built in */
    const char *originals; /* a file or folder; NULL: what the whole container decodes to */
    double target_db;
} cli_truncate_psnr;

/* The smallest cut of which the images' mean PSNR reaches the target, measured against the
 * originals. Prints what went wrong and returns an exit code. */
int cli_truncate_find_psnr(const cli_truncate_psnr *wanted, const cli_container *container,
                           const cli_common *common, uint64_t *ceiling);

/* How well `cut`, made of the container, shows its images, for the end of a line: "; 33.02 dB in
 * the mean against the whole file, ...". Of large sets a sample is measured. Empty, with a note
 * that says why, where that cannot be found out. Takes about as long as decoding the sample, whole
 * and cut. */
void cli_truncate_measure(const cli_truncate_psnr *wanted, const cli_container *container,
                          const taper_source *cut, const cli_common *common, char *words,
                          size_t room);

#endif
