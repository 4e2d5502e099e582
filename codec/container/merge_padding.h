/* merge_padding.h -- which complete chunks taper_merge appends bytes to (bitplane/chunk_padding.h):
 * those that are marked as cut in the result, as they are behind a cut one. */
#ifndef CODEC_MERGE_PADDING_H
#define CODEC_MERGE_PADDING_H
#include "codec/container/merge_chunks.h"

/* Set merge->padding, if chunks of the result are cut. It has its layers, groups and models; the
 * shards have their fronts. The number of strips depends on the window of merge->model; NULL: of
 * the model that the result carries, or of the built-in one. If there is none, every image is taken
 * to be one strip: the padding of others is ignored, and their last bits are not decoded.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM; the errors of codec_front_match for merge->model, and of
 * codec_front_model. */
taper_status codec_merge_pad(codec_merging *merge, formats_front *result,
                             const taper_limits *limits, taper_error *error);

#endif
