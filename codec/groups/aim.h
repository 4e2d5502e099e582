/* aim.h -- how many passes an image needs for a PSNR, estimated before it is coded.
 *
 * The errors of the units are known from the codes of a sample of windows. Each unit's error counts
 * by what it does to pixels: the squared length of its row of the synthesis, and the lap. The head
 * and the restoration are omitted. They only improve the image, as in group_quality.h. */
#ifndef CODEC_AIM_H
#define CODEC_AIM_H
#include "codec/model/model.h"
#include "codec/taper.h"

/* The numbers of passes after which images may end: CODEC_AIM_ENDS of them, so that containers with
 * aims can be merged (FORMATS_MAX_RATE_CLASSES). */
enum { CODEC_AIM_ENDS = 15 };

/* Nonzero if the passes can be estimated: the model has a linear path, and units that are not bits.
 */
int codec_aim_is_possible(const taper_model *model);

/* The ends of a model: end[CODEC_AIM_ENDS], in passes, at least 1. The first is all passes, and the
 * others are not larger than the one before. From the third on each takes a tenth fewer bytes than
 * the one before it; or each a fifth, so that they reach further down, if images go beyond their
 * aims. */
void codec_aim_ends(const codec_code_tables *tables, int are_beyond, uint32_t *end);
/* The expected bytes per million pixels up to end k. */
uint32_t codec_aim_bytes_at(const codec_code_tables *tables, int are_beyond, uint32_t k);

/* Estimate the squared error per sample of the image, on the 8-bit scale, at each of these ends:
 * mse[CODEC_AIM_ENDS], ascending. Large images are sampled. TAPER_ERR_NOMEM. */
taper_status codec_aim_errors(const taper_model *model, const codec_network *network,
                              const codec_backend *backend, const taper_image *image,
                              const uint32_t *end, double *mse);
/* Upper bound of the memory that codec_aim_errors needs, in bytes. */
uint64_t codec_aim_bytes(const taper_model *model, const taper_image *image);

/* The last end at which the error is at most max_mse; 0 if there is none. */
uint32_t codec_aim_choose(const double *mse, double max_mse);

#endif
