/* allocation.h -- the distribution of bits over the images of a set.
 *
 * All images use the model's order of passes, but some are ahead of others. Each image has a RATE
 * CLASS. A layer of the file contains, for each rate class, the passes whose rate-distortion slope
 * is above the threshold of the class.
 *
 * A slope is distortion per bit, so the mean squared error is lowest with one threshold for all
 * images. The mean PSNR is a mean of logarithms: an error counts relative to the distortion D of
 * its image. The best threshold then grows with D. As D itself grows with the threshold, the best
 * threshold is D^1.5. Images have about equal PSNR if the threshold falls with D. Both rules are
 * measured: bench/results/rate-distortion.md. */
#ifndef CODEC_ALLOCATION_H
#define CODEC_ALLOCATION_H
#include "codec/model/model.h"
#include "codec/taper.h"

enum {
    CODEC_RATE_CLASSES = 15,
    CODEC_EARLY_CLASSES = 7,
    CODEC_RATE_CLASS_STEP = 4 /* in slope units: half an octave */
};

/* Set depth[units] to the number of known planes of each unit at the pass where the order has cost
 * about bytes_per_mpixel bytes per million pixels. */
void codec_reference_depths(const codec_code_tables *tables, uint64_t bytes_per_mpixel,
                            uint8_t *depth);

/* Compute log2 of the image's squared error per window at these depths, up to a constant, and its
 * codes: code[windows][units] as codec_quantise_wide. Not for binary models, which have no slopes.
 * TAPER_ERR_NOMEM. */
taper_status codec_log_distortion(const taper_model *model, const codec_network *network,
                                  const codec_backend *backend, const taper_image *image,
                                  const uint8_t *depth, double *log_distortion, int16_t *code);
/* Upper bound of the memory that codec_log_distortion needs, in bytes. */
uint64_t codec_log_distortion_bytes(const taper_model *model, uint64_t windows);

/* The rate class of an image with this log distortion. mean: the mean log distortion of the set.
 * Class 0 is the furthest ahead. */
uint32_t codec_rate_class_of(taper_allocation allocation, double log_distortion, double mean);

/* The small layers of a gallery go half of the way from one threshold for all images to the rule of
 * the mean PSNR: plain images get more of the first bytes, and detailed ones keep their colours.
 * The distortion is that of these bytes, after so many passes (aim.h). */
uint32_t codec_early_passes(const codec_code_tables *tables);
/* The rate class of an image there: one of the CODEC_EARLY_CLASSES in the middle. They are few, so
 * that galleries with different layers can be merged (FORMATS_MAX_RATE_CLASSES). */
uint32_t codec_early_class_of(double log_distortion, double mean);

/* Compute the ends of the layers of a rate class from those of the middle class: end[n], in passes,
 * ascending, at least 1. A layer that ends with the order does so in all rate classes.
 * TAPER_ERR_NOMEM. */
taper_status codec_rate_class_layers(const codec_code_tables *tables, uint32_t rate_class,
                                     const uint32_t *middle, uint32_t n, uint32_t *end);

#endif
