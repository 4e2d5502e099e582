/* stage_layers.h -- a model that a container carries, between the layers: its first stages are in
 * the front matter, each other one is a layer before the passes that need it (SPEC.md, 5.6). So a
 * prefix of the file shows something long before all of the model is there.
 *
 * Writers insert these layers last. What copies chunks of a container into another takes them out
 * first, and sees the container as if all of its model were in the front matter. */
#ifndef CODEC_STAGE_LAYERS_H
#define CODEC_STAGE_LAYERS_H
#include "codec/groups/assemble.h"
#include "formats/model_file.h"

typedef struct codec_stage_layers {
    codec_chunks chunks; /* for codec_assemble */
    codec_chunks inner;
    formats_front *front;
    uint32_t *from;  /* [layers] the number of the layer in `inner`, or of the stage */
    uint64_t *begin; /* [stages + 1] in the file of the model */
} codec_stage_layers;

/* Insert layers with stages into a front that has chunks and the complete file of its model. They
 * are not inserted where they are of no use: in layout image, with one layer of passes, with holds,
 * or where the model has one stage. out->chunks are then those given. *out is to be freed, also
 * after a failure. The errors of taper_model_load, for the front's model; TAPER_ERR_LIMIT, _NOMEM.
 */
taper_status codec_stage_layers_insert(formats_front *front, const codec_chunks *chunks,
                                       const taper_limits *limits, codec_stage_layers *out,
                                       taper_error *error);
void codec_stage_layers_free(codec_stage_layers *layers);

/* A source without these layers. */
typedef struct codec_unstaged {
    taper_source source; /* as if they were not there; reads `from`, which must outlive it */
    taper_source from;
    struct codec_unstaged_cut {
        uint64_t at, skipped; /* from `at` on, so many bytes of `from` come before */
    } cut[FORMATS_MODEL_MOST_STAGES];
    uint32_t cuts;
} codec_unstaged;

/* Take the layers with stages out of a front that was read from a source, with all stages of the
 * model (codec_front_load_stages). front->model is then the whole model. TAPER_ERR_ARG: it lacks
 * some, and the model is not built in. TAPER_ERR_LIMIT, _NOMEM. */
taper_status codec_stage_layers_remove(formats_front *front, const taper_source *from,
                                       codec_unstaged *out, taper_error *error);

#endif
