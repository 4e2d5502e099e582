/* builtin_models.c -- see builtin_models.h. The bytes: models/models.S. */
#include "builtin_models.h"
#include "../formats/bytes.h"
#include <string.h>

extern const uint8_t models_photo[], models_photo_end[], models_tiny[], models_tiny_end[];

enum { COUNT = 2, ID_AT = 32 }; /* SPEC.md, 6.1 */

static const struct {
    const char *name;
    const uint8_t *begin, *end;
} models[COUNT] = {{"photo", models_photo, models_photo_end},
                   {"tiny", models_tiny, models_tiny_end}};

static int found(cli_builtin_model *out, int i) {
    *out = (cli_builtin_model){models[i].name, models[i].begin,
                               (size_t)(models[i].end - models[i].begin)};
    return 1;
}

int cli_builtin_model_named(const char *name, cli_builtin_model *out) {
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(models[i].name, name)) return found(out, i);
    return 0;
}

int cli_builtin_model_of(uint64_t id, cli_builtin_model *out) {
    for (int i = 0; i < COUNT; i++)
        if (formats_get_u64le(models[i].begin + ID_AT) == id) return found(out, i);
    return 0;
}
