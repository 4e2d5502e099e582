/* encode_cut.c -- see encode_cut.h. */
#include "cli/encode_cut.h"
#include "cli/common/spool.h"
#include "formats/bytes.h"
#include "formats/image.h"

/* The original of image i of the container, as it was encoded; for the search by PSNR. */
static taper_status read_original(void *user, uint64_t i, taper_image *out, taper_error *error) {
    const cli_encode_run *st = user;
    TAPER_TRY(formats_imageset_read(st->set, st->kept[i], out, NULL, error));
    formats_image_apply_alpha(out, (formats_alpha)st->s.alpha);
    return TAPER_OK;
}

static cli_psnr_search search_of(cli_encode_run *st, const taper_source *source) {
    return (cli_psnr_search){.source = source,
                             .model = st->model.model,
                             .limits = &st->limits,
                             .threads = cli_threads(&st->s.common),
                             .target_db = st->s.psnr,
                             .read = read_original,
                             .user = st};
}

/* A cut that is long enough for the floor of quality of all images. */
static uint64_t cut_with_floor(const cli_encode_run *st, uint64_t cut) {
    taper_aim_report r = {.size = sizeof r};
    if (taper_encoder_aims(st->encoder, &r, NULL) != TAPER_OK) return cut;
    return formats_larger(cut, r.cut ? r.cut : st->spooled.size);
}

/* Find the size at which the spooled container has the wanted PSNR. */
static taper_status find_cut(cli_encode_run *st, uint64_t *size, taper_error *error) {
    cli_psnr_search search = search_of(st, &st->spooled);
    cli_note(&st->s.common, "encode", "searching for the cut of %g dB: about six cuts are decoded",
             st->s.psnr);
    cli_progress_start(&st->progress, &st->s.common, "looking for the cut", 0, "steps");
    taper_status status = cli_psnr_cut(&search, &st->found, error);
    cli_progress_end(&st->progress);
    TAPER_TRY(status);
    *size = cut_with_floor(st, st->found.bytes);
    if (!st->found.reached)
        cli_warning("encode", st->s.output,
                    "the model reaches %.2f dB on these images, not %g: everything is kept",
                    st->found.psnr_db, st->s.psnr);
    return TAPER_OK;
}

/* End of the layer in which a cut lies. repack keeps only what all images have, so a shorter cut
 * would fall below the quality that was found. */
static taper_status end_of_layer(const cli_encode_run *st, uint64_t *cut, taper_error *error) {
    const taper_open_options how = {.size = sizeof how, .limits = &st->limits, .without_model = 1};
    taper_container *container;
    taper_container_info info = {.size = sizeof info};
    uint64_t end = 0;
    uint32_t passes;
    TAPER_TRY(taper_container_open(&container, &st->spooled, &how, error));
    taper_status status = taper_container_get_info(container, &info, error);
    for (uint32_t l = 0; status == TAPER_OK && l < info.layers && end < *cut; l++)
        status = taper_container_layer(container, 0, l, &end, &passes, error);
    taper_container_close(container);
    *cut = end;
    return status;
}

/* Write the spooled container with the wanted PSNR, in the requested layout. */
static taper_status write_cut(cli_encode_run *st, const taper_sink *sink, taper_error *error) {
    uint64_t size;
    taper_source prefix = st->spooled;
    TAPER_TRY(find_cut(st, &size, error));
    if (st->s.layout == TAPER_LAYOUT_SET)
        return taper_truncate(&st->spooled, size, sink, &st->limits, error);
    TAPER_TRY(end_of_layer(st, &size, error));
    if (size < prefix.size) prefix.size = size;
    return taper_repack(&prefix, st->model.model, (taper_layout)st->s.layout, 0, sink, &st->limits,
                        error);
}

/* Measure the PSNR of the output. A failure does not prevent writing it. */
static void measure_cut(cli_encode_run *st, const taper_source *cut) {
    cli_psnr_search search = search_of(st, cut);
    if (!cli_options_given("psnr")) search.pixels = CLI_SAMPLE_PIXELS;
    cli_progress_start(&st->progress, &st->s.common, "measuring", 0, "images");
    taper_status status = cli_psnr_measure(&search, &st->found, &st->no_psnr);
    cli_progress_end(&st->progress);
    if (status == TAPER_OK) return;
    st->found.images = 0;
    st->no_psnr.status = status;
}

/* Replace the spooled container by its cut. */
static taper_status spool_cut(cli_encode_run *st, taper_error *error) {
    FILE *spool;
    TAPER_TRY(cli_spool_open(&spool, error));
    taper_sink to = cli_spool_sink(spool);
    taper_status status = write_cut(st, &to, error);
    fclose(st->spool);
    st->spool = spool;
    return status == TAPER_OK ? cli_spool_source(spool, &st->spooled, error) : status;
}

/* How many stages of the model the container in the spool carries; 0: it could not be read. */
static uint32_t carried_stages(const cli_encode_run *st, uint32_t all) {
    const taper_open_options how = {.size = sizeof how, .limits = &st->limits, .without_model = 1};
    taper_container_info info = {.size = sizeof info};
    taper_container *container;
    uint32_t carried = 0;
    if (taper_container_open(&container, &st->spooled, &how, NULL) != TAPER_OK) return 0;
    if (taper_container_get_info(container, &info, NULL) == TAPER_OK)
        carried = info.front_bytes > info.model_bytes ? all : 1; /* those in front */
    for (uint32_t l = 0; l < info.layers; l++) {
        const uint32_t stage = taper_container_layer_stage(container, l);
        if (stage) carried = stage;
    }
    taper_container_close(container);
    return carried;
}

/* Where the next stage of a carried model has no room, bytes are left that no pass can use. */
static void tell_stages(const cli_encode_run *st) {
    const uint64_t most = cli_cut_ceiling(&st->s.cut, st->count, st->pixels);
    taper_model_info model = {.size = sizeof model};
    if (!st->s.embed || cli_options_given("psnr") || st->spooled.size >= most - most / 8) return;
    if (taper_model_get_info(st->model.model, &model, NULL) != TAPER_OK) return;
    const uint32_t carried = carried_stages(st, model.stages);
    if (carried && carried < model.stages)
        cli_warning("encode", st->s.output,
                    "%llu of at most %llu bytes are used: the limit has no room for stage %u of "
                    "the model, which further passes need; a larger limit, or no --embed-model, "
                    "makes the pictures better",
                    (unsigned long long)st->spooled.size, (unsigned long long)most, carried + 1);
}

taper_status cli_encode_write_limited(cli_encode_run *st, const taper_sink *sink,
                                      taper_error *error) {
    if (cli_options_given("psnr")) TAPER_TRY(spool_cut(st, error));
    if (!st->s.quick) measure_cut(st, &st->spooled);
    tell_stages(st);
    return cli_source_copy(&st->spooled, sink, error);
}
