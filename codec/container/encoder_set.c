/* encoder_set.c -- see encoder_set.h; and the functions taper_encoder_set_*. */
#include "codec/container/encoder_set.h"
#include "formats/also.h"
#include "formats/set_part.h"
#include "formats/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

taper_status codec_encoder_record(taper_encoder *e, const taper_image *image, int is_indexed,
                                  const char *name, int32_t label) {
    const uint8_t alpha = !(image->channels & 1);
    size_t geometry = e->set.capacity, rate_class = e->set.capacity;
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->set.geometry, e->set.images, &geometry,
                                 sizeof *e->set.geometry));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->set.rate_class, e->set.images, &rate_class,
                                 sizeof *e->set.rate_class));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->set.label, e->set.images, &e->set.capacity,
                                 sizeof *e->set.label));
    e->set.geometry[e->set.images] =
        (formats_geometry){image->width, image->height, (uint8_t)(image->channels - alpha),
                           image->depth, alpha,         is_indexed != 0};
    e->set.label[e->set.images++] = label;
    e->set.has_metadata = 0;
    e->set.any_name |= name != NULL;
    e->set.any_label |= label >= 0;
    char own[16];
    if (!name) snprintf(own, sizeof own, "%06zu.png", e->set.images);
    name = name ? name : own;
    return codec_encoder_append(e, &e->set.names, name, strlen(name) + 1);
}

taper_status taper_encoder_set_classes(taper_encoder *e, const char *const *names, size_t n,
                                       taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(codec_encoder_check_order(e, "set_classes", error));
    if (n > FORMATS_MAX_CLASSES || e->set.has_classes)
        return formats_fail(error, TAPER_ERR_ARG, "class names: too many, or given twice");
    TAPER_TRY(formats_need_array(names, n, sizeof *names, "class names", error));
    for (size_t i = 0; i < n; i++) TAPER_TRY(formats_need(names[i], "the name of a class", error));
    e->set.has_classes = 1;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i++)
        status = codec_encoder_append(e, &e->set.class_names, names[i], strlen(names[i]) + 1);
    e->set.classes = (uint32_t)n;
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}

/* --- the part of a set ------------------------------------------------------------------- */

taper_status taper_encoder_set_part(taper_encoder *e, const taper_part *given, taper_error *error) {
    taper_part part;
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(given, "the part", error));
    TAPER_TRY(codec_encoder_check_order(e, "set_part", error));
    TAPER_TRY(formats_sized_take(&part, sizeof part, given, "taper_part", error));
    if (!formats_set_part_is_legal(&part, (uint64_t)e->set.images + e->set.alsos))
        return formats_fail(error, TAPER_ERR_ARG,
                            "a number of the part is out of range, or it has another number of "
                            "images than the %llu that were added and the %llu left out",
                            (unsigned long long)e->set.images + e->set.alsos,
                            (unsigned long long)part.left_out);
    e->set.part = part, e->set.has_part = 1;
    return TAPER_OK;
}

/* --- further names ----------------------------------------------------------------------- */

static taper_status append_name(taper_encoder *e, const formats_also *also, const char *name) {
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->set.also, e->set.alsos, &e->set.also_capacity,
                                 sizeof *e->set.also));
    const size_t at = e->set.also_names.size;
    if (at + strlen(name) + 1 > UINT32_MAX || e->set.images + e->set.alsos >= UINT32_MAX - 1)
        return TAPER_ERR_LIMIT;
    e->set.also[e->set.alsos] = *also;
    e->set.also[e->set.alsos++].name_at = (uint32_t)at;
    e->set.any_label |= also->label >= 0;
    return codec_encoder_append(e, &e->set.also_names, name, strlen(name) + 1);
}

taper_status taper_encoder_add_name(taper_encoder *e, uint64_t image, const char *name,
                                    int32_t label, const int64_t *modified_ns, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(name, "the name", error));
    TAPER_TRY(codec_encoder_check_order(e, "add_name", error));
    if (image >= e->set.images)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu, only %zu",
                            (unsigned long long)image, e->set.images);
    if (!formats_name_is_legal(name) || label < -1)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a further name is no relative path, or its label is below -1");
    const formats_also also = {.modified_ns = modified_ns ? *modified_ns : 0,
                               .image = (uint32_t)image,
                               .label = label,
                               .has_modified = modified_ns != NULL};
    const taper_status status = append_name(e, &also, name);
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}

taper_status codec_encoder_take_names(taper_encoder *e, const formats_front *front,
                                      taper_error *error) {
    taper_status status = TAPER_OK;
    for (uint32_t k = 0; k < front->alsos && status == TAPER_OK; k++)
        status = append_name(e, &front->also[k], formats_also_name(front, k));
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}

/* --- metadata ---------------------------------------------------------------------------- */

/* Add checked metadata; its memory is charged. */
static taper_status add_metadata(taper_encoder *e, const taper_metadata *m) {
    formats_metadata_writer *w = e->set.metadata;
    const uint64_t need = formats_metadata_writer_need(w, m);
    const uint64_t before = formats_metadata_writer_bytes(w);
    TAPER_TRY(codec_encoder_charge(e, need));
    const taper_status status = formats_metadata_writer_add(w, e->set.images - 1, m);
    const uint64_t more = formats_metadata_writer_bytes(w) - before;
    if (more < need) codec_encoder_give(e, need - more);
    return status;
}

taper_status taper_encoder_set_metadata(taper_encoder *e, const taper_metadata *given,
                                        taper_error *error) {
    taper_metadata m;
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(given, "the metadata", error));
    TAPER_TRY(formats_sized_take(&m, sizeof m, given, "taper_metadata", error));
    TAPER_TRY(codec_encoder_check_order(e, "set_metadata", error));
    TAPER_TRY(formats_metadata_check(&m, error));
    if (!e->set.images || e->set.has_metadata)
        return formats_fail(error, TAPER_ERR_ARG,
                            "metadata belongs to the image that was added last, once");
    if (!e->set.metadata) e->set.metadata = formats_metadata_writer_new();
    const taper_status status = e->set.metadata ? add_metadata(e, &m) : TAPER_ERR_NOMEM;
    e->set.has_metadata = 1;
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}

taper_status codec_encoder_take_metadata(taper_encoder *e, const formats_front *front,
                                         taper_error *error) {
    const size_t size = front->metadata_size;
    if (!front->metadata) return TAPER_OK;
    const taper_status status = codec_encoder_charge(e, size);
    e->set.carried_metadata = status == TAPER_OK ? malloc(size + 1) : NULL;
    if (!e->set.carried_metadata)
        return codec_encoder_end(e, status ? status : TAPER_ERR_NOMEM, error);
    memcpy(e->set.carried_metadata, front->metadata, size);
    e->set.carried_metadata_size = size;
    return TAPER_OK;
}

/* --- codes for search -------------------------------------------------------------------- */

/* The words of a code as bytes; the first bit of the code is the highest of the first byte. */
static void put_code(const uint64_t *code, size_t bytes, uint8_t *to) {
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(code[i / 8] >> (56 - 8 * (i % 8)));
}

/* Allocate `bytes` bytes for the search codes, and record their length and model. */
static taper_status allocate_search_codes(taper_encoder *e, size_t bytes, uint32_t bits,
                                          uint64_t model_id, taper_error *error) {
    const taper_status status = codec_encoder_charge(e, bytes);
    e->search.codes = status == TAPER_OK ? malloc(bytes + 1) : NULL;
    e->search.bits = bits, e->search.model_id = model_id;
    return e->search.codes ? TAPER_OK
                           : codec_encoder_end(e, status ? status : TAPER_ERR_NOMEM, error);
}

/* bytes: NULL: the container carries no model for search. */
static taper_status keep_search_model(taper_encoder *e, const void *bytes, size_t size,
                                      taper_error *error) {
    if (!bytes) return TAPER_OK;
    const taper_status status = codec_encoder_charge(e, size);
    e->search.model = status == TAPER_OK ? malloc(size + 1) : NULL;
    if (!e->search.model) return codec_encoder_end(e, status ? status : TAPER_ERR_NOMEM, error);
    memcpy(e->search.model, bytes, size);
    e->search.model_size = size;
    return TAPER_OK;
}

/* Check that decoders will accept the carried model. */
static taper_status check_search_model(const taper_encoder *e, const taper_search_codes *codes,
                                       taper_error *error) {
    taper_model *model;
    if (!codes->model_bytes) return TAPER_OK;
    TAPER_TRY(taper_model_load(&model, codes->model_bytes, codes->model_size, &e->limits, error));
    const taper_model_info info = model->info;
    taper_model_free(model);
    if (info.binary && info.id == codes->model_id && info.units >= codes->bits) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "the codes for search, %u bits of model %016llx, are not of model %016llx, "
                        "which has %u %s",
                        codes->bits, (unsigned long long)codes->model_id,
                        (unsigned long long)info.id, info.units, info.binary ? "bits" : "numbers");
}

taper_status taper_encoder_set_search_codes(taper_encoder *e, const taper_search_codes *given,
                                            taper_error *error) {
    taper_search_codes own, *codes = &own;
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(given, "codes for search", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_search_codes", error));
    TAPER_TRY(codec_encoder_check_order(e, "set_search_codes", error));
    const size_t bytes = ((size_t)codes->bits + 7) / 8, words = ((size_t)codes->bits + 63) / 64;
    if (codes->bits < 1 || codes->bits > FORMATS_MAX_SEARCH_BITS || codes->n != e->set.images ||
        e->search.codes)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu codes for search of %u bits, for %zu images: one of 1 to %d bits "
                            "for each, once",
                            codes->n, codes->bits, e->set.images, (int)FORMATS_MAX_SEARCH_BITS);
    TAPER_TRY(formats_need_array(codes->codes, codes->n, words * 8, "codes for search", error));
    TAPER_TRY(check_search_model(e, codes, error));
    TAPER_TRY(allocate_search_codes(e, bytes * codes->n, codes->bits, codes->model_id, error));
    for (size_t i = 0; i < codes->n; i++)
        put_code(codes->codes + i * words, bytes, e->search.codes + i * bytes);
    return keep_search_model(e, codes->model_bytes, codes->model_size, error);
}

taper_status codec_encoder_take_search_codes(taper_encoder *e, const formats_front *front,
                                             taper_error *error) {
    const size_t bytes = formats_front_search_bytes(front) * front->images;
    if (!front->search_codes) return TAPER_OK;
    TAPER_TRY(allocate_search_codes(e, bytes, front->search_bits, front->search_model_id, error));
    memcpy(e->search.codes, front->search_codes, bytes);
    return keep_search_model(e, front->search_model, front->search_model_size, error);
}
