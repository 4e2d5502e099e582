/* builtin_models.h -- the built-in models (models/), which are part of the library. The build of
 * the decoder alone (tests/decoder_sources.txt) omits them: models/no_models.c. A program that is
 * linked with the static library contains them if it decodes or calls taper_model_builtin. */
#ifndef CODEC_BUILTIN_MODELS_H
#define CODEC_BUILTIN_MODELS_H
#include "codec/model/model.h"

typedef struct codec_builtin_model {
    const char *name;     /* for `-m` and taper_model_builtin */
    const uint8_t *bytes; /* [size] the contents of its file */
    size_t size;
    /* As taper_model_load makes it of the bytes, with an analysis. NULL: opening loads these: an
     * embedding model, whose weights would take more than twice their bytes. */
    const taper_model *constant;
} codec_builtin_model;

/* Find a built-in model by name or id. Returns 1, or 0 if there is none. */
int codec_builtin_model_named(const char *name, codec_builtin_model *out);
int codec_builtin_model_of(uint64_t id, codec_builtin_model *out);

/* Open a built-in model as taper_model_load does. Of one that is there as constants *out is a copy
 * of the struct, with the library's arrays (models/unpack_model.c wrote them), in next to no time.
 * limits: NULL means the defaults. Errors are those of taper_model_load. */
taper_status codec_builtin_model_open(const codec_builtin_model *builtin,
                                      const taper_limits *limits, taper_model **out,
                                      taper_error *error);

#endif
