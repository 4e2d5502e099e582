/* merge_layers.h -- layers and rate classes of containers that are joined. */
#ifndef CODEC_MERGE_LAYERS_H
#define CODEC_MERGE_LAYERS_H
#include "formats/container.h"

/* Where a shard, one of the containers, has its layers and rate classes in the result. */
typedef struct codec_shard_layers {
    int32_t *layer_at; /* [layers of the result] its own layer there, or -1 */
    uint8_t rate_class_of[FORMATS_MAX_RATE_CLASSES]; /* the result's rate classes for its own */
} codec_shard_layers;

/* Fill the result's layers, rate classes and layer_end, and layers[n] of the shards. A layer of the
 * result ends where a layer of a shard ends, after the same pass of the order. Images whose layers
 * end elsewhere have a rate class of their own, in which such a layer has no pass. Chunks that are
 * cut must be of the last layer. TAPER_ERR_NOMEM; TAPER_ERR_LIMIT: too many rate classes or layers.
 * In both cases layer_at is the caller's to free. */
taper_status codec_merge_layers(const formats_front *shard, size_t n, codec_shard_layers *layers,
                                formats_front *result, taper_error *error);

#endif
