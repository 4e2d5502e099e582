/* allocation.h -- which image of a set gets how many of its bits. All images go through the model's
 * order, but some go ahead of others. A layer of the file holds other passes of each RATE CLASS:
 * those whose rate-distortion slope is above the class's threshold.
 *
 * Slopes are distortion per bit, so one threshold for all images is best for the mean squared
 * error. Images' mean PSNR is a mean of logarithms. There an error counts relative to its image's
 * own, so the best threshold rises with the image's distortion D; and as D rises with the
 * threshold, it rises faster: as D^1.5. Images are of about equal quality where the threshold falls
 * with D (both measured: bench/results/rate-distortion.md). */
#ifndef CODEC_ALLOCATION_H
#define CODEC_ALLOCATION_H
#include "codec/model/model.h"
#include "codec/taper.h"

enum { CODEC_RATE_CLASSES = 15, CODEC_RATE_CLASS_STEP = 4 /* of slopes: half an octave */ };

/* Planes known of each unit, depth[units], once the order has cost about so many bytes a million
 * pixels. */
void codec_reference_depths(const codec_code_tables *tables, uint64_t bytes_per_mpixel,
                            uint8_t *depth);

/* log2 of the image's squared error per window, up to a constant, at these depths, and its codes,
 * code[windows][units] as by codec_quantise_wide. Not for binary models, which have no slopes.
 * TAPER_ERR_NOMEM. */
taper_status codec_log_distortion(const taper_model *model, const codec_network *network,
                                  const codec_backend *backend, const taper_image *image,
                                  const uint8_t *depth, double *log_distortion, int16_t *code);
/* The most memory that it takes for so many windows. */
uint64_t codec_log_distortion_bytes(const taper_model *model, uint64_t windows);

/* The rate class of an image of this distortion where the mean is that; 0 goes farthest ahead. */
uint32_t codec_rate_class_of(taper_allocation allocation, double log_distortion, double mean);

/* Ends of the rate class's layers from those of the middle one: [n], of 1 pass at least, rising. A
 * layer that ends with the order does so in all rate classes. TAPER_ERR_NOMEM. */
taper_status codec_rate_class_layers(const codec_code_tables *tables, uint32_t rate_class,
                                     const uint32_t *middle, uint32_t n, uint32_t *end);

#endif
