/* builtin_models.h -- the built-in models (models/), which are part of the library. The build of
 * the decoder alone (tests/decoder_sources.txt) omits them: models/no_models.c. A program that is
 * linked with the static library contains them if it decodes or calls taper_model_builtin. */
#ifndef CODEC_BUILTIN_MODELS_H
#define CODEC_BUILTIN_MODELS_H
#include <stddef.h>
#include <stdint.h>

typedef struct codec_builtin_model {
    const char *name;     /* for `-m` and taper_model_builtin */
    const uint8_t *bytes; /* [size] the contents of its file */
    size_t size;
} codec_builtin_model;

/* Find a built-in model by name or id. Returns 1, or 0 if there is none. */
int codec_builtin_model_named(const char *name, codec_builtin_model *out);
int codec_builtin_model_of(uint64_t id, codec_builtin_model *out);

#endif
