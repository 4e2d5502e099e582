/* builtin_models.c -- see builtin_models.h and taper_model.h. models/models.S has the bytes. */
#include "codec/model/builtin_models.h"
#include "codec/taper_model.h"
#include "formats/container.h"
#include <string.h>

extern const uint8_t models_photo[], models_photo_end[], models_tiny[], models_tiny_end[];

enum { COUNT = 2, ID_AT = 32, CONTAINER_ID_AT = 24 }; /* SPEC.md, 6.1 and 5.1 */

static const struct {
    const char *name;
    const uint8_t *begin, *end;
} models[COUNT] = {{"photo", models_photo, models_photo_end},
                   {"tiny", models_tiny, models_tiny_end}};

static int found(codec_builtin_model *out, int i) {
    *out = (codec_builtin_model){models[i].name, models[i].begin,
                                 (size_t)(models[i].end - models[i].begin)};
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

/* --- the public interface -------------------------------------------------------------- */

const void *taper_model_builtin_bytes(const char *name, size_t *size) {
    codec_builtin_model m = {0};
    int there = name && codec_builtin_model_named(name, &m);
    if (size) *size = there ? m.size : 0;
    return there ? m.bytes : NULL;
}

taper_status taper_model_builtin(taper_model **out, const char *name, taper_error *error) {
    size_t size;
    TAPER_TRY(formats_need(out, "the model's place", error));
    const void *bytes = taper_model_builtin_bytes(name, &size);
    *out = NULL;
    if (bytes) return taper_model_load(out, bytes, size, NULL, error);
    return formats_fail(error, TAPER_ERR_ARG, "no model '%s' is built in; there are photo and tiny",
                        name ? name : "");
}

const char *taper_model_builtin_for(const void *bytes, size_t n) {
    static const uint8_t magic[8] = {0x89, 'T', 'P', 'R', 0x0D, 0x0A, 0x1A, 0x0A};
    codec_builtin_model m;
    if (!bytes || n < CONTAINER_ID_AT + 8 || memcmp(bytes, magic, sizeof magic)) return NULL;
    uint64_t id = formats_get_u64le((const uint8_t *)bytes + CONTAINER_ID_AT);
    return codec_builtin_model_of(id, &m) ? m.name : NULL;
}
