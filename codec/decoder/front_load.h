/* front_load.h -- a container's front matter from a source, and the models that it carries. */
#ifndef CODEC_FRONT_LOAD_H
#define CODEC_FRONT_LOAD_H
#include "codec/model/model.h"
#include "formats/container.h"

/* Returns TAPER_ERR_LIMIT, with a message for a front matter of this size. */
taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error);

/* Read a container's front matter from a source. */
taper_status codec_front_load(const taper_source *source, const taper_limits *limits,
                              formats_front *front, taper_error *error);
/* Append the next stage of the model, of which layers have `size` bytes, to front->model.
 * TAPER_ERR_CORRUPT: it is damaged, and nothing has changed. codec_front_drop_stage takes the last
 * stage, of that size, away again. */
taper_status codec_front_add_stage(formats_front *front, const void *bytes, size_t size,
                                   taper_error *error);
void codec_front_drop_stage(formats_front *front, size_t size);
/* Read the stages of the model that layers have, as far as they lie within the source: those behind
 * a damaged one are of no use. On failure those that were read stay. */
taper_status codec_front_load_stages(formats_front *front, const taper_source *source,
                                     taper_error *error);
/* The number of the layer that has the stage after those in front->model; UINT32_MAX: there is
 * none, as the model is complete, is not in stages, or was cut. */
uint32_t codec_front_next_stage(const formats_front *front);
/* The prefix of the source that is rendered (formats/holds.h). */
taper_source codec_front_drawn(const formats_front *front, const taper_source *source);
/* Load the model that the front carries or, if it carries none, the built-in model of its id. Of a
 * model in stages the built-in one is preferred; else those stages are loaded that are there. On
 * failure *out is NULL. TAPER_ERR_MODEL: there is neither. TAPER_ERR_CORRUPT: the carried model is
 * damaged, incomplete, or has another id. Also the errors of taper_model_load. */
taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error);
/* The model that the container has when it is cut to so many bytes, if that lacks stages which it
 * has otherwise; else *out is NULL. The errors of taper_model_load_stages. */
taper_status codec_front_cut_model(const formats_front *front, uint64_t cut,
                                   const taper_limits *limits, taper_model **out,
                                   taper_error *error);
/* Load the model of the search codes that the front carries. On failure *out is NULL.
 * TAPER_ERR_CORRUPT: it has another id, is not binary or has too few units. Also the errors of
 * codec_front_model. */
taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error);
/* Check the models that the front carries. TAPER_ERR_CORRUPT: one is damaged, has another id, or
 * does not fit the front; all functions that read a container reject it then. A model of another
 * version or above the limits is accepted here, as it may be intact; loading it fails where it is
 * needed. is_known: nonzero: the model of the images was already loaded and matched.
 * TAPER_ERR_NOMEM. */
taper_status codec_front_check_models(const formats_front *front, int is_known,
                                      const taper_limits *limits, taper_error *error);
/* Check that this model decodes this front. TAPER_ERR_MODEL: it has another id. TAPER_ERR_CORRUPT:
 * it has no decoder, or the front has more passes than it. */
taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error);
/* The part of it that looks at images and groups, for the front of a leaf. codec_front_match calls
 * it unless the front is of a root, which has none. */
taper_status codec_front_match_images(const formats_front *front, const taper_model *model,
                                      taper_error *error);

#endif
