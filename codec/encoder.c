/* encoder.c -- images in, container out; the public face is in taper.h.
 *
 * Images gather until they make a group; a group is coded whole (network, quantiser, chunk_coder)
 * by a worker or, without workers, by the caller; its chunks go to the spool. finish() lays them
 * out layer by layer. */
#include "assemble.h"
#include "encoder.h"
#include "group_writer.h"
#include "queue.h"
#include "pseudo_inverse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_PIXELS = 1 << 20,
    GROUP_IMAGES = 4096,
    MIN_CHUNK_BYTES = 1500,
    MAX_GROUP_IMAGES = 65536
};

/* Images waiting to be coded. */
typedef struct encode_job {
    struct taper_encoder *encoder;
    uint32_t group;
    codec_group_images of;
    size_t capacity;
    uint64_t pixels;
} encode_job;

typedef struct group_record {
    uint64_t spool_at;
    uint64_t *chunk_at; /* [layers + 1] from spool_at */
} group_record;

struct taper_encoder {
    const taper_model *model;
    taper_encode_options options;
    taper_limits limits;
    codec_backend backend;
    codec_network network; /* the model's, with an analysis of our own */
    float *analysis;       /* ours, or NULL */
    FILE *spool;
    encode_job *job;                                  /* the group being filled */
    codec_queue *queue;                               /* NULL: no workers */
    uint32_t n_layers, layer_end[FORMATS_MAX_LAYERS]; /* fixed by the first group */
    group_record *group;
    size_t groups, groups_capacity;
    formats_geometry *geometry;
    int32_t *label;
    size_t images, images_capacity, group_start_capacity;
    uint32_t *group_first;
    formats_buffer names, classes; /* NUL-ended */
    uint32_t n_classes;
    uint32_t pass_limit; /* 0: none */
    int any_name, any_label, failed;
    taper_error error; /* of the first failure */
};

/* --- running a job --------------------------------------------------------------------- */

static void free_job(encode_job *job) {
    if (!job) return;
    for (size_t i = 0; i < job->of.n; i++) free(job->of.image[i].pixels);
    free(job->of.image);
    free(job);
}

static void remember_failure(taper_encoder *e, taper_status status, const taper_error *error) {
    if (e->failed) return;
    e->failed = 1;
    if (error && error->status == status)
        e->error = *error;
    else
        formats_fail(&e->error, status,
                     "no memory to encode a group; use smaller groups or fewer threads");
}

/* The queue's work: code a job, then, one at a time, store its chunks. */
static void run_job(void *item) {
    encode_job *job = item;
    taper_encoder *e = job->encoder;
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    taper_error error = {0};
    uint64_t *chunk_at = calloc((size_t)e->n_layers + 1, sizeof *chunk_at);
    taper_status status = TAPER_ERR_NOMEM;
    codec_group_writer writer = {e->model, &e->network, &e->backend, e->layer_end, e->n_layers};
    if (chunk_at) status = codec_group_write(&writer, &job->of, &out, chunk_at, &error);
    codec_queue_lock(e->queue);
    if (status == TAPER_OK) {
        long at = fseek(e->spool, 0, SEEK_END) ? -1 : ftell(e->spool);
        if (at < 0 || (out.size && fwrite(out.data, 1, out.size, e->spool) != out.size) ||
            fflush(e->spool))
            status = formats_fail(&error, TAPER_ERR_IO,
                                  "cannot write the temporary file: is its disk full?");
        e->group[job->group] = (group_record){(uint64_t)(at < 0 ? 0 : at), chunk_at};
        chunk_at = NULL;
    }
    if (status != TAPER_OK) remember_failure(e, status, &error);
    codec_queue_unlock(e->queue);
    free(chunk_at);
    formats_buffer_free(&out);
    free_job(job);
}

/* --- layers ---------------------------------------------------------------------------- */

/* Passes that are expected to reach an eighth above the target (0: all); between the ends of the
 * model's layers by a straight line. What is above the target is cut off at the end. */
static uint32_t passes_for_target(const codec_code_tables *t, uint64_t target) {
    uint64_t wanted = target + target / 8;
    codec_layer_end before = {0, 0};
    for (uint32_t l = 0; target && l < t->n_layers; before = t->layer[l++]) {
        codec_layer_end layer = t->layer[l];
        if (layer.bytes_per_mpixel < wanted) continue;
        uint64_t bytes = layer.bytes_per_mpixel - before.bytes_per_mpixel;
        uint64_t part = (wanted - before.bytes_per_mpixel) * (layer.pass - before.pass);
        return before.pass + (uint32_t)(bytes ? (part + bytes - 1) / bytes : 1);
    }
    return t->n_passes;
}

/* Layers for groups of about this many pixels: the model's, joined until a chunk is worth its
 * overhead, up to what the target needs. */
static void choose_layers(taper_encoder *e, uint64_t pixels) {
    const codec_code_tables *t = &e->model->tables;
    uint32_t last = 0, end = passes_for_target(t, e->options.target_bytes_per_megapixel);
    if (e->pass_limit && e->pass_limit < end) end = e->pass_limit;
    while (t->layer[last].pass < end) last++;
    uint64_t written = 0, about = 1; /* a power of two, so that shards of about the same size get
                                        the same layers */
    while (about * 2 <= pixels) about *= 2;
    for (uint32_t l = 0; l <= last; l++) {
        uint64_t size = (uint64_t)t->layer[l].bytes_per_mpixel * about / 1000000;
        if (l < last &&
            (e->options.layout == TAPER_LAYOUT_IMAGE || size - written < MIN_CHUNK_BYTES))
            continue;
        e->layer_end[e->n_layers++] = l < last ? t->layer[l].pass : end;
        written = size;
    }
}

/* --- feeding --------------------------------------------------------------------------- */

/* Room for one more of each array, doubling. */
static taper_status grow(void **array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return TAPER_OK;
    size_t wanted = *capacity ? *capacity * 2 : 256;
    void *bigger = realloc(*array, wanted * size);
    if (!bigger) return TAPER_ERR_NOMEM;
    *array = bigger;
    *capacity = wanted;
    return TAPER_OK;
}

static taper_status submit(taper_encoder *e) {
    encode_job *job = e->job;
    if (!job || !job->of.n) return TAPER_OK;
    if (!e->n_layers) { /* a short first group must not change the layers: shards are to fit
                           together */
        uint32_t nominal = e->options.group_images;
        choose_layers(e, nominal ? job->pixels * nominal / job->of.n : job->pixels);
    }
    codec_queue_lock(e->queue); /* workers write e->group[] */
    taper_status status =
        grow((void **)&e->group, e->groups, &e->groups_capacity, sizeof *e->group);
    if (status == TAPER_OK)
        status = grow((void **)&e->group_first, e->groups + 1, &e->group_start_capacity,
                      sizeof *e->group_first);
    if (status == TAPER_OK) {
        job->group = (uint32_t)e->groups;
        e->group[e->groups] = (group_record){0};
        e->group_first[e->groups++] = (uint32_t)(e->images - job->of.n);
    }
    codec_queue_unlock(e->queue);
    TAPER_TRY(status);
    e->job = NULL;
    if (e->queue)
        codec_queue_put(e->queue, job);
    else
        run_job(job);
    return TAPER_OK;
}

static taper_status check_image(const taper_encoder *e, const taper_image *image, const char *name,
                                taper_error *error) {
    if (!image->pixels || !image->width || !image->height || image->channels < 1 ||
        image->channels > 4 || (image->depth != 8 && image->depth != 16))
        return formats_fail(error, TAPER_ERR_ARG,
                            "an image without pixels or of an illegal kind was given");
    if (image->channels == 2 || image->channels == 4)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "image has an alpha channel, which taper does not carry; remove it "
                            "first, or give --alpha drop");
    if (image->channels > e->model->window.channels)
        return formats_fail(
            error, TAPER_ERR_UNSUPPORTED,
            "image is in colour but the model is for grey images; use a colour model");
    uint64_t pixels = (uint64_t)image->width * image->height;
    codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    if (pixels > e->limits.max_pixels || image->width > FORMATS_MAX_SIDE ||
        image->height > FORMATS_MAX_SIDE ||
        codec_group_bytes(&e->model->tables, (uint64_t)grid.columns * grid.rows) >
            e->limits.max_memory)
        return formats_fail(
            error, TAPER_ERR_LIMIT,
            "image of %u x %u pixels is above the limits; raise --max-pixels or --max-memory",
            image->width, image->height);
    if (e->images >= e->limits.max_images || e->images >= UINT32_MAX - 1)
        return formats_fail(error, TAPER_ERR_LIMIT, "more than %zu images; raise --max-images",
                            e->images);
    if (name && !formats_name_is_legal(name))
        return formats_fail(error, TAPER_ERR_ARG, "the name is not a plain relative path");
    return TAPER_OK;
}

static taper_status start_job(taper_encoder *e) {
    if (e->job) return TAPER_OK;
    e->job = calloc(1, sizeof *e->job);
    if (!e->job) return TAPER_ERR_NOMEM;
    e->job->encoder = e;
    return TAPER_OK;
}

static int job_is_full(const taper_encoder *e, uint64_t pixels) {
    const encode_job *job = e->job;
    if (!job || !job->of.n) return 0;
    if (e->options.layout == TAPER_LAYOUT_IMAGE) return 1;
    if (e->options.group_images) return job->of.n >= e->options.group_images;
    return job->of.n >= GROUP_IMAGES || job->pixels + pixels > GROUP_PIXELS;
}

/* Append the image to the job and its record to the lists. */
static taper_status append(taper_encoder *e, const taper_image *image, size_t bytes,
                           const char *name, int32_t label) {
    TAPER_TRY(start_job(e));
    TAPER_TRY(grow((void **)&e->job->of.image, e->job->of.n, &e->job->capacity,
                   sizeof *e->job->of.image));
    size_t capacity = e->images_capacity;
    TAPER_TRY(grow((void **)&e->geometry, e->images, &capacity, sizeof *e->geometry));
    TAPER_TRY(grow((void **)&e->label, e->images, &e->images_capacity, sizeof *e->label));
    taper_image copy = *image;
    copy.pixels = malloc(bytes);
    if (!copy.pixels) return TAPER_ERR_NOMEM;
    memcpy(copy.pixels, image->pixels, bytes);
    e->job->of.image[e->job->of.n++] = copy;
    e->job->pixels += (uint64_t)image->width * image->height;
    e->geometry[e->images] =
        (formats_geometry){image->width, image->height, image->channels, image->depth};
    e->label[e->images++] = label;
    e->any_name |= name != NULL;
    e->any_label |= label >= 0;
    char own[16];
    if (!name) snprintf(own, sizeof own, "%06zu.png", e->images);
    return formats_write_bytes(&e->names, name ? name : own, strlen(name ? name : own) + 1);
}

static size_t pixel_bytes(const taper_image *image) {
    return (size_t)image->width * image->height * image->channels * (image->depth / 8u);
}

static taper_status fail_for_good(taper_encoder *e, taper_status status, taper_error *error) {
    codec_queue_lock(e->queue);
    remember_failure(e, status, error);
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

taper_status taper_encoder_add(taper_encoder *e, const taper_image *image, const char *name,
                               int32_t label, taper_error *error) {
    if (has_failed(e)) return fail_for_good(e, TAPER_OK, error);
    TAPER_TRY(check_image(e, image, name, error));
    taper_status status = TAPER_OK;
    if (job_is_full(e, (uint64_t)image->width * image->height)) status = submit(e);
    if (status == TAPER_OK) status = append(e, image, pixel_bytes(image), name, label);
    return status == TAPER_OK ? status : fail_for_good(e, status, error);
}

taper_status codec_encoder_add_codes(taper_encoder *e, const taper_image *image, size_t bytes,
                                     const char *name, int32_t label, taper_error *error) {
    taper_status status = TAPER_OK;
    if (job_is_full(e, (uint64_t)image->width * image->height)) status = submit(e);
    if (status == TAPER_OK) status = append(e, image, bytes, name, label);
    if (status == TAPER_OK) e->job->of.holds_codes = 1;
    return status == TAPER_OK ? status : fail_for_good(e, status, error);
}

void codec_encoder_limit_passes(taper_encoder *e, uint32_t passes) { e->pass_limit = passes; }

taper_status taper_encoder_set_classes(taper_encoder *e, const char *const *names, size_t n,
                                       taper_error *error) {
    if (n > FORMATS_MAX_CLASSES || e->n_classes)
        return formats_fail(error, TAPER_ERR_ARG, "class names: too many, or given twice");
    for (size_t i = 0; i < n; i++) formats_write_bytes(&e->classes, names[i], strlen(names[i]) + 1);
    e->n_classes = (uint32_t)n;
    return e->classes.status == TAPER_OK
               ? TAPER_OK
               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for class names");
}

/* --- making and finishing -------------------------------------------------------------- */

static taper_status prepare_analysis(taper_encoder *e, taper_error *error) {
    e->network = e->model->network;
    if (!e->model->tied) return TAPER_OK;
    uint32_t units = e->network.units, inputs = e->network.inputs;
    e->analysis = malloc((size_t)units * inputs * sizeof *e->analysis);
    if (!e->analysis) return TAPER_ERR_NOMEM;
    codec_backend backend; /* with all threads, before the workers start */
    codec_backend_cpu(&backend);
    if (e->options.threads > 1) codec_backend_set_threads(&backend, e->options.threads);
    taper_status status =
        codec_pseudo_inverse(&backend, e->network.synthesis, units, inputs, e->analysis);
    codec_backend_close(&backend);
    if (status == TAPER_ERR_CORRUPT)
        return formats_fail(
            error, status,
            "the model's rows are not near orthonormal: it cannot encode; train it again");
    e->network.analysis = e->analysis;
    return status;
}

taper_status taper_encoder_new(taper_encoder **out, const taper_model *model,
                               const taper_encode_options *options, taper_error *error) {
    *out = NULL;
    taper_encoder *e = calloc(1, sizeof *e);
    if (!e) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an encoder");
    e->model = model;
    if (options) e->options = *options;
    e->limits = formats_limits_or_default(e->options.limits);
    e->names = formats_buffer_make(SIZE_MAX / 4);
    e->classes = formats_buffer_make(SIZE_MAX / 4);
    codec_backend_cpu(&e->backend);
    taper_status status = TAPER_OK;
    if (e->options.group_images > MAX_GROUP_IMAGES ||
        (e->options.embed_model && !e->options.model_bytes) || (unsigned)e->options.layout > 1)
        status = formats_fail(error, TAPER_ERR_ARG, "an encode option is out of range");
    if (status == TAPER_OK) {
        status = prepare_analysis(e, error);
        if (status == TAPER_ERR_NOMEM)
            formats_fail(error, status, "no memory for the model's analysis");
    }
    e->spool = e->options.spool ? e->options.spool : status == TAPER_OK ? tmpfile() : NULL;
    if (status == TAPER_OK && !e->spool)
        status = formats_fail(
            error, TAPER_ERR_IO,
            "cannot make a temporary file; is the disk for temporary files full or read-only?");
    if (status == TAPER_OK && e->options.threads > 1) {
        e->queue = codec_queue_new(e->options.threads, run_job);
        if (!e->queue)
            status = formats_fail(error, TAPER_ERR_NOMEM, "cannot start %u threads; give -T 1",
                                  e->options.threads);
    }
    if (status != TAPER_OK) {
        taper_encoder_free(e);
        return status;
    }
    *out = e;
    return TAPER_OK;
}

void taper_encoder_free(taper_encoder *e) {
    if (!e) return;
    codec_queue_free(e->queue); /* waits for its jobs */
    free_job(e->job);
    for (size_t g = 0; g < e->groups; g++) free(e->group[g].chunk_at);
    free(e->group), free(e->group_first), free(e->geometry), free(e->label), free(e->analysis);
    formats_buffer_free(&e->names), formats_buffer_free(&e->classes);
    if (e->spool && !e->options.spool) fclose(e->spool);
    free(e);
}

static taper_status read_spool(void *user, uint32_t layer, uint32_t group, uint64_t from, void *to,
                               size_t n) {
    taper_encoder *e = user;
    const group_record *r = &e->group[group];
    if (fseek(e->spool, (long)(r->spool_at + r->chunk_at[layer] + from), SEEK_SET) ||
        fread(to, 1, n, e->spool) != n)
        return TAPER_ERR_IO;
    return TAPER_OK;
}

/* Offsets of n NUL-ended strings in a block. */
static uint32_t *string_offsets(const formats_buffer *strings, size_t n) {
    uint32_t *at = malloc((n + 1) * sizeof *at), used = 0;
    for (size_t i = 0; at && i < n; i++) {
        at[i] = used;
        used += (uint32_t)strlen((const char *)strings->data + used) + 1;
    }
    return at;
}

/* Hand the encoder's lists over to a front. */
static taper_status make_front(taper_encoder *e, formats_front *f) {
    *f = (formats_front){.model_id = e->model->info.id,
                         .layout = (uint8_t)e->options.layout,
                         .images = (uint32_t)e->images,
                         .groups = (uint32_t)e->groups,
                         .layers = e->n_layers};
    uint64_t chunks = (uint64_t)f->layers * f->groups;
    f->geometry = e->geometry, e->geometry = NULL;
    f->group_first = e->group_first, e->group_first = NULL;
    f->group_first[f->groups] = f->images;
    f->layer_end = malloc(f->layers * sizeof *f->layer_end);
    f->chunk_at = calloc((size_t)chunks + 1, sizeof *f->chunk_at);
    int ok = f->layer_end && f->chunk_at;
    for (uint32_t l = 0; ok && l < f->layers; l++) {
        f->layer_end[l] = e->layer_end[l];
        for (uint32_t g = 0; g < f->groups; g++) {
            uint64_t c = (uint64_t)l * f->groups + g;
            f->chunk_at[c + 1] =
                f->chunk_at[c] + e->group[g].chunk_at[l + 1] - e->group[g].chunk_at[l];
        }
    }
    if (ok && e->any_name) {
        ok = (f->name_at = string_offsets(&e->names, e->images)) != NULL;
        f->names = (char *)formats_buffer_take(&e->names, &(size_t){0});
    }
    if (ok && e->any_label) {
        ok = (f->class_name_at = string_offsets(&e->classes, e->n_classes)) != NULL;
        f->classes = e->n_classes;
        f->class_names = (char *)formats_buffer_take(&e->classes, &(size_t){0});
        f->label = e->label, e->label = NULL;
        for (size_t i = 0; i < e->images; i++)
            if (f->label[i] < 0 || (uint32_t)f->label[i] >= f->classes) f->label[i] = -1;
    }
    if (ok && e->options.embed_model) {
        ok = (f->model = malloc(e->options.model_size + 1)) != NULL;
        if (ok) memcpy(f->model, e->options.model_bytes, e->options.model_size);
        f->model_size = e->options.model_size;
    }
    f->chunks_per_checksum = ok ? codec_checksum_span(f->layout, f->chunk_at[chunks], chunks) : 1;
    return ok ? TAPER_OK : TAPER_ERR_NOMEM;
}

static uint64_t total_pixels(const formats_front *f) {
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < f->images; i++)
        pixels += (uint64_t)f->geometry[i].width * f->geometry[i].height;
    return pixels;
}

taper_status taper_encoder_finish(taper_encoder *e, const taper_sink *sink, taper_error *error) {
    if (!e->images)
        return formats_fail(error, TAPER_ERR_ARG, "no image was added: there is nothing to encode");
    taper_status status = submit(e);
    if (status != TAPER_OK) return fail_for_good(e, status, error);
    codec_queue_free(e->queue);
    e->queue = NULL;
    if (e->failed) return fail_for_good(e, TAPER_OK, error);
    formats_front front;
    status = make_front(e, &front);
    if (status != TAPER_OK) formats_fail(error, status, "no memory for the container's directory");
    uint64_t target = e->options.target_bytes_per_megapixel;
    if (status == TAPER_OK && target) {
        uint64_t chunks = (uint64_t)front.layers * front.groups;
        uint64_t most = (uint64_t)((double)target * (double)total_pixels(&front) / 1e6);
        if (front.chunk_at[chunks] > most) codec_shorten_data(&front, most);
    }
    codec_chunks chunks = {e, read_spool};
    if (status == TAPER_OK) status = codec_assemble(&front, &chunks, UINT64_MAX, sink, error);
    formats_front_free(&front);
    return status;
}
