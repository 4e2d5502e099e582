/* merge.h -- what the parts of taper_merge share: the containers that are joined, and the front
 * matter that they get in common. merge.c joins, merge_layers.c sees to layers and tracks,
 * merge_names.c to names and classes. */
#ifndef CODEC_MERGE_H
#define CODEC_MERGE_H
#include "formats/container.h"

/* One of the containers that are joined, shard 0 and on. */
typedef struct codec_shard {
    formats_front front;
    uint32_t first_group, first_image;    /* in the result */
    int32_t *layer_at;                    /* [layers of the result] its own layer there, or -1 */
    uint8_t track_of[FORMATS_MAX_TRACKS]; /* the result's tracks for its own */
} codec_shard;

typedef struct codec_merge {
    const taper_source *source; /* [n] */
    codec_shard *shard;         /* [n] */
    size_t n;
} codec_merge;

/* Layers and tracks of the result: front->layers, tracks, layer_end; of the shards layer_at and
 * track_of. A layer of the result ends where a layer of a shard ends, after the same pass of the
 * order; images whose layers end elsewhere have a track of their own, on which such a layer has no
 * pass. Chunks that are cut must be of the last layer. TAPER_ERR_NOMEM; TAPER_ERR_LIMIT: that takes
 * more tracks or layers than there may be. */
taper_status codec_merge_layers(codec_merge *merge, formats_front *front, taper_error *error);

/* Names of all images, if a shard has names. An image without one gets its number's, as decoding
 * names it. A name that an earlier shard has, too, goes into a folder, shard-2/ and so on, that no
 * name is in yet; where that would be too long to be legal, it is its number there. front->names
 * and name_at are made here. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status codec_merge_names(const codec_merge *merge, formats_front *front, taper_error *error);

/* Labels of all images, if a shard has labels: classes are joined by their names, in the order in
 * which they come up, and labels numbered anew. front->label and the classes are made here.
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT. */
taper_status codec_merge_labels(const codec_merge *merge, formats_front *front,
                                taper_error *error);

#endif
