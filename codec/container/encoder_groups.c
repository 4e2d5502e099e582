/* encoder_groups.c -- see encoder_groups.h. */
#include "codec/container/encoder_groups.h"
#include "codec/container/allocation.h"
#include "codec/container/assemble.h"
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_PIXELS = 1 << 20,
    GROUP_IMAGES = 4096,
    MIN_CHUNK_BYTES = 1500,
    MIN_RATE_CLASS_CHUNK_BYTES = 400, /* more layers: rate classes differ only at layer ends */
    MEAN_IMAGES = 16,                 /* images for the mean distortion, */
    MEAN_PIXELS = 32 << 20,           /* or fewer with this number of pixels */
    /* Of several rate classes, all groups end after as many images, so that leaves of the front
     * matter can end there (formats/leaf.h). */
    CLOSED_IMAGES = 1 << 14
};

/* --- memory ------------------------------------------------------------------------------ */

taper_status codec_encoder_charge(taper_encoder *e, uint64_t bytes) {
    for (;;) {
        /* Ask before the attempt: the last worker may release memory between the two. */
        int busy = codec_queue_is_busy(e->queue);
        codec_queue_lock(e->queue);
        taper_status status = formats_account_take(e->account, bytes);
        codec_queue_unlock(e->queue);
        if (status == TAPER_OK || !busy) return status;
        codec_queue_wait(e->queue);
    }
}

static void give(taper_encoder *e, uint64_t bytes) {
    codec_queue_lock(e->queue);
    formats_account_give(e->account, bytes);
    codec_queue_unlock(e->queue);
}

taper_status codec_encoder_grow(taper_encoder *e, void **array, size_t count, size_t *capacity,
                                size_t size) {
    enum { FIRST = 16 };
    if (count < *capacity) return TAPER_OK;
    size_t wanted = *capacity ? *capacity * 2 : FIRST;
    TAPER_TRY(codec_encoder_charge(e, wanted * size)); /* realloc may hold both arrays */
    codec_queue_lock(e->queue);                        /* workers write to some arrays */
    void *bigger = realloc(*array, wanted * size);
    if (bigger) *array = bigger;
    codec_queue_unlock(e->queue);
    give(e, (bigger ? *capacity : wanted) * size);
    if (!bigger) return TAPER_ERR_NOMEM;
    *capacity = wanted;
    return TAPER_OK;
}

taper_status codec_encoder_append(taper_encoder *e, formats_buffer *buffer, const void *bytes,
                                  size_t n) {
    uint64_t most = buffer->capacity + n + 64; /* upper bound of what the buffer grows by */
    TAPER_TRY(codec_encoder_charge(e, most));
    give(e, most); /* now enough is available, and only this thread takes memory */
    codec_queue_lock(e->queue);
    taper_status status = formats_write_bytes(buffer, bytes, n);
    codec_queue_unlock(e->queue);
    return status;
}

uint64_t codec_encoder_windows(const taper_encoder *e, const taper_image *image) {
    codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    return (uint64_t)grid.columns * grid.rows;
}

uint64_t codec_encoder_image_bytes(const taper_encoder *e, const taper_image *image,
                                   int has_codes) {
    uint64_t samples = (uint64_t)image->width * image->height * image->channels;
    uint64_t codes = codec_encoder_windows(e, image) * e->model->tables.units * sizeof(int16_t);
    return (image->pixels ? samples * (image->depth / 8u) : 0) + (has_codes ? codes : 0);
}

/* --- running a job --------------------------------------------------------------------- */

void codec_encode_job_free(codec_encode_job *job) {
    if (!job) return;
    for (size_t i = 0; i < job->of.n; i++) {
        free(job->of.image[i].pixels);
        if (job->of.code) free(job->of.code[i]);
    }
    free(job->of.image), free(job->of.code);
    free(job);
}

void codec_encoder_fail(taper_encoder *e, taper_status status, const taper_error *error) {
    if (e->failed) return;
    e->failed = 1;
    if (error && error->status == status)
        e->error = *error;
    else if (status == TAPER_ERR_LIMIT)
        formats_fail_fact(&e->error, status, TAPER_FACT_MAX_MEMORY,
                          formats_memory_step(&e->limits, e->limits.max_memory),
                          "encoding needs more memory than the limit of %llu bytes; smaller groups "
                          "need less",
                          (unsigned long long)e->limits.max_memory);
    else
        formats_fail(&e->error, status,
                     "no memory to encode a group; use smaller groups or fewer threads");
}

/* What the job charged, with its lists. */
static uint64_t charged_for(const codec_encode_job *job) {
    return job->charged + job->capacity * sizeof *job->of.image +
           job->code_capacity * sizeof *job->of.code;
}

/* Append the chunks of a job to the spool. Call with the queue locked. */
static taper_status store(taper_encoder *e, const codec_encode_job *job, const formats_buffer *out,
                          codec_written_group *written, taper_error *error) {
    off_t at = fseeko(e->spool, 0, SEEK_END) ? -1 : ftello(e->spool);
    if (at < 0 || (out->size && fwrite(out->data, 1, out->size, e->spool) != out->size) ||
        fflush(e->spool))
        return formats_fail(error, TAPER_ERR_IO,
                            "cannot write the temporary file: is its disk full?");
    e->group[job->group] = (codec_group_record){(uint64_t)at, job->most, *written};
    if (written->is_longer) {
        uint32_t *end = e->layer_end;
        e->layer_end = e->longer_end, e->n_layers = e->n_longer;
        e->longer_end = end;
    }
    *written = (codec_written_group){0};
    return TAPER_OK;
}

void codec_encode_job_run(void *item) {
    codec_encode_job *job = item;
    taper_encoder *e = job->encoder;
    formats_buffer out =
        formats_buffer_make((size_t)codec_group_chunk_bytes(e->model, job->size.windows));
    taper_error error = {0};
    const uint32_t most_layers = e->n_layers > e->n_longer ? e->n_layers : e->n_longer;
    codec_written_group written = {.chunk_at = calloc((size_t)most_layers + 1, sizeof(uint64_t))};
    taper_status status = TAPER_ERR_NOMEM;
    codec_group_writer writer = {
        .model = e->model,
        .network = &e->network,
        .backend = &e->backend,
        .layers = {e->layer_end + job->rate_class, e->rate_classes, e->n_layers},
        .measure = e->options.measure,
        .most = job->most,
        .least = job->least};
    if (e->longer_end)
        writer.longer =
            (codec_layer_ends){e->longer_end + job->rate_class, e->rate_classes, e->n_longer};
    if (written.chunk_at) status = codec_group_write(&writer, &job->of, &out, &written, &error);
    /* The raised planes stay in memory. */
    uint64_t charged = charged_for(job) - written.n_raised * sizeof *written.raised;
    codec_queue_lock(e->queue);
    if (status == TAPER_OK) status = store(e, job, &out, &written, &error);
    if (status != TAPER_OK) codec_encoder_fail(e, status, &error);
    codec_queue_unlock(e->queue);
    codec_written_group_free(&written);
    formats_buffer_free(&out);
    codec_encode_job_free(job);
    give(e, charged);
}

/* --- layers ---------------------------------------------------------------------------- */

/* The number of passes that is expected to need 9/8 of the target (0: all passes), by linear
 * interpolation between the ends of the model's layers. taper_encoder_finish cuts the rest. */
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

/* Layers of the middle rate class. */
typedef struct layer_choice {
    uint32_t end[CODEC_MAX_LAYERS_IN_MODEL], n;
} layer_choice;

/* What the set is. Layers of one image double in size, which gives enough checksums. With several
 * groups small layers come first: else the first bytes would be spent on the first groups. */
typedef enum set_kind { ONE_IMAGE, ONE_GROUP, SEVERAL_GROUPS } set_kind;

/* Nonzero if a layer should end where a group of about this many pixels has `size` bytes. written:
 * where the last layer ended. */
static int ends_layer(const taper_encoder *e, uint64_t size, uint64_t written, uint64_t pixels,
                      set_kind kind) {
    uint64_t least = e->rate_classes > 1 ? MIN_RATE_CLASS_CHUNK_BYTES : MIN_CHUNK_BYTES;
    if (e->options.layout == TAPER_LAYOUT_IMAGE) return 0;
    if (e->options.layout == TAPER_LAYOUT_GALLERY)
        return codec_ends_small_layer(size, written, pixels);
    if (kind == SEVERAL_GROUPS && e->rate_classes == 1)
        if (codec_ends_small_layer(size, written, pixels)) return 1;
    return size - written >= least && (kind != ONE_IMAGE || size >= 2 * written);
}

/* Choose layers up to the pass `end` for groups of about this many pixels. Layers of the model are
 * joined until a chunk is large compared to its overhead. */
static void choose_layers(const taper_encoder *e, uint32_t end, uint64_t pixels, set_kind kind,
                          layer_choice *choice) {
    const codec_code_tables *t = &e->model->tables;
    uint32_t last = 0;
    while (t->layer[last].pass < end) last++;
    /* about: a power of two, so that shards of similar size get the same layers. */
    uint64_t written = 0, about = 1;
    while (about * 2 <= pixels) about *= 2;
    choice->n = 0;
    for (uint32_t l = 0; l <= last; l++) {
        uint64_t size = (uint64_t)t->layer[l].bytes_per_mpixel * about / 1000000;
        if (l < last && !ends_layer(e, size, written, about, kind)) continue;
        choice->end[choice->n++] = l < last ? t->layer[l].pass : end;
        written = size;
    }
}

/* Make *layer_end, [n][rate_classes], of a choice. */
static taper_status make_layers(const taper_encoder *e, const layer_choice *choice,
                                uint32_t **layer_end) {
    uint32_t *to = malloc((size_t)e->rate_classes * choice->n * sizeof *to);
    *layer_end = to;
    if (!to) return TAPER_ERR_NOMEM;
    if (e->rate_classes == 1) {
        memcpy(to, choice->end, choice->n * sizeof *to);
        return TAPER_OK;
    }
    for (uint32_t rate_class = 0; rate_class < e->rate_classes; rate_class++) {
        uint32_t end[CODEC_MAX_LAYERS_IN_MODEL];
        TAPER_TRY(
            codec_rate_class_layers(&e->model->tables, rate_class, choice->end, choice->n, end));
        for (uint32_t l = 0; l < choice->n; l++) to[l * e->rate_classes + rate_class] = end[l];
    }
    return TAPER_OK;
}

/* --- adding --------------------------------------------------------------------------- */

/* The pixels that groups have, at least, where more of them follow: the first one may be an icon
 * among photographs. A model of large windows is one for large images. */
static uint64_t usual_pixels(const taper_encoder *e) {
    uint64_t window = (uint64_t)e->model->window.width * e->model->window.height,
             image = window * window / 4;
    if (e->options.layout != TAPER_LAYOUT_SET) return image;
    return e->options.group_images ? image * e->options.group_images : GROUP_PIXELS / 4;
}

/* Choose layers by the nominal size of groups: a short first group must not change the layers, as
 * shards are merged later. */
static taper_status choose_layers_once(taper_encoder *e, int is_last, int may_be_plain) {
    if (e->n_layers) return TAPER_OK;
    const codec_code_tables *t = &e->model->tables;
    uint32_t end = passes_for_target(t, e->options.target_bytes_per_megapixel);
    layer_choice choice;
    set_kind kind = !is_last                                     ? SEVERAL_GROUPS
                    : e->images == 1 && !e->options.group_images ? ONE_IMAGE
                                                                 : ONE_GROUP;
    uint64_t pixels = 1;
    uint32_t nominal = e->options.group_images;
    for (uint32_t rate_class = 0; rate_class < e->rate_classes; rate_class++) {
        const codec_encode_job *job = e->job[rate_class];
        if (!job || !job->of.n) continue;
        uint64_t about = nominal ? job->pixels * nominal / job->of.n : job->pixels;
        pixels = about > pixels ? about : pixels;
    }
    uint64_t usual = kind == SEVERAL_GROUPS ? usual_pixels(e) : 0;
    if (pixels < usual) pixels = usual;
    if (e->pass_limit && e->pass_limit < end) end = e->pass_limit;
    choose_layers(e, end, pixels, kind, &choice);
    e->n_layers = choice.n;
    TAPER_TRY(make_layers(e, &choice, &e->layer_end));
    if (!may_be_plain || end == t->n_passes) return TAPER_OK;
    choose_layers(e, t->n_passes, pixels, kind, &choice);
    e->n_longer = choice.n;
    return make_layers(e, &choice, &e->longer_end);
}

/* Enlarge the lists of groups for one more group and the bounds of its layers. */
static taper_status grow_groups(taper_encoder *e) {
    const uint32_t layers = e->n_layers > e->n_longer ? e->n_layers : e->n_longer;
    TAPER_TRY(codec_encoder_charge(e, (layers + 1) * sizeof(uint64_t)));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->group_rate_class, e->groups,
                                 &e->group_rate_class_capacity, sizeof *e->group_rate_class));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->group_first, e->groups + 1,
                                 &e->group_start_capacity, sizeof *e->group_first));
    return codec_encoder_grow(e, (void **)&e->group, e->groups, &e->groups_capacity,
                              sizeof *e->group);
}

/* An upper bound of the container's front matter, if the set is one group. */
static uint64_t most_front_bytes(const taper_encoder *e) {
    enum { FIXED = 2048, AN_IMAGE = 32 }; /* FIXED: with the directory of all layers */
    const uint64_t model = e->options.embed_model ? e->options.model_size : 0;
    const uint64_t codes = e->images * formats_front_search_bytes(&e->search);
    return FIXED + AN_IMAGE * e->images + e->names.size + e->classes.size + model + codes +
           e->search.search_model_size;
}

/* What is known before coding of how many bytes are kept. Only for a set of one group: of others
 * neither the pixels nor what other groups need are known yet. Small sets are measured first. */
static void limit_job(const taper_encoder *e, codec_encode_job *job, int is_last) {
    const double pixels = (double)job->pixels;
    const double target = (double)e->options.target_bytes_per_megapixel * pixels / 1e6;
    const double needed = (double)most_front_bytes(e) + pixels / 1e6 + 2;
    const int is_small = e->originals.n != 0;
    if (!is_last || job->of.n != e->images || is_small || e->options.measure || target >= 1e18 ||
        e->options.layout != TAPER_LAYOUT_SET)
        return;
    job->most = e->options.kept_bytes;
    if (target >= 1 && (!job->most || target < (double)job->most)) job->most = (uint64_t)target;
    if (target >= 1 && (double)job->most > needed) job->least = job->most - (uint64_t)needed;
}

/* Encode the unfinished group of a rate class. is_last: no image follows. */
static taper_status submit(taper_encoder *e, uint32_t rate_class, int is_last) {
    codec_encode_job *job = e->job[rate_class];
    if (!job || !job->of.n) return TAPER_OK;
    limit_job(e, job, is_last);
    TAPER_TRY(choose_layers_once(e, is_last, job->least > 0));
    uint64_t bytes = codec_group_write_bytes(e->model, &job->size);
    TAPER_TRY(codec_encoder_charge(e, bytes));
    job->charged += bytes;
    TAPER_TRY(grow_groups(e));
    job->group = (uint32_t)e->groups;
    e->group[e->groups] = (codec_group_record){0};
    e->group_rate_class[e->groups] = (uint8_t)rate_class;
    e->group_first[e->groups++] = e->placed;
    e->placed += (uint32_t)job->of.n;
    e->job[rate_class] = NULL;
    if (e->queue)
        codec_queue_put(e->queue, job);
    else
        codec_encode_job_run(job);
    return TAPER_OK;
}

static taper_status start_job(taper_encoder *e, uint32_t rate_class) {
    if (e->job[rate_class]) return TAPER_OK;
    codec_encode_job *job = calloc(1, sizeof *job);
    if (!job) return TAPER_ERR_NOMEM;
    job->encoder = e;
    job->rate_class = rate_class;
    e->job[rate_class] = job;
    return TAPER_OK;
}

static int job_is_full(const taper_encoder *e, const codec_encode_job *job, uint64_t pixels) {
    if (!job || !job->of.n) return 0;
    if (e->options.layout != TAPER_LAYOUT_SET) return 1;
    if (e->options.group_images) return job->of.n >= e->options.group_images;
    return job->of.n >= GROUP_IMAGES || job->pixels + pixels > GROUP_PIXELS;
}

/* Append an image to the job's lists. On failure the caller keeps the pixels and codes. */
static taper_status add_to_job(taper_encoder *e, codec_encode_job *job, const taper_image *image,
                               int16_t *code) {
    codec_group_images *of = &job->of;
    TAPER_TRY(codec_encoder_grow(e, (void **)&of->image, of->n, &job->capacity, sizeof *of->image));
    if (code)
        TAPER_TRY(codec_encoder_grow(e, (void **)&of->code, of->n, &job->code_capacity,
                                     sizeof *of->code));
    uint64_t windows = codec_encoder_windows(e, image),
             bytes = codec_encoder_image_bytes(e, image, 0);
    if (code) of->code[of->n] = code;
    of->image[of->n++] = *image;
    job->pixels += (uint64_t)image->width * image->height;
    job->charged += codec_encoder_image_bytes(e, image, code != NULL);
    job->size.images++, job->size.windows += windows;
    if (windows > job->size.most_windows) job->size.most_windows = windows;
    if (bytes > job->size.most_bytes) job->size.most_bytes = bytes;
    job->size.has_codes = code != NULL;
    job->size.measured = image->pixels && e->options.measure;
    return TAPER_OK;
}

/* End the groups of all rate classes before image `number`, if it is time to. */
static taper_status close_groups(taper_encoder *e, size_t number) {
    const size_t wanted = 4 * (size_t)e->options.group_images;
    if (e->rate_classes == 1 || !number ||
        number % (wanted > CLOSED_IMAGES ? wanted : CLOSED_IMAGES))
        return TAPER_OK;
    for (uint32_t t = 0; t < e->rate_classes; t++) TAPER_TRY(submit(e, t, 0));
    return TAPER_OK;
}

taper_status codec_encoder_place(taper_encoder *e, taper_image image, int16_t *code, size_t number,
                                 uint32_t rate_class) {
    uint64_t pixels = (uint64_t)image.width * image.height;
    taper_status status = close_groups(e, number);
    if (status == TAPER_OK && job_is_full(e, e->job[rate_class], pixels))
        status = submit(e, rate_class, 0);
    if (status == TAPER_OK) status = start_job(e, rate_class);
    if (status == TAPER_OK) status = add_to_job(e, e->job[rate_class], &image, code);
    if (status == TAPER_OK)
        e->image_rate_class[number] = (uint8_t)rate_class;
    else
        free(image.pixels), free(code);
    return status;
}

/* Compute the mean distortion, and place the deferred images by their rate classes. */
static taper_status allocate_waiting(taper_encoder *e) {
    double sum = 0;
    for (size_t i = 0; i < e->n_waiting; i++) sum += e->waiting[i].log_distortion;
    e->mean = e->n_waiting ? sum / (double)e->n_waiting : 0;
    e->has_mean = 1;
    size_t n = e->n_waiting;
    for (size_t i = 0; i < n; i++) {
        codec_waiting_image w = e->waiting[i];
        uint32_t rate_class = codec_rate_class_of(e->options.allocation, w.log_distortion, e->mean);
        e->waiting[i].image.pixels = NULL, e->waiting[i].code = NULL;
        TAPER_TRY(codec_encoder_place(e, w.image, w.code, w.number, rate_class));
    }
    e->n_waiting = 0;
    return TAPER_OK;
}

/* Compute an image's codes, which are charged, and its log distortion. */
static taper_status analyse(taper_encoder *e, const taper_image *image, int16_t **code,
                            double *log_distortion) {
    uint64_t windows = codec_encoder_windows(e, image);
    uint64_t bytes = windows * e->model->tables.units * sizeof **code;
    uint64_t meanwhile = codec_log_distortion_bytes(e->model, windows);
    TAPER_TRY(codec_encoder_charge(e, bytes + meanwhile));
    *code = malloc((size_t)bytes);
    taper_status status = *code ? codec_log_distortion(e->model, &e->network, &e->backend, image,
                                                       e->reference, log_distortion, *code)
                                : TAPER_ERR_NOMEM;
    give(e, meanwhile);
    return status;
}

taper_status codec_encoder_allocate(taper_encoder *e, taper_image image, size_t number) {
    codec_waiting_image w = {.image = image, .number = number};
    taper_status status = analyse(e, &image, &w.code, &w.log_distortion);
    if (status == TAPER_OK && e->has_mean)
        return codec_encoder_place(
            e, image, w.code, number,
            codec_rate_class_of(e->options.allocation, w.log_distortion, e->mean));
    if (status == TAPER_OK)
        status = codec_encoder_grow(e, (void **)&e->waiting, e->n_waiting, &e->waiting_capacity,
                                    sizeof *e->waiting);
    if (status != TAPER_OK) {
        free(image.pixels), free(w.code);
        return status;
    }
    e->waiting[e->n_waiting++] = w;
    e->waiting_pixels += (uint64_t)image.width * image.height;
    int enough = e->n_waiting >= MEAN_IMAGES && e->waiting_pixels >= GROUP_PIXELS;
    return enough || e->waiting_pixels >= MEAN_PIXELS ? allocate_waiting(e) : TAPER_OK;
}

taper_status codec_encoder_submit_all(taper_encoder *e) {
    taper_status status = e->has_mean ? TAPER_OK : allocate_waiting(e);
    for (uint32_t rate_class = 0; rate_class < e->rate_classes && status == TAPER_OK; rate_class++)
        status = submit(e, rate_class, 1);
    return status;
}
