/* merge_chunks.h -- the chunks of a merged container: where they are in the containers that are
 * joined (shards), and their checksums.
 *
 * Each byte is read twice. First shard after shard, in file order: the checksums of the shard are
 * tested, and those of the result computed of the same bytes. Then in the order of the result, to
 * be written. So nothing is written of damaged shards. */
#ifndef CODEC_MERGE_CHUNKS_H
#define CODEC_MERGE_CHUNKS_H
#include "codec/container/merge_layers.h"
#include "codec/groups/stage_layers.h"
#include "codec/taper.h"

/* The first group and image of a shard in the result. */
typedef struct codec_shard_start {
    uint32_t group, image;
} codec_shard_start;

/* The containers that are joined. Arrays are [n], one element per shard. */
typedef struct codec_merging {
    const taper_source *source;
    taper_container **open;    /* NULL, or where fronts are taken from */
    codec_unstaged **unstaged; /* NULL: it has no layers with stages of its model */
    taper_source *data;        /* the source without such layers */
    const taper_model *model;  /* NULL: it is not given */
    size_t n;
    formats_front *front;
    codec_shard_layers *layers;
    codec_shard_start *first;
    uint64_t charged; /* to the account of the result, for fronts */
    /* NULL: no chunk of the result is cut; [its groups] for how many strips the chunk of the last
     * layer is padded (groups/chunk_padding.h); 0: it is not. */
    uint32_t *padding;
    /* After codec_merge_keep: the arrays of these names of all fronts, one after the other. */
    uint64_t *chunk_at;
    uint32_t *checksum;
} codec_merging;

typedef struct codec_merged_chunks {
    codec_chunks chunks; /* for codec_assemble */
    const codec_merging *merge;
    formats_front *result;
    uint32_t layers, per; /* of the result, also when it gets layers with stages */
    int64_t cut_layer;    /* the layer that has cut chunks; -1: none */
    uint32_t *sum;        /* [layers][blocks] checksums of the result; blocks of `per` chunks */
} codec_merged_chunks;

/* Set merge->padding, if chunks of the result are cut. It has its layers, groups and models; the
 * shards have their fronts. The number of strips depends on the window of merge->model; NULL: of
 * the model that the result carries, or of the built-in one. If there is none, every image is taken
 * to be one strip: the padding of others is ignored, and their last bits are not decoded.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM; the errors of codec_front_match for merge->model, and of
 * codec_front_model. */
taper_status codec_merge_pad(codec_merging *merge, formats_front *result,
                             const taper_limits *limits, taper_error *error);
/* Set chunk_at and chunks_per_checksum of the result, which has its layers and groups; padding is
 * known.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_merge_place(const codec_merging *merge, formats_front *result,
                               taper_error *error);

/* Free the fronts but for their chunks and checksums, when the result has all else. These are moved
 * together, so that the memory between them can be used again. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_merge_keep(codec_merging *merge, formats_front *result, taper_error *error);
/* Free all arrays but source. */
void codec_merge_free(codec_merging *merge);

/* Read all chunks: test the checksums of the shards, and compute those of the result. out->chunks
 * is then ready; it borrows both others. It frees what the result has of images when its front
 * matter is in bytes. error->item: the number of the shard that is damaged
 * (TAPER_ERR_CORRUPT) or cannot be read. Memory is charged to the result. *out is to be freed, also
 * after a failure. */
taper_status codec_merge_check(const codec_merging *merge, formats_front *result,
                               codec_merged_chunks *out, taper_error *error);
void codec_merged_chunks_free(codec_merged_chunks *chunks);

#endif
