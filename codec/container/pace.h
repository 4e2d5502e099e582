/* pace.h -- choosing the pace of a small set: which of its cuts are rendered as a shorter one.
 *
 * Over many windows the gains of a pass's bits outweigh their losses. Of one small image they need
 * not: its first bits alone may show another image, and its last bits may change less than rounding
 * does. So the encoder of a small set renders its cuts as a decoder will. Where more bytes would
 * look worse, it lets the decoder wait for those that mend it (formats_front_rendered): by a HOLD
 * near the beginning, and a GRID of bytes towards the end. If there are few cuts, it renders all;
 * else the pace is sparse, some 128 cuts an octave, and it renders these. It chooses the cheapest
 * of all paces that keep the promise. */
#ifndef CODEC_PACE_H
#define CODEC_PACE_H
#include "codec/taper_model.h"
#include "formats/container.h"

enum {
    CODEC_PACE_PIXELS = 4096 /* of small sets: with more, rendering takes long and gains little */
};

/* The original images of a small set. Begins zeroed. */
typedef struct codec_originals {
    taper_image *image;
    size_t n;
    uint64_t pixels; /* counted on where no image is kept any more */
} codec_originals;

/* Keep a copy of the set's next image, or none at all once the set is not small. */
taper_status codec_originals_add(codec_originals *originals, const taper_image *image);
void codec_originals_free(codec_originals *originals); /* leaves it zeroed */

/* The front->pace of a container, whole in `file`; 0 without originals. TAPER_ERR_NOMEM. */
taper_status codec_pace_choose(const taper_model *model, const formats_buffer *file,
                               const codec_originals *originals, uint32_t *pace);

#endif
