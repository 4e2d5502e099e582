/* subject.c -- encodes a set once, then cuts it, decodes the cuts and measures them. */
#include "cli/compare/subject.h"
#include "cli/common/readahead.h"
#include "cli/common/spool.h"
#include "formats/image.h"
#include <stdlib.h>

/* --- the container ---------------------------------------------------------------------------- */

/* Add one image. Images that the model cannot code are reported and skipped. */
static taper_status feed(taper_encoder *encoder, const cli_subject_encoding *how,
                         cli_readahead *readahead, size_t i, cli_originals *originals,
                         taper_error *error) {
    taper_image image = {0};
    taper_error why = {0};
    taper_status status = cli_readahead_next(readahead, &image, NULL, &why);
    int is_read = status == TAPER_OK;
    if (is_read) {
        cli_originals_apply_alpha(originals, &image);
        status = taper_encoder_add(encoder, &image, NULL, -1, &why);
    }
    free(image.pixels);
    if (how->done) how->done(how->user, 1);
    if (status == TAPER_OK) {
        originals->index[originals->count++] = i;
        return TAPER_OK;
    }
    const char *path = formats_imageset_path(originals->set, i);
    if (formats_is_system_error(status) ||
        (is_read && status != TAPER_ERR_UNSUPPORTED && status != TAPER_ERR_LIMIT))
        return formats_fail_as(error, status, &why, "'%.100s': %.140s", path, why.text);
    if (how->skip) how->skip(how->user, path, &why);
    return TAPER_OK;
}

static taper_status feed_all(taper_encoder *encoder, const cli_subject_encoding *how,
                             cli_originals *originals, taper_error *error) {
    size_t n = formats_imageset_count(originals->set);
    if (how->max_images && how->max_images < n) n = how->max_images;
    cli_readahead *readahead;
    TAPER_TRY(cli_originals_reserve(originals, n, error));
    TAPER_TRY(cli_readahead_new(&readahead, originals->set, how->threads, 0, error));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < n && status == TAPER_OK; i++)
        status = feed(encoder, how, readahead, i, originals, error);
    cli_readahead_free(readahead);
    if (status == TAPER_OK && !originals->count)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "no image of the input can be encoded with this model");
    return status;
}

static taper_status open_source(cli_subject *subject, taper_error *error) {
    const taper_open_options options = {
        .size = sizeof options, .model = subject->model, .limits = subject->limits};
    TAPER_TRY(taper_container_open(&subject->container, &subject->source, &options, error));
    subject->info.size = sizeof subject->info;
    return taper_container_get_info(subject->container, &subject->info, error);
}

taper_status cli_subject_encode(cli_subject *subject, const cli_subject_encoding *how,
                                cli_originals *originals, taper_error *error) {
    taper_encode_options options = {
        .size = sizeof options, .threads = how->threads, .limits = subject->limits};
    taper_encoder *encoder;
    TAPER_TRY(taper_encoder_new(&encoder, subject->model, &options, error));
    taper_status status = feed_all(encoder, how, originals, error);
    if (status == TAPER_OK) status = cli_spool_open(&subject->spool, error);
    if (status == TAPER_OK) {
        taper_sink sink = cli_spool_sink(subject->spool);
        status = taper_encoder_finish(encoder, 0, &sink, error);
    }
    taper_encoder_free(encoder);
    if (status == TAPER_OK) status = cli_spool_source(subject->spool, &subject->source, error);
    return status == TAPER_OK ? open_source(subject, error) : status;
}

void cli_subject_close(cli_subject *subject) {
    taper_container_close(subject->container);
    if (subject->spool) fclose(subject->spool);
    cli_stream_close(&subject->stream);
    *subject = (cli_subject){0};
}

taper_status cli_subject_open(cli_subject *subject, const char *path, cli_originals *originals,
                              taper_error *error) {
    TAPER_TRY(cli_stream_try(&subject->stream, path, error));
    subject->source = subject->stream.source;
    TAPER_TRY(open_source(subject, error));
    if (subject->info.model_bytes) subject->model_bytes = 0;
    return cli_originals_match(originals, subject->container, error);
}

/* --- cuts ------------------------------------------------------------------------------------- */

taper_status cli_subject_cut_open(const cli_subject *subject, uint64_t bytes, cli_subject_cut *cut,
                                  taper_error *error) {
    const taper_open_options options = {
        .size = sizeof options, .model = subject->model, .limits = subject->limits};
    taper_source source;
    *cut = (cli_subject_cut){.container = subject->container, .bytes = bytes};
    if (subject->info.layout == TAPER_LAYOUT_SET || bytes >= subject->source.size) return TAPER_OK;
    TAPER_TRY(cli_spool_open(&cut->spool, error));
    taper_sink sink = cli_spool_sink(cut->spool);
    taper_status status = taper_truncate(&subject->source, bytes, &sink, subject->limits, error);
    if (status == TAPER_OK) status = cli_spool_source(cut->spool, &source, error);
    if (status == TAPER_OK) status = taper_container_open(&cut->own, &source, &options, error);
    if (status == TAPER_OK)
        cut->container = cut->own, cut->bytes = source.size;
    else
        cli_subject_cut_close(cut);
    return status;
}

void cli_subject_cut_close(cli_subject_cut *cut) {
    taper_container_close(cut->own);
    if (cut->spool) fclose(cut->spool);
    *cut = (cli_subject_cut){0};
}

taper_status cli_subject_decoder(const cli_subject_cut *cut, taper_decoder **out,
                                 taper_error *error) {
    const taper_decode_options options = {.size = sizeof options, .cut = cut->bytes};
    return taper_decoder_new(out, cut->container, &options, error);
}

taper_status cli_subject_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    *out = (taper_image){0};
    TAPER_TRY(taper_container_get_image(taper_decoder_container(decoder), i, &info, error));
    if (!(out->pixels = malloc(info.bytes ? (size_t)info.bytes : 1)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %ux%u pixels", info.width,
                            info.height);
    taper_status status = taper_decoder_render(decoder, i, out, NULL, error);
    if (status == TAPER_OK) formats_image_flatten(out, 65535); /* metrics compare opaque images */
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
    double share = 1.0 / 128; /* bytes of image data; half an octave from cut to cut */
    for (size_t k = 0; k < 15 && n < room; k++, share *= 1.4142135623730951) {
        uint64_t cut = k == 14 ? size : front + (uint64_t)((double)data * share);
        if (n == 0 || cut > cuts[n - 1]) cuts[n++] = cut;
    }
    return n;
}

typedef struct cut_job {
    const cli_subject *subject;
    cli_subject_cut cut;
    taper_decoder **decoder; /* [threads], opened when first needed */
} cut_job;

static taper_status cut_code(void *coder, unsigned thread, size_t i, size_t column,
                             const taper_image *original, cli_rd_sum *out, taper_error *error) {
    (void)column;
    cut_job *job = coder;
    if (!job->decoder[thread])
        TAPER_TRY(cli_subject_decoder(&job->cut, &job->decoder[thread], error));
    taper_image decoded;
    TAPER_TRY(cli_subject_render(job->decoder[thread], i, &decoded, error));
    taper_status status = cli_rd_measure(original, &decoded, out, error);
    free(decoded.pixels);
    return status;
}

/* A run is a group, because the decoder keeps one group at a time. */
static taper_status group_runs(const cli_subject *subject, size_t **start, size_t *runs,
                               taper_error *error) {
    *runs = subject->info.groups;
    if (!(*start = malloc((*runs + 1) * sizeof **start)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu groups", *runs);
    taper_status status = TAPER_OK;
    for (size_t g = 0; g < *runs && status == TAPER_OK; g++) {
        uint64_t first, count;
        status = taper_container_group(subject->container, (uint32_t)g, &first, &count, error);
        if (status == TAPER_OK) (*start)[g] = (size_t)first;
    }
    (*start)[*runs] = (size_t)subject->info.images;
    return status;
}

static taper_status measure_cut(cli_rd_job *job, cut_job *cut, uint64_t bytes, cli_rd_point *point,
                                taper_error *error) {
    cli_rd_sum sum;
    TAPER_TRY(cli_subject_cut_open(cut->subject, bytes, &cut->cut, error));
    taper_status status = cli_rd_run(job, &sum, NULL, error);
    for (unsigned t = 0; t < job->threads; t++) {
        taper_decoder_free(cut->decoder[t]);
        cut->decoder[t] = NULL;
    }
    if (status == TAPER_OK) {
        *point = cli_rd_mean(&sum, (double)cut->cut.bytes);
        point->quality = (double)cut->cut.bytes;
    }
    cli_subject_cut_close(&cut->cut);
    return status;
}

taper_status cli_subject_curve(const cli_subject *subject, const cli_rd_job *images,
                               const uint64_t *cuts, size_t n_cuts, cli_rd_curve *curve,
                               taper_error *error) {
    *curve = (cli_rd_curve){.codec = "taper", .title = "taper", .accounting = "file"};
    cut_job cut = {.subject = subject, .decoder = calloc(images->threads, sizeof *cut.decoder)};
    cli_rd_job job = *images;
    size_t *start = NULL;
    taper_status status = cut.decoder ? group_runs(subject, &start, &job.runs, error)
                                      : formats_fail(error, TAPER_ERR_NOMEM,
                                                     "no memory for %u decoders", job.threads);
    job.coder = &cut;
    job.columns = 1;
    job.run_start = start;
    job.code = cut_code;
    for (size_t k = 0; k < n_cuts && k < CLI_RD_MAX_POINTS && status == TAPER_OK; k++) {
        status = measure_cut(&job, &cut, cuts[k], &curve->point[curve->n], error);
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
