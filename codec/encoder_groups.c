/* encoder_groups.c -- see encoder_groups.h. */
#include "encoder_groups.h"
#include "allocation.h"
#include <stdlib.h>
#include <string.h>

enum {
    GROUP_PIXELS = 1 << 20,
    GROUP_IMAGES = 4096,
    MIN_CHUNK_BYTES = 1500,
    MIN_TRACK_CHUNK_BYTES = 400, /* tracks only part where layers end */
    MEAN_IMAGES = 16,            /* that wait for the mean of their distortions to be known */
    MEAN_PIXELS = 32 << 20       /* or fewer, of so many pixels */
};

/* --- running a job --------------------------------------------------------------------- */

void codec_encode_job_free(codec_encode_job *job) {
    if (!job) return;
    for (size_t i = 0; i < job->of.n; i++) free(job->of.image[i].pixels);
    free(job->of.image);
    free(job);
}

void codec_encoder_fail(taper_encoder *e, taper_status status, const taper_error *error) {
    if (e->failed) return;
    e->failed = 1;
    if (error && error->status == status)
        e->error = *error;
    else
        formats_fail(&e->error, status,
                     "no memory to encode a group; use smaller groups or fewer threads");
}

void codec_encode_job_run(void *item) {
    codec_encode_job *job = item;
    taper_encoder *e = job->encoder;
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    taper_error error = {0};
    codec_written_group written = {.chunk_at = calloc((size_t)e->n_layers + 1, sizeof(uint64_t))};
    taper_status status = TAPER_ERR_NOMEM;
    codec_group_writer writer = {
        e->model,  &e->network, &e->backend,       e->layer_end + job->track,
        e->tracks, e->n_layers, e->options.measure};
    if (written.chunk_at) status = codec_group_write(&writer, &job->of, &out, &written, &error);
    codec_queue_lock(e->queue);
    if (status == TAPER_OK) {
        off_t at = fseeko(e->spool, 0, SEEK_END) ? -1 : ftello(e->spool);
        if (at < 0 || (out.size && fwrite(out.data, 1, out.size, e->spool) != out.size) ||
            fflush(e->spool))
            status = formats_fail(&error, TAPER_ERR_IO,
                                  "cannot write the temporary file: is its disk full?");
        e->group[job->group] = (codec_group_record){(uint64_t)(at < 0 ? 0 : at), written};
        written = (codec_written_group){0};
    }
    if (status != TAPER_OK) codec_encoder_fail(e, status, &error);
    codec_queue_unlock(e->queue);
    codec_written_group_free(&written);
    formats_buffer_free(&out);
    codec_encode_job_free(job);
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
 * overhead, up to what the target needs. An image alone has no others to keep pace with: of its
 * layers each doubles the size, which is enough for checksums. */
static taper_status choose_layers(taper_encoder *e, uint64_t pixels, int alone) {
    const codec_code_tables *t = &e->model->tables;
    uint32_t middle[CODEC_MAX_LAYERS_IN_MODEL],
        last = 0, end = passes_for_target(t, e->options.target_bytes_per_megapixel);
    if (e->pass_limit && e->pass_limit < end) end = e->pass_limit;
    while (t->layer[last].pass < end) last++;
    uint64_t least = e->tracks > 1 ? MIN_TRACK_CHUNK_BYTES : MIN_CHUNK_BYTES;
    uint64_t written = 0, about = 1; /* a power of two, so that shards of about the same size get
                                        the same layers */
    while (about * 2 <= pixels) about *= 2;
    for (uint32_t l = 0; l <= last; l++) {
        uint64_t size = (uint64_t)t->layer[l].bytes_per_mpixel * about / 1000000;
        int small = size - written < least || (alone && size < 2 * written);
        if (l < last && (e->options.layout == TAPER_LAYOUT_IMAGE || small)) continue;
        middle[e->n_layers++] = l < last ? t->layer[l].pass : end;
        written = size;
    }
    e->layer_end = malloc((size_t)e->tracks * e->n_layers * sizeof *e->layer_end);
    if (!e->layer_end) return TAPER_ERR_NOMEM;
    if (e->tracks == 1) {
        memcpy(e->layer_end, middle, e->n_layers * sizeof *middle);
        return TAPER_OK;
    }
    for (uint32_t track = 0; track < e->tracks; track++) {
        uint32_t of_track[CODEC_MAX_LAYERS_IN_MODEL];
        TAPER_TRY(codec_track_layers(t, track, middle, e->n_layers, of_track));
        for (uint32_t l = 0; l < e->n_layers; l++)
            e->layer_end[l * e->tracks + track] = of_track[l];
    }
    return TAPER_OK;
}

/* --- feeding --------------------------------------------------------------------------- */

/* Room for one more of each array, doubling. */
taper_status codec_encoder_grow(void **array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return TAPER_OK;
    size_t wanted = *capacity ? *capacity * 2 : 256;
    void *bigger = realloc(*array, wanted * size);
    if (!bigger) return TAPER_ERR_NOMEM;
    *array = bigger;
    *capacity = wanted;
    return TAPER_OK;
}

/* A short first group must not change the layers: shards are to fit together. */
static taper_status choose_layers_once(taper_encoder *e, int is_last) {
    if (e->n_layers) return TAPER_OK;
    int alone = is_last && e->images == 1 && !e->options.group_images;
    uint64_t pixels = 1;
    uint32_t nominal = e->options.group_images;
    for (uint32_t track = 0; track < e->tracks; track++) {
        const codec_encode_job *job = e->job[track];
        if (!job || !job->of.n) continue;
        uint64_t about = nominal ? job->pixels * nominal / job->of.n : job->pixels;
        pixels = about > pixels ? about : pixels;
    }
    return choose_layers(e, pixels, alone);
}

/* is_last: no image will follow. */
static taper_status submit(taper_encoder *e, uint32_t track, int is_last) {
    codec_encode_job *job = e->job[track];
    if (!job || !job->of.n) return TAPER_OK;
    TAPER_TRY(choose_layers_once(e, is_last));
    codec_queue_lock(e->queue); /* workers write e->group[] */
    taper_status status =
        codec_encoder_grow((void **)&e->group, e->groups, &e->groups_capacity, sizeof *e->group);
    if (status == TAPER_OK)
        status = codec_encoder_grow((void **)&e->group_first, e->groups + 1,
                                    &e->group_start_capacity, sizeof *e->group_first);
    if (status == TAPER_OK)
        status = codec_encoder_grow((void **)&e->group_track, e->groups, &e->group_track_capacity,
                                    sizeof *e->group_track);
    if (status == TAPER_OK) {
        job->group = (uint32_t)e->groups;
        e->group[e->groups] = (codec_group_record){0};
        e->group_track[e->groups] = (uint8_t)track;
        e->group_first[e->groups++] = e->placed;
        e->placed += (uint32_t)job->of.n;
    }
    codec_queue_unlock(e->queue);
    TAPER_TRY(status);
    e->job[track] = NULL;
    if (e->queue)
        codec_queue_put(e->queue, job);
    else
        codec_encode_job_run(job);
    return TAPER_OK;
}

static taper_status start_job(taper_encoder *e, uint32_t track) {
    if (e->job[track]) return TAPER_OK;
    codec_encode_job *job = calloc(1, sizeof *job);
    if (!job) return TAPER_ERR_NOMEM;
    job->encoder = e;
    job->track = track;
    e->job[track] = job;
    return TAPER_OK;
}

static int job_is_full(const taper_encoder *e, const codec_encode_job *job, uint64_t pixels) {
    if (!job || !job->of.n) return 0;
    if (e->options.layout == TAPER_LAYOUT_IMAGE) return 1;
    if (e->options.group_images) return job->of.n >= e->options.group_images;
    return job->of.n >= GROUP_IMAGES || job->pixels + pixels > GROUP_PIXELS;
}

taper_status codec_encoder_place(taper_encoder *e, taper_image image, size_t number, uint32_t track,
                                 int holds_codes) {
    uint64_t pixels = (uint64_t)image.width * image.height;
    taper_status status = TAPER_OK;
    if (job_is_full(e, e->job[track], pixels)) status = submit(e, track, 0);
    if (status == TAPER_OK) status = start_job(e, track);
    codec_encode_job *job = e->job[track];
    if (status == TAPER_OK)
        status = codec_encoder_grow((void **)&job->of.image, job->of.n, &job->capacity,
                                    sizeof *job->of.image);
    if (status != TAPER_OK) {
        free(image.pixels);
        return status;
    }
    job->of.image[job->of.n++] = image;
    job->of.holds_codes = holds_codes;
    job->pixels += pixels;
    e->image_track[number] = (uint8_t)track;
    return TAPER_OK;
}

/* The mean is known now: the images that waited for it go to their tracks. */
static taper_status settle(taper_encoder *e) {
    double sum = 0;
    for (size_t i = 0; i < e->n_waiting; i++) sum += e->waiting[i].log_distortion;
    e->mean = e->n_waiting ? sum / (double)e->n_waiting : 0;
    e->has_mean = 1;
    size_t n = e->n_waiting;
    for (size_t i = 0; i < n; i++) {
        codec_waiting_image *w = &e->waiting[i];
        uint32_t track = codec_track_of(e->options.allocation, w->log_distortion, e->mean);
        taper_image image = w->image;
        w->image.pixels = NULL;
        TAPER_TRY(codec_encoder_place(e, image, w->number, track, 0));
    }
    e->n_waiting = 0;
    return TAPER_OK;
}

taper_status codec_encoder_allocate(taper_encoder *e, taper_image image, size_t number) {
    double log_distortion;
    taper_status status = codec_log_distortion(e->model, &e->network, &e->backend, &image,
                                               e->reference, &log_distortion);
    if (status == TAPER_OK && e->has_mean)
        return codec_encoder_place(
            e, image, number, codec_track_of(e->options.allocation, log_distortion, e->mean), 0);
    if (status == TAPER_OK)
        status = codec_encoder_grow((void **)&e->waiting, e->n_waiting, &e->waiting_capacity,
                                    sizeof *e->waiting);
    if (status != TAPER_OK) {
        free(image.pixels);
        return status;
    }
    e->waiting[e->n_waiting++] = (codec_waiting_image){image, number, log_distortion};
    e->waiting_pixels += (uint64_t)image.width * image.height;
    int enough = e->n_waiting >= MEAN_IMAGES && e->waiting_pixels >= GROUP_PIXELS;
    return enough || e->waiting_pixels >= MEAN_PIXELS ? settle(e) : TAPER_OK;
}

taper_status codec_encoder_submit_all(taper_encoder *e) {
    taper_status status = e->has_mean ? TAPER_OK : settle(e);
    for (uint32_t track = 0; track < e->tracks && status == TAPER_OK; track++)
        status = submit(e, track, 1);
    return status;
}
