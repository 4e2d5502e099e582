/* subject.c -- encode a set once, cut it anywhere, decode the cuts and measure them. */
#include "subject.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the container ---------------------------------------------------------------------------- */

static taper_status temporary_write(void *user, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, user) == n ? TAPER_OK : TAPER_ERR_IO;
}

static taper_status temporary_read(void *user, uint64_t offset, void *to, size_t n) {
    uint8_t *next = to;
    while (n) {
        ssize_t got = pread(fileno(user), next, n, (off_t)offset);
        if (got <= 0) return got == 0 ? TAPER_ERR_TRUNCATED : TAPER_ERR_IO;
        next += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return TAPER_OK;
}

/* Feed one image. Images that the model does not take are told and left out. */
static taper_status feed(taper_encoder *encoder, const cli_subject_encoding *how, size_t i,
                         cli_originals *originals, taper_error *error) {
    taper_image image = {0};
    taper_error why = {0};
    taper_status status = formats_imageset_read(how->set, i, &image, &why);
    int is_read = status == TAPER_OK;
    if (is_read)
        status = taper_encoder_add(encoder, &image, formats_imageset_name(how->set, i), -1, &why);
    free(image.pixels);
    if (how->done) how->done(how->user, 1);
    if (status == TAPER_OK) {
        originals->index[originals->count++] = i;
        return TAPER_OK;
    }
    if (is_read && status != TAPER_ERR_UNSUPPORTED && status != TAPER_ERR_LIMIT) {
        if (error) *error = why;
        return status;
    }
    if (how->skip) how->skip(how->user, formats_imageset_path(how->set, i), &why);
    return TAPER_OK;
}

static taper_status feed_all(taper_encoder *encoder, const cli_subject_encoding *how,
                             cli_originals *originals, taper_error *error) {
    size_t n = formats_imageset_count(how->set);
    if (how->max_images && how->max_images < n) n = how->max_images;
    *originals =
        (cli_originals){.set = how->set, .index = malloc((n + 1) * sizeof *originals->index)};
    if (!originals->index)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a list of %zu images", n);
    for (size_t i = 0; i < n; i++) TAPER_TRY(feed(encoder, how, i, originals, error));
    if (!originals->count)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "no image of the input can be encoded with this model");
    return TAPER_OK;
}

static taper_status learn_info(cli_subject *subject, taper_error *error) {
    taper_decoder *decoder;
    cli_subject_cut whole = {subject, subject->source.size};
    TAPER_TRY(cli_subject_decoder(&whole, &decoder, error));
    taper_status status = taper_decoder_get_info(decoder, &subject->info);
    taper_decoder_free(decoder);
    if (status != TAPER_OK)
        return formats_fail(error, status, "the container's front matter cannot be read");
    return TAPER_OK;
}

taper_status cli_subject_encode(cli_subject *subject, const cli_subject_encoding *how,
                                cli_originals *originals, taper_error *error) {
    taper_encode_options options = {.threads = how->threads, .limits = subject->limits};
    taper_encoder *encoder;
    TAPER_TRY(taper_encoder_new(&encoder, subject->model, &options, error));
    taper_status status = feed_all(encoder, how, originals, error);
    if (status == TAPER_OK && !(subject->temporary = tmpfile()))
        status = formats_fail(error, TAPER_ERR_IO,
                              "cannot make a temporary file; set TMPDIR to a folder with room");
    if (status == TAPER_OK) {
        taper_sink sink = {subject->temporary, temporary_write};
        status = taper_encoder_finish(encoder, &sink, error);
    }
    taper_encoder_free(encoder);
    if (status == TAPER_OK && fflush(subject->temporary) != 0)
        status =
            formats_fail(error, TAPER_ERR_IO, "cannot write the temporary file: is the disk full?");
    if (status != TAPER_OK) return status;
    off_t size = lseek(fileno(subject->temporary), 0, SEEK_END);
    subject->source =
        (taper_source){subject->temporary, size > 0 ? (uint64_t)size : 0, temporary_read};
    return learn_info(subject, error);
}

void cli_subject_close(cli_subject *subject, cli_originals *originals) {
    if (subject->temporary) fclose(subject->temporary);
    formats_file_close(subject->file);
    free(originals->index);
    *originals = (cli_originals){0};
    *subject = (cli_subject){0};
}

/* --- originals of a given container ----------------------------------------------------------- */

typedef struct named {
    const char *name;
    size_t index;
} named;

static int by_name(const void *left, const void *right) {
    return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

/* All names of the set, sorted; NULL when an image has none or memory is short. */
static named *sorted_names(const formats_imageset *set, size_t n) {
    named *names = malloc((n + 1) * sizeof *names);
    for (size_t i = 0; names && i < n; i++) {
        names[i] = (named){formats_imageset_name(set, i), i};
        if (!names[i].name) {
            free(names);
            return NULL;
        }
    }
    if (names) qsort(names, n, sizeof *names, by_name);
    return names;
}

static taper_status match(taper_decoder *decoder, cli_originals *originals, const named *names,
                          size_t n, taper_error *error) {
    for (size_t i = 0; i < originals->count; i++) {
        taper_image_info info;
        if (taper_decoder_image_info(decoder, i, &info) != TAPER_OK || (names && !info.name))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "image %zu of the container has no description", i);
        originals->index[i] = i;
        if (!names) continue;
        named wanted = {info.name, 0};
        const named *found = bsearch(&wanted, names, n, sizeof *names, by_name);
        if (!found)
            return formats_fail(error, TAPER_ERR_ARG,
                                "its image '%.100s' is not among the originals given", info.name);
        originals->index[i] = found->index;
    }
    return TAPER_OK;
}

static taper_status find_originals(cli_subject *subject, const formats_imageset *set,
                                   cli_originals *originals, taper_error *error) {
    const size_t n = formats_imageset_count(set);
    named *names = subject->info.has_names ? sorted_names(set, n) : NULL;
    if (!names && n != subject->info.images)
        return formats_fail(error, TAPER_ERR_ARG,
                            "it holds %llu images, but %zu originals were given",
                            (unsigned long long)subject->info.images, n);
    *originals = (cli_originals){set, malloc((size_t)(subject->info.images + 1) * sizeof(size_t)),
                                 (size_t)subject->info.images};
    taper_decoder *decoder = NULL;
    cli_subject_cut whole = {subject, subject->source.size};
    taper_status status =
        originals->index ? cli_subject_decoder(&whole, &decoder, error)
                         : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a list of images");
    if (status == TAPER_OK) status = match(decoder, originals, names, n, error);
    taper_decoder_free(decoder);
    free(names);
    return status;
}

taper_status cli_subject_open(cli_subject *subject, const char *path, const formats_imageset *set,
                              cli_originals *originals, taper_error *error) {
    *originals = (cli_originals){0};
    TAPER_TRY(formats_file_open(&subject->file, path, error));
    subject->source = formats_file_source(subject->file);
    TAPER_TRY(learn_info(subject, error));
    if (subject->info.has_model) subject->model_bytes = 0;
    return find_originals(subject, set, originals, error);
}

/* --- cuts ------------------------------------------------------------------------------------- */

taper_status cli_subject_decoder(cli_subject_cut *cut, taper_decoder **out, taper_error *error) {
    taper_source source = cut->subject->source;
    source.size = cut->bytes;
    return taper_decoder_open(out, &source, cut->subject->model, cut->subject->limits, error);
}

taper_status cli_subject_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                taper_error *error) {
    taper_image_info info;
    *out = (taper_image){0};
    if (taper_decoder_image_info(decoder, i, &info) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_CORRUPT, "image %llu has no description",
                            (unsigned long long)i);
    if (!(out->pixels = malloc(info.bytes ? (size_t)info.bytes : 1)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %ux%u pixels", info.width,
                            info.height);
    taper_status status = taper_decoder_render(decoder, i, out, NULL, error);
    if (status != TAPER_OK) {
        free(out->pixels);
        *out = (taper_image){0};
    }
    return status;
}

size_t cli_subject_ladder(const cli_subject *subject, uint64_t *cuts, size_t room) {
    const uint64_t front = subject->info.front_bytes, size = subject->source.size;
    uint64_t data = size > front ? size - front : 0;
    size_t n = 0;
    double share = 1.0 / 128; /* of the image data; half an octave from cut to cut */
    for (size_t k = 0; k < 15 && n < room; k++, share *= 1.4142135623730951) {
        uint64_t cut = k == 14 ? size : front + (uint64_t)((double)data * share);
        if (n == 0 || cut > cuts[n - 1]) cuts[n++] = cut;
    }
    return n;
}

typedef struct cut_job {
    cli_subject_cut cut;
    const cli_originals *originals;
    taper_decoder **decoder; /* [threads], opened when first needed */
    void (*done)(void *user, size_t images);
    void *user;
} cut_job;

static taper_status cut_read(void *user, size_t i, taper_image *out, taper_error *error) {
    const cut_job *job = user;
    return formats_imageset_read(job->originals->set, job->originals->index[i], out, error);
}

static void cut_done(void *user, size_t images) {
    const cut_job *job = user;
    if (job->done) job->done(job->user, images);
}

static taper_status cut_code(void *user, unsigned thread, size_t i, size_t column,
                             const taper_image *original, cli_rd_sample *out, taper_error *error) {
    (void)column;
    cut_job *job = user;
    if (!job->decoder[thread])
        TAPER_TRY(cli_subject_decoder(&job->cut, &job->decoder[thread], error));
    taper_image decoded;
    TAPER_TRY(cli_subject_render(job->decoder[thread], i, &decoded, error));
    taper_status status = cli_rd_measure(original, &decoded, out, error);
    free(decoded.pixels);
    return status;
}

/* A run is a group, so that a thread works on one group at a time as the decoder likes it. */
static taper_status group_runs(cli_subject *subject, size_t **start, size_t *runs,
                               taper_error *error) {
    taper_decoder *decoder;
    cli_subject_cut whole = {subject, subject->source.size};
    *runs = subject->info.groups;
    if (!(*start = malloc((*runs + 1) * sizeof **start)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu groups", *runs);
    TAPER_TRY(cli_subject_decoder(&whole, &decoder, error));
    taper_status status = TAPER_OK;
    for (size_t g = 0; g < *runs && status == TAPER_OK; g++) {
        uint64_t first, count;
        status = taper_decoder_group_range(decoder, (uint32_t)g, &first, &count);
        if (status == TAPER_OK) (*start)[g] = (size_t)first;
    }
    taper_decoder_free(decoder);
    (*start)[*runs] = (size_t)subject->info.images;
    return status == TAPER_OK
               ? TAPER_OK
               : formats_fail(error, status, "the container's groups cannot be read");
}

static taper_status measure_cut(cli_rd_job *job, cut_job *cut, unsigned threads,
                                cli_rd_point *point, taper_error *error) {
    cli_rd_sum sum;
    taper_status status = cli_rd_run(job, &sum, NULL, error);
    for (unsigned t = 0; t < threads; t++) {
        taper_decoder_free(cut->decoder[t]);
        cut->decoder[t] = NULL;
    }
    if (status != TAPER_OK) return status;
    *point = cli_rd_mean(&sum, (double)cut->cut.bytes);
    point->quality = (double)cut->cut.bytes;
    return TAPER_OK;
}

taper_status cli_subject_curve(cli_subject *subject, const cli_originals *originals,
                               const uint64_t *cuts, size_t n_cuts, unsigned threads,
                               void (*done)(void *user, size_t images), void *user,
                               cli_rd_curve *curve, taper_error *error) {
    *curve = (cli_rd_curve){.codec = "taper", .title = "taper", .accounting = "file"};
    cut_job cut = {.originals = originals, .done = done, .user = user};
    cut.decoder = calloc(threads, sizeof *cut.decoder);
    size_t *start = NULL, runs = 0;
    taper_status status =
        cut.decoder ? group_runs(subject, &start, &runs, error)
                    : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u decoders", threads);
    cli_rd_job job = {.user = &cut,
                      .columns = 1,
                      .runs = runs,
                      .run_start = start,
                      .threads = threads,
                      .read = cut_read,
                      .code = cut_code,
                      .done = cut_done};
    for (size_t k = 0; k < n_cuts && k < CLI_RD_MAX_POINTS && status == TAPER_OK; k++) {
        cut.cut = (cli_subject_cut){subject, cuts[k]};
        status = measure_cut(&job, &cut, threads, &curve->point[curve->n], error);
        curve->n += status == TAPER_OK;
    }
    free(start);
    free(cut.decoder);
    return status;
}

cli_rd_curve cli_subject_with_model(const cli_subject *subject, const cli_rd_curve *file) {
    cli_rd_curve curve = *file;
    curve.accounting = "file+model";
    for (size_t i = 0; i < curve.n; i++) {
        double share =
            (file->point[i].quality + (double)subject->model_bytes) / file->point[i].quality;
        curve.point[i].bytes_per_image *= share;
        curve.point[i].bpp *= share;
    }
    return curve;
}
