/* encoder.c -- taper_encoder_*: images in, container out; see taper.h.
 *
 * Images are collected in groups. A complete group is encoded (network, quantiser, chunk_coder) by
 * a worker or, without workers, by the caller's thread. Its chunks are written to the spool
 * (encoder_groups.c). taper_encoder_finish writes the container from them, layer by layer. */
#include "codec/container/allocation.h"
#include "codec/container/assemble.h"
#include "codec/container/encoder_groups.h"
#include "codec/container/small_set.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include "formats/model_file.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_GROUP_IMAGES = 65536,
    MOST_THREADS = 256,
    LARGE_PIXELS = 1 << 20, /* an image of more has a group of its own */
    /* The rate at which images' distortions are compared: 1 bit per pixel. */
    REFERENCE_BYTES_PER_MPIXEL = 125000
};

/* Memory that a decoder needs to render the image with up to THREADS threads. A seventh is added
 * for the front matter and the chunks. */
static uint64_t memory_to_render(const taper_encoder *e, const taper_image *image,
                                 codec_grid grid) {
    enum { THREADS = 16 };
    const taper_model *m = e->model;
    uint64_t n = (uint64_t)grid.columns * grid.rows;
    uint64_t bytes = codec_strips_bytes(&m->tables, n);
    bytes += n * m->network.inputs * sizeof(float);
    if (m->restoration.layers)
        bytes += codec_restoration_bytes(&m->restoration, m->window, grid, THREADS);
    uint64_t pixels = (uint64_t)image->width * image->height;
    return pixels <= LARGE_PIXELS ? bytes : bytes + bytes / 7 + 1;
}

/* Memory to encode the image as the only one of its group. */
static uint64_t memory_to_encode(const taper_encoder *e, const taper_image *image) {
    uint64_t windows = codec_encoder_windows(e, image),
             bytes = codec_encoder_image_bytes(e, image, 0);
    codec_group_size size = {windows, 1, windows, bytes, 0, e->options.measure};
    return codec_group_write_bytes(e->model, &size) +
           codec_encoder_image_bytes(e, image, e->rate_classes > 1);
}

/* Check the image's size against the limits. The message names the option and the value that would
 * be enough. */
static taper_status check_size(const taper_encoder *e, const taper_image *image,
                               taper_error *error) {
    const taper_limits *l = &e->limits;
    const unsigned width = image->width, height = image->height;
    const uint64_t pixels = (uint64_t)width * height;
    if (width > FORMATS_MAX_SIDE || height > FORMATS_MAX_SIDE)
        return formats_fail(
            error, TAPER_ERR_LIMIT,
            "an image of %u x %u pixels is too large: no side may be above %d; make it "
            "smaller, or cut it into parts",
            width, height, (int)FORMATS_MAX_SIDE);
    if (pixels > l->max_pixels)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_PIXELS, pixels,
                                 "image of %u x %u pixels is above the limit of %llu", width,
                                 height, (unsigned long long)l->max_pixels);
    codec_grid grid = codec_windows_grid(e->model->window, width, height);
    const uint64_t render = memory_to_render(e, image, grid);
    const uint64_t taken =
        l->max_memory > e->account->limit ? l->max_memory - e->account->limit : 0;
    const uint64_t encode = memory_to_encode(e, image) + taken;
    const uint64_t needed = render > encode ? render : encode;
    if (needed <= l->max_memory) return TAPER_OK;
    return formats_fail_fact(
        error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_needed(l, needed),
        "image of %u x %u pixels takes %llu bytes of memory, more than the limit of %llu", width,
        height, (unsigned long long)needed, (unsigned long long)l->max_memory);
}

static taper_status check_image(const taper_encoder *e, const taper_image *image, const char *name,
                                taper_error *error) {
    if (!formats_image_is_legal(image))
        return formats_fail(error, TAPER_ERR_ARG,
                            "an image without pixels or of an illegal kind was given");
    if (image->channels == 2 || image->channels == 4)
        return formats_fail_fact(error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                 "the image has an alpha channel, which taper does not carry");
    if (image->channels > e->model->window.channels)
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "image is in colour but the model is for grey images; use a colour model");
    TAPER_TRY(check_size(e, image, error));
    if (e->images >= e->limits.max_images || e->images >= UINT32_MAX - 1)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES,
                                 formats_power_above(e->images),
                                 "more images than the limit of %zu", e->images);
    if (name && !formats_name_is_legal(name))
        return formats_fail(error, TAPER_ERR_ARG, "the name is not a plain relative path");
    return TAPER_OK;
}

/* Append the image's geometry, name and label. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
static taper_status record(taper_encoder *e, const taper_image *image, const char *name,
                           int32_t label) {
    size_t geometry = e->images_capacity, rate_class = e->images_capacity;
    TAPER_TRY(
        codec_encoder_grow(e, (void **)&e->geometry, e->images, &geometry, sizeof *e->geometry));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->image_rate_class, e->images, &rate_class,
                                 sizeof *e->image_rate_class));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->label, e->images, &e->images_capacity,
                                 sizeof *e->label));
    e->geometry[e->images] =
        (formats_geometry){image->width, image->height, image->channels, image->depth};
    e->label[e->images++] = label;
    e->any_name |= name != NULL;
    e->any_label |= label >= 0;
    char own[16];
    if (!name) snprintf(own, sizeof own, "%06zu.png", e->images);
    name = name ? name : own;
    return codec_encoder_append(e, &e->names, name, strlen(name) + 1);
}

static taper_status fail_for_good(taper_encoder *e, taper_status status, taper_error *error) {
    codec_queue_lock(e->queue);
    codec_encoder_fail(e, status, error);
    if (error) *error = e->error;
    status = e->error.status;
    codec_queue_unlock(e->queue);
    return status;
}

static int has_failed(taper_encoder *e) {
    codec_queue_lock(e->queue);
    int failed = e->failed;
    codec_queue_unlock(e->queue);
    return failed;
}

/* Copy the image's pixels, which the caller owns, and charge the account. */
static taper_status copy_image(taper_encoder *e, const taper_image *image, taper_image *copy,
                               taper_error *error) {
    uint64_t bytes = codec_encoder_image_bytes(e, image, 0);
    if (codec_encoder_charge(e, bytes) != TAPER_OK)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_account_step(e->account, bytes),
            "this image and those that wait to be encoded need more memory than the limit of %llu "
            "bytes; smaller groups need less",
            (unsigned long long)e->account->limit);
    *copy = *image;
    copy->pixels = malloc((size_t)bytes);
    if (!copy->pixels) return fail_for_good(e, TAPER_ERR_NOMEM, error);
    memcpy(copy->pixels, image->pixels, (size_t)bytes);
    return TAPER_OK;
}

/* Call order: images are added before the search codes, and everything before finish. */
static taper_status check_order(const taper_encoder *e, const char *call, taper_error *error) {
    if (!e->is_finished) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "taper_encoder_%s comes before taper_encoder_finish, which was called",
                        call);
}

static taper_status check_adding(const taper_encoder *e, taper_error *error) {
    TAPER_TRY(check_order(e, "add", error));
    if (!e->search.search_codes) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "taper_encoder_add comes before taper_encoder_set_search_codes, which has "
                        "given codes for %zu images",
                        e->images);
}

taper_status taper_encoder_add(taper_encoder *e, const taper_image *image, const char *name,
                               int32_t label, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(image, "the image", error));
    if (has_failed(e)) return fail_for_good(e, TAPER_OK, error);
    TAPER_TRY(check_adding(e, error));
    taper_image copy;
    size_t number = e->images;
    TAPER_TRY(check_image(e, image, name, error));
    TAPER_TRY(copy_image(e, image, &copy, error));
    taper_status status = record(e, image, name, label);
    if (status != TAPER_OK)
        free(copy.pixels);
    else
        status = e->reference ? codec_encoder_allocate(e, copy, number)
                              : codec_encoder_place(e, copy, NULL, number, 0);
    if (status == TAPER_OK && !e->options.quick) status = codec_originals_add(&e->originals, image);
    return status == TAPER_OK ? status : fail_for_good(e, status, error);
}

taper_status codec_encoder_add_codes(taper_encoder *e, const taper_image *image, int16_t *code,
                                     const char *name, int32_t label, uint32_t rate_class,
                                     taper_error *error) {
    size_t number = e->images;
    taper_status status = codec_encoder_charge(e, codec_encoder_image_bytes(e, image, 1));
    if (status == TAPER_OK) status = record(e, image, name, label);
    if (status != TAPER_OK)
        free(code);
    else
        status = codec_encoder_place(e, *image, code, number, rate_class);
    return status == TAPER_OK ? status : fail_for_good(e, status, error);
}

uint64_t codec_encoder_needs(const taper_encoder *e, uint32_t rate_class) {
    const codec_encode_job *job = e->job[rate_class];
    return job ? codec_group_write_bytes(e->model, &job->size) : 0;
}

void codec_encoder_limit_passes(taper_encoder *e, uint32_t passes) { e->pass_limit = passes; }

taper_status codec_encoder_take_layers(taper_encoder *e, const uint32_t *layer_end,
                                       uint32_t rate_classes, uint32_t layers) {
    size_t size = (size_t)rate_classes * layers * sizeof *layer_end;
    e->layer_end = malloc(size);
    if (!e->layer_end) return TAPER_ERR_NOMEM;
    memcpy(e->layer_end, layer_end, size);
    e->rate_classes = rate_classes, e->n_layers = layers;
    return TAPER_OK;
}

taper_status taper_encoder_set_classes(taper_encoder *e, const char *const *names, size_t n,
                                       taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(check_order(e, "set_classes", error));
    if (n > FORMATS_MAX_CLASSES || e->has_classes)
        return formats_fail(error, TAPER_ERR_ARG, "class names: too many, or given twice");
    TAPER_TRY(formats_need_array(names, n, sizeof *names, "class names", error));
    for (size_t i = 0; i < n; i++) TAPER_TRY(formats_need(names[i], "the name of a class", error));
    e->has_classes = 1;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i++)
        status = codec_encoder_append(e, &e->classes, names[i], strlen(names[i]) + 1);
    e->n_classes = (uint32_t)n;
    return status == TAPER_OK ? status : fail_for_good(e, status, error);
}

/* The words of a code as bytes; the first bit of the code is the highest of the first byte. */
static void put_code(const uint64_t *code, size_t bytes, uint8_t *to) {
    for (size_t i = 0; i < bytes; i++) to[i] = (uint8_t)(code[i / 8] >> (56 - 8 * (i % 8)));
}

/* Allocate `bytes` bytes for the search codes, and record their length and model. */
static taper_status allocate_search_codes(taper_encoder *e, size_t bytes, uint32_t bits,
                                          uint64_t model_id, taper_error *error) {
    const taper_status status = codec_encoder_charge(e, bytes);
    e->search.search_codes = status == TAPER_OK ? malloc(bytes + 1) : NULL;
    e->search.search_bits = bits, e->search.search_model_id = model_id;
    return e->search.search_codes ? TAPER_OK
                                  : fail_for_good(e, status ? status : TAPER_ERR_NOMEM, error);
}

/* bytes: NULL: the container carries no model for search. */
static taper_status keep_search_model(taper_encoder *e, const void *bytes, size_t size,
                                      taper_error *error) {
    if (!bytes) return TAPER_OK;
    const taper_status status = codec_encoder_charge(e, size);
    e->search.search_model = status == TAPER_OK ? malloc(size + 1) : NULL;
    if (!e->search.search_model) return fail_for_good(e, status ? status : TAPER_ERR_NOMEM, error);
    memcpy(e->search.search_model, bytes, size);
    e->search.search_model_size = size;
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

taper_status taper_encoder_set_search_codes(taper_encoder *e, const taper_search_codes *codes,
                                            taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(codes, "codes for search", error));
    TAPER_TRY(check_order(e, "set_search_codes", error));
    const size_t bytes = ((size_t)codes->bits + 7) / 8, words = ((size_t)codes->bits + 63) / 64;
    if (codes->bits < 1 || codes->bits > FORMATS_MAX_SEARCH_BITS || codes->n != e->images ||
        e->search.search_codes)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu codes for search of %u bits, for %zu images: one of 1 to %d bits "
                            "for each, once",
                            codes->n, codes->bits, e->images, (int)FORMATS_MAX_SEARCH_BITS);
    TAPER_TRY(formats_need_array(codes->codes, codes->n, words * 8, "codes for search", error));
    TAPER_TRY(check_search_model(e, codes, error));
    TAPER_TRY(allocate_search_codes(e, bytes * codes->n, codes->bits, codes->model_id, error));
    for (size_t i = 0; i < codes->n; i++)
        put_code(codes->codes + i * words, bytes, e->search.search_codes + i * bytes);
    return keep_search_model(e, codes->model_bytes, codes->model_size, error);
}

taper_status codec_encoder_take_search_codes(taper_encoder *e, const formats_front *front,
                                             taper_error *error) {
    const size_t bytes = formats_front_search_bytes(front) * front->images;
    if (!front->search_codes) return TAPER_OK;
    TAPER_TRY(allocate_search_codes(e, bytes, front->search_bits, front->search_model_id, error));
    memcpy(e->search.search_codes, front->search_codes, bytes);
    return keep_search_model(e, front->search_model, front->search_model_size, error);
}

/* --- making and finishing -------------------------------------------------------------- */

static taper_status prepare_analysis(taper_encoder *e, taper_error *error) {
    return codec_model_encoder(e->model, e->options.threads, /* before workers start */
                               "it cannot encode", &e->network, &e->analysis, error);
}

static taper_status make_encoder(taper_encoder **out, const taper_model *model,
                                 const taper_encode_options *options, int for_codes,
                                 formats_account *account, taper_error *error) {
    *out = NULL;
    taper_encoder *e = calloc(1, sizeof *e);
    if (!e) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an encoder");
    e->model = model;
    if (options) e->options = *options;
    if (e->options.threads > MOST_THREADS) e->options.threads = MOST_THREADS;
    e->rate_classes = e->options.allocation == TAPER_ALLOCATION_EVEN ? 1 : CODEC_RATE_CLASSES;
    e->limits = formats_limits_or_default(e->options.limits);
    e->own = formats_account_within(&e->limits);
    e->account = account ? account : &e->own;
    e->names = formats_buffer_make(FORMATS_MOST_BYTES);
    e->classes = formats_buffer_make(FORMATS_MOST_BYTES);
    e->names.account = e->classes.account = e->account;
    codec_backend_cpu(&e->backend);
    taper_status status = TAPER_OK;
    const int is_whole =
        e->options.model_bytes &&
        formats_model_is(e->options.model_bytes, e->options.model_size, model->info.id);
    if (e->options.embed_model && !for_codes && !is_whole)
        status = formats_fail(
            error, TAPER_ERR_ARG,
            "model_bytes is not the complete .tpm file of the encoder's model, %016llx",
            (unsigned long long)model->info.id);
    if (e->options.group_images > MAX_GROUP_IMAGES ||
        (unsigned)e->options.layout > TAPER_LAYOUT_GALLERY || (unsigned)e->options.allocation > 2)
        status = formats_fail(error, TAPER_ERR_ARG, "an encode option is out of range");
    if (status == TAPER_OK && !codec_network_has_decoder(&model->network))
        status = formats_fail(error, TAPER_ERR_ARG,
                              "an embedding model has no decoder, so that nothing can be encoded "
                              "with it; give another model");
    if (status == TAPER_OK) status = codec_model_need_whole(model, "encoding", error);
    if (status == TAPER_OK && !for_codes) {
        status = prepare_analysis(e, error);
        if (status == TAPER_ERR_NOMEM)
            formats_fail(error, status, "no memory for the model's analysis");
    }
    if (status == TAPER_OK && e->rate_classes > 1 && model->tables.density)
        status = formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_ALLOCATION,
                                   TAPER_ALLOCATION_EVEN, "a binary model has only one allocation");
    if (status == TAPER_OK && e->rate_classes > 1) {
        e->reference = malloc(model->tables.units);
        if (e->reference)
            codec_reference_depths(&model->tables, REFERENCE_BYTES_PER_MPIXEL, e->reference);
        else
            status = formats_fail(error, TAPER_ERR_NOMEM, "no memory for an encoder");
    }
    e->spool = e->options.spool ? e->options.spool : status == TAPER_OK ? tmpfile() : NULL;
    if (status == TAPER_OK && !e->spool)
        status = errno == ENOMEM
                     ? formats_fail(error, TAPER_ERR_NOMEM, "no memory for a temporary file")
                     : formats_fail(error, TAPER_ERR_IO,
                                    "cannot make a temporary file; is the disk for temporary files "
                                    "full or read-only?");
    if (status == TAPER_OK && e->options.threads > 1) {
        e->queue = codec_queue_new(e->options.threads, codec_encode_job_run);
        if (!e->queue)
            status = formats_fail_fact(error, TAPER_ERR_NOMEM, TAPER_FACT_THREADS, 1,
                                       "cannot start %u threads", e->options.threads);
    }
    if (status != TAPER_OK) {
        taper_encoder_free(e);
        return status;
    }
    *out = e;
    return TAPER_OK;
}

taper_status taper_encoder_new(taper_encoder **out, const taper_model *model,
                               const taper_encode_options *options, taper_error *error) {
    TAPER_TRY(formats_need(out, "the encoder's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(model, "the model", error));
    return make_encoder(out, model, options, 0, NULL, error);
}

taper_status codec_encoder_new_for_codes(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options,
                                         formats_account *account, taper_error *error) {
    return make_encoder(out, model, options, 1, account, error);
}

void taper_encoder_free(taper_encoder *e) {
    if (!e) return;
    codec_queue_free(e->queue); /* waits for its jobs */
    for (size_t i = 0; i < FORMATS_MAX_RATE_CLASSES; i++) codec_encode_job_free(e->job[i]);
    for (size_t i = 0; i < e->n_waiting; i++)
        free(e->waiting[i].image.pixels), free(e->waiting[i].code);
    free(e->waiting), free(e->reference), free(e->layer_end), free(e->longer_end);
    free(e->group_rate_class), free(e->image_rate_class);
    codec_originals_free(&e->originals);
    for (size_t g = 0; g < e->groups; g++) codec_written_group_free(&e->group[g].of);
    free(e->least_name), free(e->group), free(e->group_first), free(e->geometry), free(e->label),
        free(e->analysis);
    formats_buffer_free(&e->names), formats_buffer_free(&e->classes);
    free(e->search.search_codes), free(e->search.search_model);
    if (e->spool && !e->options.spool) fclose(e->spool);
    free(e);
}

static taper_status read_spool(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    taper_encoder *e = user;
    const codec_group_record *r = &e->group[group];
    if (fseeko(e->spool, (off_t)(r->spool_at + r->of.chunk_at[layer] + from), SEEK_SET) ||
        fread(to, 1, n, e->spool) != n)
        return TAPER_ERR_IO;
    return TAPER_OK;
}

/* Offsets of n strings in a buffer; each ends with a 0. */
static taper_status string_offsets(formats_front *f, const formats_buffer *strings, size_t n,
                                   uint32_t **out, taper_error *error) {
    uint32_t used = 0;
    TAPER_TRY(formats_front_take(f, n, sizeof **out, out, error));
    for (size_t i = 0; i < n; i++) {
        (*out)[i] = used;
        used += (uint32_t)strlen((const char *)strings->data + used) + 1;
    }
    return TAPER_OK;
}

/* Move the rate classes to the front, numbered without those that have no image. */
static taper_status move_rate_classes(taper_encoder *e, formats_front *f, taper_error *error) {
    uint8_t used[FORMATS_MAX_RATE_CLASSES] = {0}, number[FORMATS_MAX_RATE_CLASSES] = {0};
    uint32_t *to = e->layer_end;
    for (size_t i = 0; i < e->images; i++) used[e->image_rate_class[i]] = 1;
    f->rate_classes = 0;
    for (uint32_t t = 0; t < e->rate_classes; t++)
        if (used[t]) number[t] = (uint8_t)f->rate_classes++;
    for (size_t i = 0; i < (size_t)e->n_layers * e->rate_classes; i++)
        if (used[i % e->rate_classes]) *to++ = e->layer_end[i];
    f->layer_end = e->layer_end, e->layer_end = NULL;
    if (f->rate_classes == 1) return TAPER_OK;
    for (size_t i = 0; i < e->images; i++) e->image_rate_class[i] = number[e->image_rate_class[i]];
    for (size_t g = 0; g < e->groups; g++) e->group_rate_class[g] = number[e->group_rate_class[g]];
    f->image_rate_class = e->image_rate_class, e->image_rate_class = NULL;
    f->group_rate_class = e->group_rate_class, e->group_rate_class = NULL;
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    return formats_front_place_images(f);
}

/* Copy the raised planes of all groups to the front. */
static taper_status move_raised(const taper_encoder *e, formats_front *f, taper_error *error) {
    size_t n = 0;
    for (size_t g = 0; g < e->groups; g++) n += e->group[g].of.n_raised;
    if (!n) return TAPER_OK;
    if (n > UINT32_MAX) return TAPER_ERR_NOMEM;
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->raised_at, &f->raised_at, error));
    TAPER_TRY(formats_front_take(f, n, sizeof *f->raised, &f->raised, error));
    for (size_t g = 0; g < e->groups; g++) {
        const codec_written_group *of = &e->group[g].of;
        if (of->n_raised)
            memcpy(f->raised + f->raised_at[g], of->raised, of->n_raised * sizeof *of->raised);
        f->raised_at[g + 1] = f->raised_at[g] + of->n_raised;
    }
    return TAPER_OK;
}

static taper_status move_names(taper_encoder *e, formats_front *f, taper_error *error) {
    if (e->any_name) {
        TAPER_TRY(string_offsets(f, &e->names, e->images, &f->name_at, error));
        f->names = (char *)formats_buffer_take(&e->names, &(size_t){0});
    }
    if (!e->any_label) return TAPER_OK;
    TAPER_TRY(string_offsets(f, &e->classes, e->n_classes, &f->class_name_at, error));
    f->classes = e->n_classes;
    f->class_names = (char *)formats_buffer_take(&e->classes, &(size_t){0});
    f->label = e->label, e->label = NULL;
    for (size_t i = 0; i < e->images; i++)
        if (f->label[i] < 0 || (uint32_t)f->label[i] >= f->classes) f->label[i] = -1;
    return TAPER_OK;
}

static taper_status embed_model(const taper_encoder *e, formats_front *f, taper_error *error) {
    if (!e->options.embed_model) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, e->options.model_size, 1, &f->model, error));
    memcpy(f->model, e->options.model_bytes, e->options.model_size);
    f->model_size = e->options.model_size;
    return TAPER_OK;
}

/* Move the encoder's lists to a front. Its account continues from the encoder's. */
static taper_status make_front(taper_encoder *e, formats_front *f, taper_error *error) {
    *f = (formats_front){.model_id = e->model->info.id,
                         .layout = (uint8_t)e->options.layout,
                         .images = (uint32_t)e->images,
                         .groups = (uint32_t)e->groups,
                         .layers = e->n_layers,
                         .chunks_per_checksum = 1,
                         .account = *e->account};
    uint64_t chunks = (uint64_t)f->layers * f->groups;
    f->geometry = e->geometry, e->geometry = NULL;
    f->group_first = e->group_first, e->group_first = NULL;
    f->group_first[f->groups] = f->images;
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    TAPER_TRY(move_rate_classes(e, f, error));
    TAPER_TRY(move_raised(e, f, error));
    for (uint32_t l = 0; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++) {
            uint64_t c = (uint64_t)l * f->groups + g;
            const uint64_t *at = e->group[g].of.chunk_at;
            f->chunk_at[c + 1] = f->chunk_at[c] + at[l + 1] - at[l];
        }
    TAPER_TRY(move_names(e, f, error));
    f->search_model_id = e->search.search_model_id, f->search_bits = e->search.search_bits;
    f->search_codes = e->search.search_codes, e->search.search_codes = NULL;
    f->search_model = e->search.search_model, e->search.search_model = NULL;
    f->search_model_size = e->search.search_model_size;
    TAPER_TRY(embed_model(e, f, error));
    f->chunks_per_checksum = codec_checksum_span(f->layout, f->chunk_at[chunks], chunks);
    return TAPER_OK;
}

static uint64_t total_pixels(const formats_front *f) {
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < f->images; i++)
        pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    return pixels;
}

/* Find the worst image over all groups; `front` maps places to images. TAPER_ERR_NOMEM. */
static taper_status find_quality(taper_encoder *e, const formats_front *f) {
    taper_encode_quality *q = &e->quality;
    *q = (taper_encode_quality){.least_psnr_db = TAPER_PSNR_CEILING_DB};
    for (uint32_t g = 0; g < f->groups; g++) {
        const codec_least_quality *of = &e->group[g].of.least;
        uint32_t place = f->group_first[g] + (uint32_t)of->image;
        q->poor += of->poor;
        if (of->psnr_db > q->least_psnr_db) continue;
        uint32_t image = formats_front_image(f, place);
        if (of->psnr_db == q->least_psnr_db && q->least_image < image) continue;
        q->least_psnr_db = of->psnr_db, q->least_image = image;
    }
    const char *name = formats_front_name(f, (uint32_t)q->least_image);
    size_t bytes = name ? strlen(name) + 1 : 0;
    e->least_name = name ? malloc(bytes) : NULL;
    if (name && !e->least_name) return TAPER_ERR_NOMEM;
    if (name) q->least_name = memcpy(e->least_name, name, bytes);
    e->measured = 1;
    return TAPER_OK;
}

taper_status taper_encoder_quality(const taper_encoder *e, taper_encode_quality *out) {
    if (!e || !out) return TAPER_ERR_ARG;
    *out = e->quality;
    return e->measured ? TAPER_OK : TAPER_ERR_ARG;
}

/* The quality of a small set whose data end before its codes do. psnr: [n] of each image, in the
 * order of places. */
static codec_least_quality least_of(const double *psnr, size_t n) {
    codec_least_quality least = {.psnr_db = INFINITY};
    for (size_t i = 0; i < n; i++) {
        if (psnr[i] < least.psnr_db) least.psnr_db = psnr[i], least.image = i;
        least.poor += psnr[i] < TAPER_POOR_PSNR_DB;
    }
    return least;
}

/* The last step of a small set (small_set.h). */
static taper_status finish_small_set(taper_encoder *e, formats_front *f, const codec_chunks *chunks,
                                     taper_error *error) {
    if (!e->originals.n || f->groups > 1 || f->rate_classes > 1) return TAPER_OK;
    double *psnr = malloc(e->originals.n * sizeof *psnr);
    codec_small_set set = {e->model, &e->originals, chunks, &e->limits};
    int ended = 0;
    taper_status status = psnr ? codec_small_set_finish(&set, f, psnr, &ended) : TAPER_ERR_NOMEM;
    if (status != TAPER_OK) formats_fail(error, status, "no memory to measure the cuts");
    if (status == TAPER_OK && ended && !e->options.target_bytes_per_megapixel)
        e->group[0].of.least = least_of(psnr, e->originals.n);
    free(psnr);
    return status;
}

/* Shorten the data to the target. Data of a single group may also end early, behind its limit. */
static void shorten_to_limit(const taper_encoder *e, formats_front *f) {
    const uint64_t data = f->chunk_at[(uint64_t)f->layers * f->groups], limit = e->group[0].most;
    double most = (double)e->options.target_bytes_per_megapixel * (double)total_pixels(f) / 1e6;
    if (!e->options.target_bytes_per_megapixel) most = INFINITY;
    if (f->groups == 1 && limit && (double)limit < most) most = (double)limit;
    if ((double)data > most) codec_shorten_data(f, (uint64_t)most);
}

taper_status taper_encoder_finish(taper_encoder *e, const taper_sink *sink, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need_sink(sink, error));
    if (e->is_finished)
        return formats_fail(error, TAPER_ERR_ARG, "taper_encoder_finish was called before");
    if (has_failed(e)) return fail_for_good(e, TAPER_OK, error);
    if (!e->images)
        return formats_fail(error, TAPER_ERR_ARG, "no image was added: there is nothing to encode");
    e->is_finished = 1;
    taper_status status = codec_encoder_submit_all(e);
    if (status != TAPER_OK) return fail_for_good(e, status, error);
    codec_queue_free(e->queue);
    e->queue = NULL;
    if (e->failed) return fail_for_good(e, TAPER_OK, error);
    formats_front front;
    status = make_front(e, &front, error);
    if (status == TAPER_ERR_NOMEM)
        formats_fail(error, status, "no memory for the container's directory");
    if (status == TAPER_OK) shorten_to_limit(e, &front);
    codec_chunks chunks = {e, read_spool};
    if (status == TAPER_OK) status = finish_small_set(e, &front, &chunks, error);
    if (status == TAPER_OK && e->options.measure) status = find_quality(e, &front);
    if (status == TAPER_OK)
        status = codec_assemble(&front, &chunks, UINT64_MAX, &e->limits, sink, error);
    formats_front_free(&front);
    return status;
}
