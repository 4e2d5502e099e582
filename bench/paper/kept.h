/* kept.h -- curves kept in the work folder, so that what was measured once is not measured again.
 *
 * A file WORK/NAME-HASH.curve has a line "length error" for each length. HASH is of the settings
 * that the figures depend on, of those added to all networks, of the images' number and kind, and
 * of the lengths; where the code that measures is changed, delete the files. */
#ifndef BENCH_PAPER_KEPT_H
#define BENCH_PAPER_KEPT_H
#include "bench/paper/paper.h"

/* curve->mse at curve->length; 0 where no such file is. */
int paper_curve_read(const paper *p, const char *name, const char *settings, paper_curve *curve);
void paper_curve_write(const paper *p, const char *name, const char *settings,
                       const paper_curve *curve);
#endif
