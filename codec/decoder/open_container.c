/* open_container.c -- taper_container_*: see taper.h and open_container.h. */
#include "codec/decoder/open_container.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/model/builtin_models.h"
#include "formats/also.h"
#include "formats/metadata_reader.h"
#include "formats/model_file.h"
#include "formats/sized.h"
#include <stdlib.h>

/* --- opening --------------------------------------------------------------------------- */

void codec_container_count(taper_container *c) {
    const formats_front *f = &c->front;
    for (uint32_t i = 0; f->geometry && i < f->images; i++)
        c->root.pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
}

taper_status taper_container_bind(taper_container *c, const taper_model *model,
                                  taper_error *error) {
    taper_model *own = NULL;
    codec_builtin_model builtin;
    TAPER_TRY(formats_need(c, "the container", error));
    if (c->model) return formats_fail(error, TAPER_ERR_ARG, "the container has a model already");
    taper_status status = TAPER_OK;
    if (!model && c->source.read && !codec_builtin_model_of(c->front.model_id, &builtin))
        status = codec_front_load_stages(&c->front, &c->source, error);
    if (!model && status == TAPER_OK)
        status = codec_front_model(&c->front, &c->limits, &own, error);
    if (own) model = own;
    if (status == TAPER_OK) status = codec_front_match(&c->front, model, error);
    if (status == TAPER_OK)
        status = codec_front_check_models(&c->front, own != NULL, &c->limits, error);
    if (status == TAPER_OK)
        c->model = model, c->own_model = own;
    else
        taper_model_free(own);
    return status;
}

void codec_container_empty(taper_container *c) {
    for (uint32_t k = 0; c->leaf && k < c->root.leaves; k++) {
        if (c->leaf[k]) formats_front_free(c->leaf[k]);
        free(c->leaf[k]);
    }
    free(c->leaf);
    c->leaf = NULL, c->leaves_used = 0;
    formats_root_free(&c->root);
    formats_front_free(&c->front);
    taper_model_free(c->own_model);
    c->own_model = NULL, c->model = NULL;
}

taper_status taper_container_open(taper_container **out, const taper_source *source,
                                  const taper_open_options *options, taper_error *error) {
    taper_open_options o;
    TAPER_TRY(formats_need(out, "the container's place", error));
    *out = NULL;
    TAPER_TRY(formats_need_source(source, error));
    TAPER_TRY(formats_sized_take(&o, sizeof o, options, "taper_open_options", error));
    taper_limits limits;
    TAPER_TRY(formats_limits_take(&limits, o.limits, error));
    taper_container *c = calloc(1, sizeof *c);
    if (!c) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a container");
    c->source = *source;
    c->limits = limits;
    taper_status status = codec_front_load(source, &c->limits, &c->front, error);
    codec_container_count(c);
    if (status == TAPER_OK && !o.without_model) status = taper_container_bind(c, o.model, error);
    if (status == TAPER_OK)
        *out = c;
    else
        taper_container_close(c);
    return status;
}

void taper_container_close(taper_container *c) {
    if (!c) return;
    codec_container_empty(c);
    if (c->close_source) c->close_source(c->source.user);
    free(c);
}

/* --- leaves ---------------------------------------------------------------------------- */

const formats_front *codec_container_leaf_of_image(const taper_container *c, uint32_t i) {
    if (!c->root.leaves) return &c->front;
    return c->leaf[formats_root_leaf_of_image(&c->root, i)];
}

const formats_front *codec_container_leaf_of_group(const taper_container *c, uint32_t g) {
    if (!c->root.leaves) return &c->front;
    return c->leaf[formats_root_leaf_of_group(&c->root, g)];
}

uint32_t codec_container_rate_class(const taper_container *c, uint32_t g) {
    const formats_front *leaf = codec_container_leaf_of_group(c, g);
    return leaf ? formats_front_rate_class(leaf, g - leaf->first_group) : 0;
}

/* --- properties ------------------------------------------------------------------------ */

const taper_model *taper_container_model(const taper_container *c) { return c ? c->model : NULL; }

/* The bytes of the carried model, with stages that were not read. */
static uint64_t model_bytes(const formats_front *f) {
    formats_model_places places;
    if (!f->has_stages ||
        formats_model_find_stages(f->model, f->model_size, &places, NULL) != TAPER_OK)
        return f->model_size;
    return places.end[places.n - 1];
}

taper_status taper_container_get_info(const taper_container *c, taper_container_info *out,
                                      taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    const formats_front *f = &c->front;
    const taper_container_info own = {.model_id = f->model_id,
                                      .model_bytes = model_bytes(f),
                                      .layout = (taper_layout)f->layout,
                                      .images = f->images,
                                      .groups = f->groups,
                                      .layers = f->layers,
                                      .rate_classes = f->rate_classes,
                                      .passes = formats_front_passes(f, f->layers - 1),
                                      .front_bytes = f->front_size,
                                      .file_bytes = f->front_size + formats_front_data(f),
                                      .was_truncated = f->tail != 0,
                                      .pixels = c->root.pixels,
                                      .has_names = f->names || c->root.find != FORMATS_FIND_NONE,
                                      .has_labels = f->label || c->root.has_labels,
                                      .classes = f->classes,
                                      .search_bits = f->search_bits,
                                      .search_model_id = f->search_model_id,
                                      .search_model_bytes = f->search_model_size,
                                      .metadata_bytes = f->metadata_size,
                                      .further_names = f->alsos,
                                      .memory = f->account.used + c->leaves_used};
    return formats_sized_give(out, &own, sizeof own, "taper_container_info", error);
}

taper_status taper_container_get_part(const taper_container *c, taper_part *out,
                                      taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    const taper_part none = {0};
    return formats_sized_give(out, c->front.has_part ? &c->front.part : &none, sizeof none,
                              "taper_part", error);
}

/* Check an image's number; *leaf: the front that has the image. */
static taper_status find_leaf(const taper_container *c, uint64_t i, const formats_front **leaf,
                              taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    if (i >= c->front.images)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu", (unsigned long long)i);
    *leaf = codec_container_leaf_of_image(c, (uint32_t)i);
    if (*leaf) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_TRUNCATED,
                        "the leaf of the front matter that has image %llu was not supplied, or is "
                        "damaged; taper_decoder_plan tells its bytes",
                        (unsigned long long)i);
}

taper_status codec_container_shown(const taper_container *c, uint64_t *i, taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    const formats_front *f = &c->front;
    if (*i >= (uint64_t)f->images + f->alsos)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu", (unsigned long long)*i);
    *i = formats_also_image(f, *i);
    return TAPER_OK;
}

/* Has a group of a front the whole of its exact layer? */
static int has_exact(const formats_front *f, uint32_t group) {
    const uint32_t last = f->layers - 1;
    return formats_front_layer_kind(f, last) == FORMATS_LAYER_EXACT &&
           codec_chunk_range(f, last, group).size && !codec_chunk_is_cut(f, last, group);
}

taper_status codec_container_image(const taper_container *c, uint64_t i, taper_image_info *out,
                                   taper_error *error) {
    const formats_front *f;
    const uint64_t number = i;
    TAPER_TRY(codec_container_shown(c, &i, error));
    TAPER_TRY(find_leaf(c, i, &f, error));
    const uint32_t in_leaf = (uint32_t)i - f->first_image;
    const formats_geometry g = f->geometry[in_leaf];
    codec_grid grid = {0};
    if (c->model && !g.indexed) grid = codec_windows_grid(c->model->window, g.width, g.height);
    *out = (taper_image_info){.width = g.width,
                              .height = g.height,
                              .channels = (uint8_t)(g.channels + (g.alpha != 0)),
                              .depth = g.depth,
                              .bytes = (uint64_t)g.width * g.height *
                                       (g.channels + (g.alpha != 0u)) * (g.depth / 8u),
                              .group = f->first_group + formats_front_group(f, in_leaf),
                              .label = f->label ? f->label[in_leaf] : -1,
                              .name = formats_front_name(f, in_leaf),
                              .columns = grid.columns,
                              .rows = grid.rows,
                              .is_indexed = g.indexed,
                              .same_as = i,
                              .is_exact = has_exact(f, formats_front_group(f, in_leaf))};
    if (number == i) return TAPER_OK;
    out->label = c->front.also[number - c->front.images].label;
    out->name = formats_also_name(&c->front, (uint32_t)(number - c->front.images));
    return TAPER_OK;
}

taper_status taper_container_get_image(const taper_container *c, uint64_t i, taper_image_info *out,
                                       taper_error *error) {
    taper_image_info own;
    TAPER_TRY(codec_container_image(c, i, &own, error));
    return formats_sized_give(out, &own, sizeof own, "taper_image_info", error);
}

const char *taper_container_class_name(const taper_container *c, uint32_t k) {
    return c ? formats_front_class_name(&c->front, k) : NULL;
}

taper_status taper_container_group(const taper_container *c, uint32_t g, uint64_t *first,
                                   uint64_t *count, taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    if (!first || !count || g >= c->front.groups)
        return formats_fail(error, TAPER_ERR_ARG,
                            "there is no group %u, or no place for its images", g);
    const formats_front *f = codec_container_leaf_of_group(c, g);
    if (!f)
        return formats_fail(error, TAPER_ERR_TRUNCATED,
                            "the leaf of the front matter that has group %u was not supplied", g);
    const uint32_t *at = f->group_first + (g - f->first_group);
    *first = f->first_image + at[0];
    *count = at[1] - at[0];
    return TAPER_OK;
}

uint64_t taper_container_image_at(const taper_container *c, uint64_t place) {
    if (!c || place >= c->front.images) return place;
    /* the places of a leaf are those of its images */
    const formats_front *f = codec_container_leaf_of_image(c, (uint32_t)place);
    return f ? f->first_image + formats_front_image(f, (uint32_t)place - f->first_image) : place;
}

taper_status taper_container_layer(const taper_container *c, uint64_t i, uint32_t layer,
                                   uint64_t *cut, uint32_t *passes, taper_error *error) {
    const formats_front *f = c ? &c->front : NULL;
    if (i != TAPER_ALL_IMAGES) TAPER_TRY(find_leaf(c, i, &f, error));
    if (!c || !cut || !passes || layer >= f->layers)
        return formats_fail(error, TAPER_ERR_ARG, "there is no layer %u, or no place for its end",
                            layer);
    *cut = f->front_size + (c->root.leaves ? c->root.layer_at[layer + 1]
                                           : f->chunk_at[((uint64_t)layer + 1) * f->groups]);
    *passes = i == TAPER_ALL_IMAGES
                  ? formats_front_passes(f, layer)
                  : formats_front_layer_end(f, layer,
                                            formats_front_group(f, (uint32_t)i - f->first_image));
    return TAPER_OK;
}

uint32_t taper_container_layer_stage(const taper_container *c, uint32_t layer) {
    formats_model_places places;
    if (!c || layer >= c->front.layers ||
        formats_front_layer_kind(&c->front, layer) != FORMATS_LAYER_MODEL ||
        formats_model_find_stages(c->front.model, c->front.model_in_front, &places, NULL))
        return 0;
    uint32_t stage = places.known + 1;
    for (uint32_t l = 0; l < layer; l++)
        stage += formats_front_layer_kind(&c->front, l) == FORMATS_LAYER_MODEL;
    return stage;
}

taper_status taper_container_image_bytes(const taper_container *c, uint64_t i, uint64_t cut,
                                         uint64_t *here, uint64_t *all, taper_error *error) {
    const formats_front *f;
    TAPER_TRY(codec_container_shown(c, &i, error));
    TAPER_TRY(find_leaf(c, i, &f, error));
    if (!here || !all) return formats_fail(error, TAPER_ERR_ARG, "there is no place for the sizes");
    const uint32_t group = formats_front_group(f, (uint32_t)i - f->first_image);
    *here = *all = 0;
    for (uint32_t layer = 0; layer < f->layers; layer++) {
        const codec_file_range chunk = codec_chunk_range(f, layer, group);
        if (formats_front_layer_kind(f, layer) == FORMATS_LAYER_MODEL) continue;
        *all += chunk.size;
        if (cut > chunk.at) *here += cut - chunk.at < chunk.size ? cut - chunk.at : chunk.size;
    }
    return TAPER_OK;
}

/* --- codes for search ------------------------------------------------------------------ */

taper_status taper_container_search_code(const taper_container *c, uint64_t i, uint64_t *code,
                                         taper_error *error) {
    TAPER_TRY(formats_need(c, "the container", error));
    TAPER_TRY(formats_need(code, "the code's place", error));
    const formats_front *f = &c->front;
    const size_t bytes = formats_front_search_bytes(f);
    if (!bytes && c->root.leaves)
        return formats_fail(error, TAPER_ERR_ARG,
                            "codes for search of %u images are not read by ranges; open the "
                            "container as a source",
                            f->images);
    if (i >= f->images || !bytes)
        return formats_fail(error, TAPER_ERR_ARG,
                            "image %llu has no code for search here: there are %u images, %s",
                            (unsigned long long)i, f->images,
                            bytes ? "which have one each" : "none of which has one");
    const uint8_t *from = f->search_codes + i * bytes;
    for (size_t w = 0; w < (bytes + 7) / 8; w++) code[w] = 0;
    for (size_t b = 0; b < bytes; b++) code[b / 8] |= (uint64_t)from[b] << (56 - 8 * (b % 8));
    if (f->search_bits % 64) code[(bytes - 1) / 8] &= ~(uint64_t)0 << (64 - f->search_bits % 64);
    return TAPER_OK;
}

taper_status taper_container_search_model(const taper_container *c, taper_model **out,
                                          taper_error *error) {
    TAPER_TRY(formats_need(out, "the model's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(c, "the container", error));
    if (!c->front.search_model)
        return formats_fail(error, TAPER_ERR_ARG, "the container carries no model for search");
    return codec_front_search_model(&c->front, &c->limits, out, error);
}

/* --- metadata -------------------------------------------------------------------------- */

struct taper_metadata_reader {
    formats_metadata_reader *reader;
    const formats_front *front;
};

taper_status taper_metadata_open(taper_metadata_reader **out, const taper_container *c,
                                 taper_error *error) {
    TAPER_TRY(formats_need(out, "the reader's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(c, "the container", error));
    if (c->root.leaves && !c->front.metadata)
        return formats_fail(error, TAPER_ERR_ARG,
                            "metadata of %u images are not read by ranges; open the container as a "
                            "source",
                            c->front.images);
    taper_metadata_reader *r = calloc(1, sizeof *r);
    if (!r) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read metadata");
    r->front = &c->front;
    const taper_status status =
        formats_metadata_reader_open(&r->reader, &c->front, &c->limits, error);
    if (status == TAPER_OK)
        *out = r;
    else
        free(r);
    return status;
}

taper_status taper_metadata_get(taper_metadata_reader *r, uint64_t i, taper_metadata *out,
                                taper_error *error) {
    taper_metadata own;
    TAPER_TRY(formats_need(r, "the reader", error));
    const formats_front *f = r->front;
    if (i >= (uint64_t)f->images + f->alsos)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu", (unsigned long long)i);
    TAPER_TRY(formats_metadata_reader_get(r->reader, formats_also_image(f, i), &own, error));
    if (i >= f->images) {
        own.has_modified = f->also[i - f->images].has_modified;
        own.modified_ns = f->also[i - f->images].modified_ns;
    }
    return formats_sized_give(out, &own, sizeof own, "taper_metadata", error);
}

taper_status taper_metadata_get_info(const taper_metadata_reader *r, taper_metadata_info *out,
                                     taper_error *error) {
    TAPER_TRY(formats_need(r, "the reader", error));
    const formats_metadata_counts counts = formats_metadata_reader_counts(r->reader);
    const taper_metadata_info own = {.icc = counts.images[0],
                                     .exif = counts.images[1],
                                     .xmp = counts.images[2],
                                     .cicp = counts.images[3],
                                     .gamma = counts.images[4],
                                     .chromaticities = counts.images[5],
                                     .density = counts.images[6],
                                     .modified = counts.images[7],
                                     .payloads = counts.payloads,
                                     .payload_bytes = counts.payload_bytes};
    return formats_sized_give(out, &own, sizeof own, "taper_metadata_info", error);
}

void taper_metadata_close(taper_metadata_reader *r) {
    if (!r) return;
    formats_metadata_reader_close(r->reader);
    free(r);
}
