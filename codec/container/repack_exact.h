/* repack_exact.h -- repacking a lossless container: from its pixels. */
#ifndef CODEC_REPACK_EXACT_H
#define CODEC_REPACK_EXACT_H
#include "codec/taper.h"
#include "formats/container.h"

/* Nonzero: each image of the container is exact. Of a container that is cut in its exact layer,
 * that layer is left out, as any layer that is not whole. */
int codec_is_exact(const formats_front *front, const taper_source *from);

/* Encode the images of such a container anew, losslessly, with the same passes if it has one rate
 * class; else the passes end as with taper_encode_options.lossless. Names, labels, metadata and
 * codes for search are kept. Errors: those of taper_repack. */
taper_status codec_repack_exact(const formats_front *front, const taper_source *from,
                                const taper_model *model, const taper_encode_options *options,
                                const taper_sink *to, taper_error *error);

/* Give an encoder the names of the classes of a front, if it has labels. */
taper_status codec_copy_classes(taper_encoder *encoder, const formats_front *front,
                                taper_error *error);

#endif
