/* cut_quality.h -- the PSNR of each cut of a small set, rendered as a decoder does. */
#ifndef CODEC_CUT_QUALITY_H
#define CODEC_CUT_QUALITY_H
#include "codec/taper_model.h"
#include "formats/bytes.h"

enum {
    CODEC_SMALL_SET_PIXELS = 4096 /* larger sets take long and gain little */
};

/* The original images of a small set. Begins zeroed. */
typedef struct codec_originals {
    taper_image *image;
    size_t n;
    /* Of all images of the set, also after the copies were dropped. */
    uint64_t pixels;
} codec_originals;

/* Keep a copy of the set's next image. Once the set exceeds CODEC_SMALL_SET_PIXELS, drop all
 * copies. TAPER_ERR_NOMEM. */
taper_status codec_originals_add(codec_originals *originals, const taper_image *image);
/* Leaves it zeroed. */
void codec_originals_free(codec_originals *originals);

/* Cuts of a container of one group, ascending. Every cut of the data if they are short; otherwise
 * the cuts whose size has at most eight significant bits, 128 per octave. The last one is the
 * complete container. Begins zeroed. */
typedef struct codec_cut_quality {
    size_t n;
    uint64_t *bytes; /* [n] size of the data */
    double *psnr;    /* [n] dB, mean over the images */
    uint32_t *pass;  /* [n] complete passes */
    double *image;   /* [images] dB, at the last cut */
} codec_cut_quality;

/* Render the cuts of a container without holds and measure them. file: the complete container. On
 * failure *out is zeroed: TAPER_ERR_NOMEM, or an error of the decoder. */
taper_status codec_cut_quality_measure(codec_cut_quality *out, const taper_model *model,
                                       const formats_buffer *file,
                                       const codec_originals *originals);
/* The same, for the complete container only. */
taper_status codec_cut_quality_whole(codec_cut_quality *out, const taper_model *model,
                                     const formats_buffer *file, const codec_originals *originals);
/* Also measure the cuts inside these holds that were not measured yet; *added: their number. */
taper_status codec_cut_quality_refine(codec_cut_quality *quality, const taper_model *model,
                                      const formats_buffer *file, const codec_originals *originals,
                                      uint64_t holds, size_t *added);
/* Leaves it zeroed. */
void codec_cut_quality_free(codec_cut_quality *quality);

#endif
