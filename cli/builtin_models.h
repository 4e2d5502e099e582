/* builtin_models.h -- the models that ship (models/), inside the program. */
#ifndef CLI_BUILTIN_MODELS_H
#define CLI_BUILTIN_MODELS_H
#include <stddef.h>
#include <stdint.h>

typedef struct cli_builtin_model {
    const char *name;     /* as -m takes it */
    const uint8_t *bytes; /* of its file */
    size_t size;
} cli_builtin_model;

#define CLI_DEFAULT_MODEL "photo"

/* 1, or 0: there is none of that name, or id. */
int cli_builtin_model_named(const char *name, cli_builtin_model *out);
int cli_builtin_model_of(uint64_t id, cli_builtin_model *out);

#endif
