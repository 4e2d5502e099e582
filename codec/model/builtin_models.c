/* builtin_models.c -- see builtin_models.h and taper_model.h. models/models.S has the bytes;
 * models/unpack_model.c writes the constants. */
#include "codec/model/builtin_models.h"
#include "formats/container.h"
#include "formats/model_file.h"
#include <stdlib.h>
#include <string.h>

extern const uint8_t models_photo[], models_photo_end[], models_tiny[], models_tiny_end[];
extern const uint8_t models_search[], models_search_end[];
extern const taper_model models_photo_constant, models_tiny_constant;

enum { COUNT = 3, ID_AT = FORMATS_MODEL_ID_AT, CONTAINER_ID_AT = 24 }; /* SPEC.md, 6.1 and 5.1 */

static const struct {
    const char *name;
    const uint8_t *begin, *end;
    const taper_model *constant;
} models[COUNT] = {{"photo", models_photo, models_photo_end, &models_photo_constant},
                   {"tiny", models_tiny, models_tiny_end, &models_tiny_constant},
                   {"search", models_search, models_search_end, NULL}};

static int found(codec_builtin_model *out, int i) {
    *out = (codec_builtin_model){models[i].name, models[i].begin,
                                 (size_t)(models[i].end - models[i].begin), models[i].constant};
    return 1;
}

int codec_builtin_model_named(const char *name, codec_builtin_model *out) {
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(models[i].name, name)) return found(out, i);
    return 0;
}

int codec_builtin_model_of(uint64_t id, codec_builtin_model *out) {
    for (int i = 0; i < COUNT; i++)
        if (formats_get_u64le(models[i].begin + ID_AT) == id) return found(out, i);
    return 0;
}

/* With fewer bytes for models than this, loading says what it needs. No built-in model needs more
 * than this, nor more than the smallest default (formats_most_model_bytes). */
enum { ENOUGH_BYTES = 1 << 24 };

taper_status codec_builtin_model_open(const codec_builtin_model *builtin, const taper_limits *given,
                                      taper_model **out, taper_error *error) {
    const taper_limits limits = formats_limits_or_default(given);
    if (!builtin->constant || limits.max_model_bytes < ENOUGH_BYTES ||
        limits.max_work < builtin->constant->info.most_work)
        return taper_model_load(out, builtin->bytes, builtin->size, &limits, error);
    taper_model *m = *out = malloc(sizeof *m);
    if (!m) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a model");
    *m = *builtin->constant;
    if (m->lap.reach) m->window.lap = &m->lap;
    return TAPER_OK;
}

/* --- the public interface -------------------------------------------------------------- */

const void *taper_model_builtin_bytes(const char *name, size_t *size) {
    codec_builtin_model m = {0};
    int there = name && codec_builtin_model_named(name, &m);
    if (size) *size = there ? m.size : 0;
    return there ? m.bytes : NULL;
}

taper_status taper_model_builtin(taper_model **out, const char *name, taper_error *error) {
    codec_builtin_model m;
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    if (name && codec_builtin_model_named(name, &m))
        return codec_builtin_model_open(&m, NULL, out, error);
    return formats_fail(error, TAPER_ERR_ARG,
                        "no model '%s' is built in; there are photo, tiny and search",
                        name ? name : "");
}

const char *taper_model_builtin_name(size_t i) { return i < COUNT ? models[i].name : NULL; }

const char *taper_model_builtin_of(uint64_t id) {
    codec_builtin_model m;
    return codec_builtin_model_of(id, &m) ? m.name : NULL;
}

const char *taper_model_builtin_for(const void *bytes, size_t n) {
    static const uint8_t magic[8] = {0x89, 'T', 'P', 'R', 0x0D, 0x0A, 0x1A, 0x0A};
    if (!bytes || n < CONTAINER_ID_AT + 8 || memcmp(bytes, magic, sizeof magic)) return NULL;
    return taper_model_builtin_of(formats_get_u64le((const uint8_t *)bytes + CONTAINER_ID_AT));
}
