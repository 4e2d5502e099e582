/* builtin_models.h -- the models that ship (models/), inside the library. The decoder alone
 * (tests/decoder_sources.txt) does without them: models/no_models.c. A program that is linked with
 * the static library holds them where it decodes, or asks for one. */
#ifndef CODEC_BUILTIN_MODELS_H
#define CODEC_BUILTIN_MODELS_H
#include <stddef.h>
#include <stdint.h>

typedef struct codec_builtin_model {
    const char *name;     /* as `-m` and taper_model_builtin take it */
    const uint8_t *bytes; /* of its file */
    size_t size;
} codec_builtin_model;

/* 1, or 0: there is none of that name, or id. */
int codec_builtin_model_named(const char *name, codec_builtin_model *out);
int codec_builtin_model_of(uint64_t id, codec_builtin_model *out);

#endif
