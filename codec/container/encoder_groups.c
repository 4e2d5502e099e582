/* encoder_groups.c -- see encoder_groups.h. */
#include "codec/container/encoder_groups.h"
#include "codec/container/encoder_layers.h"
#include "codec/groups/allocation.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_IMAGES = 4096,
    MEAN_IMAGES = 16,       /* images for the mean distortion, */
    MEAN_PIXELS = 32 << 20, /* or fewer with this number of pixels */
    /* Of several rate classes, all groups end after as many images, so that leaves of the front
     * matter can end there (formats/leaf.h). */
    CLOSED_IMAGES = 1 << 14
};

/* --- running a job --------------------------------------------------------------------- */

void codec_encode_job_free(codec_encode_job *job) {
    if (!job) return;
    for (size_t i = 0; i < job->of.n; i++) {
        free(job->of.image[i].pixels);
        if (job->of.code) free(job->of.code[i]);
    }
    if (job->strips) codec_strip_codes_free(job->strips);
    free(job->strips);
    free(job->of.image), free(job->of.code), free(job->of.indexed);
    free(job);
}

/* What the job charged, with its lists. */
static uint64_t charged_for(const codec_encode_job *job) {
    return job->charged + job->capacity * sizeof *job->of.image +
           job->code_capacity * sizeof *job->of.code + job->indexed_capacity;
}

/* The end of the spool; -1: it cannot be written. Call with the queue locked. */
static off_t spool_end(const taper_encoder *e) {
    return fseeko(e->spool.file, 0, SEEK_END) ? -1 : ftello(e->spool.file);
}

static taper_status append_waiting(void *user, const void *bytes, size_t n, uint64_t *at) {
    taper_encoder *e = user;
    codec_queue_lock(e->shared.queue);
    const off_t end = spool_end(e);
    const int ok = end >= 0 && fwrite(bytes, 1, n, e->spool.file) == n;
    *at = (uint64_t)end;
    codec_queue_unlock(e->shared.queue);
    return ok ? TAPER_OK : TAPER_ERR_IO;
}

static taper_status read_waiting(void *user, uint64_t at, void *to, size_t n) {
    taper_encoder *e = user;
    codec_queue_lock(e->shared.queue);
    const int ok =
        !fseeko(e->spool.file, (off_t)at, SEEK_SET) && fread(to, 1, n, e->spool.file) == n;
    codec_queue_unlock(e->shared.queue);
    return ok ? TAPER_OK : TAPER_ERR_IO;
}

codec_waiting_bytes codec_encoder_waiting_bytes(taper_encoder *e) {
    return (codec_waiting_bytes){e, append_waiting, read_waiting};
}

/* Append the chunks of a job to the spool. Call with the queue locked. */
static taper_status store(taper_encoder *e, const codec_encode_job *job, const formats_buffer *out,
                          codec_written_group *written, taper_error *error) {
    off_t at = spool_end(e);
    if (at < 0 || (out->size && fwrite(out->data, 1, out->size, e->spool.file) != out->size) ||
        fflush(e->spool.file))
        return formats_fail(error, TAPER_ERR_IO,
                            "cannot write the temporary file: is its disk full?");
    e->spool.group[job->group] = (codec_group_record){(uint64_t)at, job->most, *written};
    if (written->is_longer) {
        uint32_t *end = e->layers.end;
        e->layers.end = e->layers.longer_end, e->layers.n = e->layers.n_longer;
        e->layers.longer_end = end;
    }
    *written = (codec_written_group){0};
    return TAPER_OK;
}

void codec_encode_job_run(void *item) {
    codec_encode_job *job = item;
    taper_encoder *e = job->encoder;
    formats_buffer out = formats_buffer_make((size_t)codec_group_chunk_bytes(e->model, &job->size));
    taper_error error = {0};
    const uint32_t most_layers =
        e->layers.n > e->layers.n_longer ? e->layers.n : e->layers.n_longer;
    codec_written_group written = {.chunk_at = calloc((size_t)most_layers + 1, sizeof(uint64_t))};
    taper_status status = TAPER_ERR_NOMEM;
    codec_group_writer writer = {
        .model = e->model,
        .network = &e->coder.network,
        .backend = &e->coder.backend,
        .layers = {e->layers.end + job->rate_class, e->layers.rate_classes, e->layers.n},
        .measure = e->options.measure && !e->options.lossless,
        .exact = e->options.lossless && !e->is_for_codes,
        .most = job->most,
        .least = job->least};
    if (e->layers.longer_end)
        writer.longer = (codec_layer_ends){e->layers.longer_end + job->rate_class,
                                           e->layers.rate_classes, e->layers.n_longer};
    if (written.chunk_at)
        status = job->strips ? codec_strips_write(&writer, job->strips, &out, &written, &error)
                             : codec_group_write(&writer, &job->of, &out, &written, &error);
    if (status == TAPER_ERR_IO && error.status == TAPER_OK)
        formats_fail(&error, status, "cannot read or write the temporary file");
    /* The raised planes stay in memory. */
    uint64_t charged = charged_for(job) - written.n_raised * sizeof *written.raised;
    codec_queue_lock(e->shared.queue);
    if (status == TAPER_OK) status = store(e, job, &out, &written, &error);
    if (status != TAPER_OK) codec_encoder_fail(e, status, &error);
    codec_queue_unlock(e->shared.queue);
    codec_written_group_free(&written);
    formats_buffer_free(&out);
    codec_encode_job_free(job);
    codec_encoder_give(e, charged);
}

/* --- collecting a group ------------------------------------------------------------------ */

/* Enlarge the lists of groups for one more group and the bounds of its layers. */
static taper_status grow_groups(taper_encoder *e) {
    const uint32_t layers = e->layers.n > e->layers.n_longer ? e->layers.n : e->layers.n_longer;
    TAPER_TRY(codec_encoder_charge(e, (layers + 1) * sizeof(uint64_t)));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->spool.rate_class, e->spool.groups,
                                 &e->spool.rate_class_capacity, sizeof *e->spool.rate_class));
    TAPER_TRY(codec_encoder_grow(e, (void **)&e->spool.first, e->spool.groups + 1,
                                 &e->spool.first_capacity, sizeof *e->spool.first));
    return codec_encoder_grow(e, (void **)&e->spool.group, e->spool.groups,
                              &e->spool.groups_capacity, sizeof *e->spool.group);
}

/* An upper bound of the container's front matter, if the set is one group. */
static uint64_t most_front_bytes(const taper_encoder *e) {
    enum { FIXED = 2048, AN_IMAGE = 32 }; /* FIXED: with the directory of all layers */
    const uint64_t model = e->options.embed_model ? e->options.model_size : 0;
    const uint64_t codes = e->set.images * (((uint64_t)e->search.bits + 7) / 8);
    return FIXED + AN_IMAGE * e->set.images + e->set.names.size + e->set.class_names.size + model +
           codes + e->search.model_size;
}

/* What is known before coding of how many bytes are kept. Only for a set of one group: of others
 * neither the pixels nor what other groups need are known yet. Small sets are measured first. */
static void limit_job(const taper_encoder *e, codec_encode_job *job, int is_last) {
    const double pixels = (double)job->pixels;
    const double target = (double)e->options.target_bytes_per_megapixel * pixels / 1e6;
    const double needed = (double)most_front_bytes(e) + pixels / 1e6 + 2;
    const int is_small = e->originals.n != 0;
    if (e->aims.are_set || e->options.for_merge || !is_last || job->of.n != e->set.images ||
        is_small || e->options.measure || target >= 1e18 || e->options.layout != TAPER_LAYOUT_SET)
        return;
    if (target >= 1) job->most = (uint64_t)target;
    if (target > needed) job->least = job->most - (uint64_t)needed;
    /* Below `least` the layers would depend on the limit. */
    const int is_lower = !job->most || e->max_bytes < job->most;
    if (is_lower && e->max_bytes < UINT64_MAX && e->max_bytes >= job->least)
        job->most = e->max_bytes;
}

/* Memory to write the group of a job. */
static uint64_t job_bytes(const taper_encoder *e, const codec_encode_job *job) {
    return job->strips ? codec_strips_write_bytes(e->model, job->of.image, e->options.measure)
                       : codec_group_write_bytes(e->model, &job->size);
}

/* Encode the unfinished group of a rate class. is_last: no image follows. */
static taper_status submit(taper_encoder *e, uint32_t rate_class, int is_last) {
    codec_encode_job *job = e->job[rate_class];
    if (!job || !job->of.n) return TAPER_OK;
    limit_job(e, job, is_last);
    TAPER_TRY(codec_encoder_choose_layers(e, is_last, job->least > 0));
    uint64_t bytes = job_bytes(e, job);
    TAPER_TRY(codec_encoder_charge(e, bytes));
    job->charged += bytes;
    TAPER_TRY(grow_groups(e));
    job->group = (uint32_t)e->spool.groups;
    e->spool.group[e->spool.groups] = (codec_group_record){0};
    e->spool.rate_class[e->spool.groups] = (uint8_t)rate_class;
    e->spool.first[e->spool.groups++] = e->spool.placed;
    e->spool.placed += (uint32_t)job->of.n;
    e->job[rate_class] = NULL;
    if (e->shared.queue)
        codec_queue_put(e->shared.queue, job);
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
    return job->of.n >= GROUP_IMAGES || job->pixels + pixels > CODEC_GROUP_PIXELS;
}

/* Append an image to the job's lists. On failure the caller keeps the pixels and codes. */
static taper_status add_to_job(taper_encoder *e, codec_encode_job *job, const taper_image *image,
                               int16_t *code, const formats_geometry *geometry) {
    codec_group_images *of = &job->of;
    const int has_codes = e->is_for_codes || e->waiting.reference || code;
    TAPER_TRY(codec_encoder_grow(e, (void **)&of->image, of->n, &job->capacity, sizeof *of->image));
    TAPER_TRY(codec_encoder_grow(e, (void **)&of->indexed, of->n, &job->indexed_capacity, 1));
    if (has_codes)
        TAPER_TRY(codec_encoder_grow(e, (void **)&of->code, of->n, &job->code_capacity,
                                     sizeof *of->code));
    const codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    if (has_codes) of->code[of->n] = code;
    of->indexed[of->n] = geometry->indexed;
    of->image[of->n++] = *image;
    of->is_codes = has_codes && !e->waiting.reference;
    job->pixels += (uint64_t)image->width * image->height;
    job->charged += codec_encoder_image_bytes(e, image, code != NULL);
    codec_group_size_add(&job->size, geometry, grid, codec_encoder_image_bytes(e, image, 0));
    job->size.has_codes = has_codes;
    job->size.exact = e->options.lossless && !of->is_codes;
    job->size.measured = !of->is_codes && e->options.measure && !e->options.lossless;
    return TAPER_OK;
}

/* End the groups of all rate classes before image `number`, if it is time to. */
static taper_status close_groups(taper_encoder *e, size_t number) {
    const size_t wanted = 4 * (size_t)e->options.group_images;
    if (e->layers.rate_classes == 1 || !number ||
        number % (wanted > CLOSED_IMAGES ? wanted : CLOSED_IMAGES))
        return TAPER_OK;
    for (uint32_t t = 0; t < e->layers.rate_classes; t++) TAPER_TRY(submit(e, t, 0));
    return TAPER_OK;
}

/* End the groups of a gallery before the next image, so that they have the order of the images. */
static taper_status close_images(taper_encoder *e) {
    const int is_gallery = e->options.layout == TAPER_LAYOUT_GALLERY;
    if (!is_gallery || e->layers.rate_classes == 1 || e->aims.are_set) return TAPER_OK;
    for (uint32_t t = 0; t < e->layers.rate_classes; t++) TAPER_TRY(submit(e, t, 0));
    return TAPER_OK;
}

taper_status codec_encoder_place(taper_encoder *e, taper_image image, int16_t *code, size_t number,
                                 uint32_t rate_class) {
    uint64_t pixels = (uint64_t)image.width * image.height;
    taper_status status = close_groups(e, number);
    if (status == TAPER_OK) status = close_images(e);
    if (status == TAPER_OK && job_is_full(e, e->job[rate_class], pixels))
        status = submit(e, rate_class, 0);
    if (status == TAPER_OK) status = start_job(e, rate_class);
    if (status == TAPER_OK)
        status = add_to_job(e, e->job[rate_class], &image, code, &e->set.geometry[number]);
    if (status == TAPER_OK)
        e->set.rate_class[number] = (uint8_t)rate_class;
    else
        free(image.pixels), free(code);
    return status;
}

taper_status codec_encoder_place_strips(taper_encoder *e, taper_image image,
                                        codec_strip_codes *strips, size_t number,
                                        uint32_t rate_class) {
    const taper_status status = codec_encoder_place(e, image, NULL, number, rate_class);
    if (status == TAPER_OK) {
        e->job[rate_class]->strips = strips;
        return TAPER_OK;
    }
    codec_strip_codes_free(strips);
    free(strips);
    return status;
}

uint64_t codec_encoder_needs(const taper_encoder *e, uint32_t rate_class) {
    const codec_encode_job *job = e->job[rate_class];
    return job ? job_bytes(e, job) : 0;
}

/* --- rate classes ------------------------------------------------------------------------ */

static int is_indexed(const taper_encoder *e, size_t number) {
    return e->set.geometry[number].indexed;
}

/* Nonzero if the image's distortion is known. */
static int is_measured(const taper_encoder *e, const codec_waiting_image *w) {
    return !is_indexed(e, w->number) && !isnan(w->log_distortion);
}

/* Images without a distortion are in the middle class. */
static uint32_t rate_class_of(const taper_encoder *e, const codec_waiting_image *w) {
    if (!is_measured(e, w)) return CODEC_RATE_CLASSES / 2;
    if (e->waiting.is_early) return codec_early_class_of(w->log_distortion, e->waiting.mean);
    return codec_rate_class_of(e->options.allocation, w->log_distortion, e->waiting.mean);
}

/* Compute the mean distortion, and place the deferred images by their rate classes. */
static taper_status allocate_waiting(taper_encoder *e) {
    double sum = 0, windowed = 0;
    for (size_t i = 0; i < e->waiting.n; i++)
        if (is_measured(e, &e->waiting.image[i]))
            sum += e->waiting.image[i].log_distortion, windowed++;
    e->waiting.mean = windowed > 0 ? sum / windowed : 0;
    e->waiting.has_mean = !e->waiting.is_early || windowed > 0;
    size_t n = e->waiting.n;
    e->waiting.pixels = 0;
    for (size_t i = 0; i < n; i++) {
        codec_waiting_image w = e->waiting.image[i];
        const uint32_t rate_class = rate_class_of(e, &w);
        e->waiting.image[i].image.pixels = NULL, e->waiting.image[i].code = NULL;
        TAPER_TRY(codec_encoder_place(e, w.image, w.code, w.number, rate_class));
    }
    e->waiting.n = 0;
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
    taper_status status =
        *code ? codec_log_distortion(e->model, &e->coder.network, &e->coder.backend, image,
                                     e->waiting.reference, log_distortion, *code)
              : TAPER_ERR_NOMEM;
    codec_encoder_give(e, meanwhile);
    return status;
}

/* Rows of an image from which its distortion is estimated: a quarter to a half of them. */
enum { BANDS = 4 };

static taper_image band_of(const taper_encoder *e, const taper_image *image, uint32_t i) {
    const uint32_t window = e->model->window.height, parts = image->height / (4 * BANDS * window);
    const uint64_t row = (uint64_t)image->width * image->channels * (image->depth / 8u);
    taper_image band = *image;
    band.height = (parts + 1) * window;
    if (image->height < 2 * BANDS * band.height) return *image;
    const uint64_t y = (uint64_t)(image->height - band.height) * (2 * i + 1) / (2 * BANDS);
    band.pixels = (uint8_t *)image->pixels + y * row;
    return band;
}

/* Estimate the log distortion of an image by the first bytes of a gallery. The image waits without
 * codes, so that workers compute them. */
static taper_status estimate(taper_encoder *e, const taper_image *image, double *log_distortion) {
    const taper_image first = band_of(e, image, 0);
    const uint64_t bytes = codec_aim_bytes(e->model, &first);
    uint32_t end[CODEC_AIM_ENDS];
    double mse[CODEC_AIM_ENDS], sum = 0;
    *log_distortion = NAN;
    if (codec_encoder_charge(e, bytes) != TAPER_OK) return TAPER_OK;
    for (uint32_t k = 0; k < CODEC_AIM_ENDS; k++) end[k] = codec_early_passes(&e->model->tables);
    taper_status status = TAPER_OK;
    for (uint32_t i = 0; i < BANDS && status == TAPER_OK; i++) {
        const taper_image band = band_of(e, image, i);
        status = codec_aim_errors(e->model, &e->coder.network, &e->coder.backend, &band, end, mse);
        sum += mse[0];
        if (band.height == image->height) break;
    }
    codec_encoder_give(e, bytes);
    if (status == TAPER_OK)
        *log_distortion = log2(first.height < image->height ? sum / BANDS : sum);
    return status;
}

/* Nonzero if the waiting images are enough for their mean, or take much memory. */
static int are_enough(const taper_encoder *e) {
    const codec_encoder_waiting *w = &e->waiting;
    enum { PART = 32 }; /* of the memory: pixels of 3 bytes take a tenth */
    if (w->is_early && w->pixels >= e->limits.max_memory / PART) return 1;
    return w->pixels >= MEAN_PIXELS || (w->n >= MEAN_IMAGES && w->pixels >= CODEC_GROUP_PIXELS);
}

taper_status codec_encoder_allocate(taper_encoder *e, taper_image image, size_t number) {
    codec_waiting_image w = {.image = image, .number = number};
    taper_status status = TAPER_OK;
    if (!is_indexed(e, number))
        status = e->waiting.is_early ? estimate(e, &image, &w.log_distortion)
                                     : analyse(e, &image, &w.code, &w.log_distortion);
    if (status == TAPER_OK && e->waiting.has_mean)
        return codec_encoder_place(e, image, w.code, number, rate_class_of(e, &w));
    if (status == TAPER_OK)
        status = codec_encoder_grow(e, (void **)&e->waiting.image, e->waiting.n,
                                    &e->waiting.capacity, sizeof *e->waiting.image);
    if (status != TAPER_OK) {
        free(image.pixels), free(w.code);
        return status;
    }
    e->waiting.image[e->waiting.n++] = w;
    e->waiting.pixels += (uint64_t)image.width * image.height;
    return are_enough(e) ? allocate_waiting(e) : TAPER_OK;
}

taper_status codec_encoder_end_waiting(taper_encoder *e) {
    return e->waiting.n ? allocate_waiting(e) : TAPER_OK;
}

taper_status codec_encoder_submit_all(taper_encoder *e) {
    taper_status status = e->waiting.has_mean ? TAPER_OK : allocate_waiting(e);
    for (uint32_t rate_class = 0; rate_class < e->layers.rate_classes && status == TAPER_OK;
         rate_class++)
        status = submit(e, rate_class, 1);
    return status;
}
