/* merge_layers.h -- the layers and rate classes of the result of taper_merge. */
#ifndef CODEC_MERGE_LAYERS_H
#define CODEC_MERGE_LAYERS_H
#include "formats/container.h"

/* Maps the layers and rate classes of a shard (one of the inputs) to those of the result. */
typedef struct codec_shard_layers {
    /* [layers of the result] the shard's layer that ends there, or -1. */
    int32_t *layer_at;
    /* [the shard's rate classes] the rate class of the result. */
    uint8_t rate_class_of[FORMATS_MAX_RATE_CLASSES];
} codec_shard_layers;

/* Set the layers, rate classes and layer_end of the result, and layers[n] of the shards. A layer of
 * the result ends at each pass where a layer of a shard ends. Images whose layers end elsewhere get
 * another rate class, for which such a layer has no pass. Only chunks of the last layer may be cut.
 * TAPER_ERR_NOMEM. TAPER_ERR_LIMIT: too many rate classes or layers. In all cases the caller frees
 * layers[0].layer_at, of which those of the other shards are parts. */
taper_status codec_merge_layers(const formats_front *shard, size_t n, codec_shard_layers *layers,
                                formats_front *result, taper_error *error);

#endif
