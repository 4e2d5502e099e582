/* cut_quality.h -- how well each cut of a small set shows its images: the encoder draws the cuts as
 * a decoder will. */
#ifndef CODEC_CUT_QUALITY_H
#define CODEC_CUT_QUALITY_H
#include "codec/taper_model.h"
#include "formats/bytes.h"

enum {
    CODEC_SMALL_SET_PIXELS = 4096 /* of small sets: of larger ones it takes long and gains little */
};

/* The original images of a small set. Begins zeroed. */
typedef struct codec_originals {
    taper_image *image;
    size_t n;
    uint64_t pixels; /* counted on where no image is kept any more */
} codec_originals;

/* Keep a copy of the set's next image, or none at all once the set is not small. TAPER_ERR_NOMEM.
 */
taper_status codec_originals_add(codec_originals *originals, const taper_image *image);
void codec_originals_free(codec_originals *originals); /* leaves it zeroed */

/* Cuts of a container of one group, rising: every cut of the data, or, where that takes long, those
 * whose bytes have eight leading bits, 128 an octave. The last is the whole. Begins zeroed. */
typedef struct codec_cut_quality {
    size_t n;
    uint64_t *bytes; /* [n] of the data */
    double *psnr;    /* [n] dB, mean of the images */
    uint32_t *pass;  /* [n] passes that are complete */
    double *image;   /* [images] PSNR of each, of the last cut */
} codec_cut_quality;

/* Draw the cuts of a container without holds, whole in `file`. On failure nothing is held:
 * TAPER_ERR_NOMEM, or what the decoder says. */
taper_status codec_cut_quality_measure(codec_cut_quality *out, const taper_model *model,
                                       const formats_buffer *file,
                                       const codec_originals *originals);
/* The same of the whole alone. */
taper_status codec_cut_quality_whole(codec_cut_quality *out, const taper_model *model,
                                     const formats_buffer *file, const codec_originals *originals);
/* Draw the cuts inside these holds, too, where they are not known yet; *added: how many. */
taper_status codec_cut_quality_refine(codec_cut_quality *quality, const taper_model *model,
                                      const formats_buffer *file, const codec_originals *originals,
                                      uint64_t holds, size_t *added);
void codec_cut_quality_free(codec_cut_quality *quality); /* leaves it zeroed */

#endif
