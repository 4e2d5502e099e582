/* pace.h -- choosing the pace of a small set: which of its cuts are rendered as a shorter one.
 *
 * Over many windows the gains of a pass's bits outweigh their losses. Of one small image they need
 * not: the first bits, read without the others, may tell of another image, and late ones move less
 * than the rounding of its pixels does. So a small set's encoder renders its cuts, as a decoder
 * will, and where more bytes would look worse it lets the decoder wait for those that mend it
 * (formats_front_rendered): a HOLD near the beginning, and a GRID of bytes towards the end. Where
 * there are few cuts, all are rendered; else the pace is sparse: some 128 an octave, and these are
 * rendered. So the choice, the cheapest of all paces that keep the promise, rests on what is seen
 * alone. */
#ifndef CODEC_PACE_H
#define CODEC_PACE_H
#include "codec/taper_model.h"
#include "formats/container.h"

enum {
    CODEC_PACE_PIXELS = 4096 /* of sets that are small: for more the rendering takes too long, and
                                gains little */
};

/* The images of a small set, as they were. Begins zeroed. */
typedef struct codec_originals {
    taper_image *image;
    size_t n;
    uint64_t pixels; /* counted on where no image is kept any more */
} codec_originals;

/* Keep a copy of the set's next image, or none at all once the set is not small. */
taper_status codec_originals_add(codec_originals *originals, const taper_image *image);
void codec_originals_free(codec_originals *originals); /* leaves it zeroed */

/* front->pace of a container, whole in `file`, of images whose originals are there, or 0 where they
 * are not. TAPER_ERR_NOMEM. */
taper_status codec_pace_choose(const taper_model *model, const formats_buffer *file,
                               const codec_originals *originals, uint32_t *pace);

#endif
