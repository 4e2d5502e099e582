/* encode_images.c -- see encode_images.h. */
#include "cli/encode_images.h"
#include "cli/common/readahead.h"
#include "cli/common/spool.h"
#include "formats/image.h"
#include "formats/metadata/public_metadata.h"
#include "formats/metadata/settle.h"
#include "formats/name_escape.h"
#include <stdlib.h>

/* Bytes of image data per million pixels at which coding stops; 0: no limit. Known early for --bpp,
 * and for IDX and CIFAR files, whose images have one size and no names. Otherwise everything is
 * encoded and cut at the end, which takes longer but gives the same quality. */
static uint64_t early_target(const cli_encode_run *st) {
    taper_image first;
    double bpmp = 0;
    if (cli_options_given("bpp"))
        bpmp = st->s.cut.bpp * 125000;
    else if (cli_cut_count() && !cli_options_given("psnr") && !formats_imageset_name(st->set, 0) &&
             formats_imageset_path(st->set, 0) ==
                 formats_imageset_path(st->set, formats_imageset_count(st->set) - 1) &&
             formats_imageset_read(st->set, 0, &first, NULL, NULL) == TAPER_OK) {
        uint64_t pixels = (uint64_t)first.width * first.height;
        uint64_t count = formats_imageset_count(st->set);
        bpmp = (double)cli_cut_ceiling(&st->s.cut, count, pixels * count) * 1e6 /
               ((double)pixels * (double)count);
        formats_image_free(&first);
    }
    return bpmp > 0 && bpmp < 1e15 ? (uint64_t)bpmp + 1 : 0;
}

/* Let the images have aims, where the quality or a floor asks for it. Models for which these are
 * not
 * known encode everything, as that was not asked for. */
static taper_status begin_aims(cli_encode_run *st, taper_error *error) {
    const int is_asked = st->s.least_psnr > 0 || st->s.quality;
    st->has_aims = st->quality.kind != CLI_QUALITY_BEST || st->quality.least_db > 0;
    if (!st->has_aims) return TAPER_OK;
    taper_status status = taper_encoder_set_aim(st->encoder, st->quality.psnr_db, error);
    if (status != TAPER_ERR_UNSUPPORTED || is_asked) return status;
    st->has_aims = 0;
    return TAPER_OK;
}

int cli_encode_begin(cli_encode_run *st) {
    taper_error error = {0};
    const int is_best = st->quality.kind == CLI_QUALITY_BEST;
    st->early = st->again || !is_best ? 0 : early_target(st);
    bool by_psnr =
        cli_options_given("psnr"); /* prefixes are measured, which needs the layout set */
    taper_status status = cli_spool_open(&st->coding, &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    taper_encode_options o = {
        .size = sizeof o,
        .layout = by_psnr ? TAPER_LAYOUT_SET : (taper_layout)st->s.layout,
        .allocation = (taper_allocation)st->s.allocation,
        .drawings = (taper_drawings)st->s.drawings,
        .group_images = (uint32_t)st->s.group,
        .target_bytes_per_megapixel = st->early,
        .embed_model = st->s.embed,
        .quick = st->s.quick,
        .model_bytes = st->model.bytes,
        .model_size = st->model.size,
        .threads = cli_threads(&st->s.common),
        .spool = st->coding,
        .limits = &st->limits,
        .measure = !cli_cut_count(),
        .beyond_aims = is_best,
        .lossless = st->s.lossless,
        .for_merge = st->s.shard != NULL,
    };
    status = taper_encoder_new(&st->encoder, st->model.model, &o, &error);
    if (status == TAPER_OK) status = begin_aims(st, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("encode", st->s.model, status, &error);
}

/* Report that image i cannot be used; not on a second run. */
static int leave_out(cli_encode_run *st, size_t i, taper_status status, const taper_error *why) {
    bool is_told = st->again && status != TAPER_ERR_IO && status != TAPER_ERR_NOMEM;
    if (is_told) return CLI_DONE;
    return cli_left_out_image(&st->left, formats_imageset_path(st->set, i), status, why);
}

/* What is kept of metadata. --psnr is no limit of the size: what is wanted is a quality. */
cli_keeps cli_encode_keeps(const cli_encode_run *st) {
    if (st->s.strip) return CLI_KEEPS_NOTHING;
    return cli_cut_count() && !cli_options_given("psnr") ? CLI_KEEPS_LOOK : CLI_KEEPS_ALL;
}

/* Drop what is not kept. */
static void reduce_metadata(const cli_encode_run *st, formats_metadata *m) {
    const double mse = m->quantisation_mse; /* no metadata, but how good the image is */
    if (cli_encode_keeps(st) == CLI_KEEPS_LOOK) formats_metadata_keep_look(m);
    if (cli_encode_keeps(st) == CLI_KEEPS_NOTHING) formats_metadata_free(m);
    m->quantisation_mse = mse;
}

static taper_status add_metadata(const cli_encode_run *st, formats_metadata *m,
                                 taper_error *error) {
    const taper_metadata own = formats_metadata_public(m);
    return taper_encoder_set_metadata(st->encoder, &own, error);
}

/* Add image i to the encoder. An error of this image only is reported, and encoding continues. */
static int add_image(cli_encode_run *st, size_t i, taper_image *image, formats_metadata *metadata) {
    taper_error error = {0};
    const char *name = formats_imageset_name(st->set, i), *path = formats_imageset_path(st->set, i);
    char number[32];
    snprintf(number, sizeof number, "%06zu.png", i + 1);
    if (!name && st->numbers) name = number;
    taper_status status = TAPER_OK;
    if (name && !formats_name_is_legal(name))
        status = formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                              "its name takes more than 4,095 bytes; rename it");
    if (status == TAPER_OK && st->s.alpha == FORMATS_ALPHA_REFUSE && formats_image_has_alpha(image))
        status = formats_fail_fact(&error, TAPER_ERR_UNSUPPORTED, TAPER_FACT_ALPHA, 0,
                                   "the image has an alpha channel");
    if (status == TAPER_OK && st->s.search_model)
        status = cli_search_layer_check(&st->search, image, &error);
    if (status == TAPER_OK && st->has_aims)
        status =
            taper_encoder_set_aim(st->encoder, cli_quality_aim(&st->quality, metadata), &error);
    if (status == TAPER_OK)
        status =
            taper_encoder_add(st->encoder, image, name, formats_imageset_label(st->set, i), &error);
    if (status == TAPER_OK && cli_encode_keeps(st) != CLI_KEEPS_NOTHING) {
        status = add_metadata(st, metadata, &error);
        if (status != TAPER_OK) return cli_fail("encode", path, status, &error);
    }
    if (status == TAPER_OK && st->s.search_model && !st->again) {
        status = cli_search_layer_take(&st->search, image, &error);
        if (status != TAPER_OK) return cli_fail("encode", path, status, &error);
    }
    if (status == TAPER_OK) {
        st->kept[st->count++] = i;
        st->pixels += (uint64_t)image->width * image->height;
        if (st->again) return CLI_DONE;
        cli_detail(&st->s.common, 2, "encode", "image %zu: %u x %u, %s, %d bits, from %s",
                   st->count, image->width, image->height, image->channels == 1 ? "grey" : "RGB",
                   image->depth, path);
        return CLI_DONE;
    }
    if (status != TAPER_ERR_UNSUPPORTED && status != TAPER_ERR_LIMIT)
        return cli_fail("encode", st->s.output, status, &error);
    return leave_out(st, i, status, &error);
}

static int reads_metadata(const cli_encode_run *st) {
    return st->has_aims || cli_encode_keeps(st) != CLI_KEEPS_NOTHING;
}

/* Image k of the container, again as it was added. */
static taper_status read_earlier(void *user, size_t k, taper_image *out, formats_metadata *metadata,
                                 taper_error *error) {
    const cli_encode_run *st = user;
    *metadata = (formats_metadata){0};
    TAPER_TRY(formats_imageset_read(st->set, st->kept[k], out, reads_metadata(st) ? metadata : NULL,
                                    error));
    formats_image_apply_alpha(out, (formats_alpha)st->s.alpha);
    reduce_metadata(st, metadata);
    return TAPER_OK;
}

/* Add image i, or its name alone if it is equal to one that was added. */
static int add_or_name(cli_encode_run *st, size_t i, taper_image *image,
                       formats_metadata *metadata) {
    const cli_earlier_images earlier = {st, read_earlier};
    const char *name = formats_imageset_name(st->set, i);
    const size_t before = st->count;
    size_t of;
    taper_error error = {0};
    formats_image_apply_alpha(image, (formats_alpha)st->s.alpha);
    reduce_metadata(st, metadata);
    if (!st->equal || !name || !formats_name_is_legal(name))
        return add_image(st, i, image, metadata);
    if (!cli_equal_images_find(st->equal, image, metadata, &earlier, &of)) {
        const int code = add_image(st, i, image, metadata);
        if (st->count > before) cli_equal_images_keep(st->equal, before);
        return code;
    }
    const taper_status status =
        taper_encoder_add_name(st->encoder, of, name, formats_imageset_label(st->set, i),
                               metadata->has_modified ? &metadata->modified_ns : NULL, &error);
    if (status != TAPER_OK) return cli_fail("encode", st->s.output, status, &error);
    st->same[st->sames++] = i;
    if (!st->again)
        cli_detail(&st->s.common, 1, "encode", "%s is equal to %s and stored with it", name,
                   formats_imageset_name(st->set, st->kept[of]));
    return CLI_DONE;
}

static int add_all(cli_encode_run *st, cli_readahead *ahead) {
    const size_t first = st->shard.first, end = st->shard.end;
    int code = CLI_DONE;
    cli_progress_start(&st->progress, &st->s.common, "encoding", end - first, "images");
    for (size_t i = first; i < end && code == CLI_DONE; i++) {
        taper_image image;
        formats_metadata metadata;
        taper_error error = {0};
        taper_status status = cli_readahead_next(ahead, &image, &metadata, &error);
        if (status == TAPER_OK) {
            code = add_or_name(st, i, &image, &metadata);
            formats_image_free(&image);
            formats_metadata_free(&metadata);
        } else
            code = leave_out(st, i, status, &error);
        cli_progress_add(&st->progress, 1);
    }
    cli_progress_end(&st->progress);
    return code;
}

static int add_classes(cli_encode_run *st) {
    size_t n = formats_imageset_class_count(st->set);
    if (!n) return CLI_DONE;
    const char **name = malloc(n * sizeof *name);
    taper_error error = {0};
    if (!name) return cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t k = 0; k < n; k++) name[k] = formats_imageset_class_name(st->set, k);
    taper_status status = taper_encoder_set_classes(st->encoder, name, n, &error);
    free(name);
    return status == TAPER_OK ? CLI_DONE : cli_fail("encode", st->s.labels, status, &error);
}

/* Make the lists of images, empty. */
static int make_lists(cli_encode_run *st) {
    const size_t n = st->shard.end - st->shard.first;
    if (!st->kept) st->kept = malloc(n * sizeof *st->kept);
    if (!st->same) st->same = malloc(n * sizeof *st->same);
    st->count = st->sames = 0, st->pixels = 0;
    st->numbers = 0;
    for (size_t i = st->shard.first; i < st->shard.end && st->s.shard && !st->numbers; i++)
        st->numbers = formats_imageset_name(st->set, i) != NULL;
    cli_equal_images_free(st->equal);
    st->equal = st->s.dedup ? cli_equal_images_new(n) : NULL;
    return st->kept && st->same && (st->equal || !st->s.dedup)
               ? CLI_DONE
               : cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
}

int cli_encode_add_images(cli_encode_run *st) {
    taper_error error = {0};
    cli_readahead *ahead;
    int code = make_lists(st);
    if (code == CLI_DONE) code = add_classes(st);
    if (code != CLI_DONE) return code;
    taper_status status =
        cli_readahead_range(&ahead, st->set, st->shard.first, st->shard.end,
                            cli_threads(&st->s.common), reads_metadata(st), &error);
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    code = add_all(st, ahead);
    cli_readahead_free(ahead);
    if (code != CLI_DONE) return code;
    if (!st->again) cli_left_out_report(&st->left, st->set);
    if (st->count && st->s.search_model)
        status = cli_search_layer_finish(&st->search, st->encoder, &error);
    if (st->count && cli_shard_is_told(&st->shard) && status == TAPER_OK) {
        const taper_part part = cli_shard_part(&st->shard, st->count + st->sames);
        status = taper_encoder_set_part(st->encoder, &part, &error);
    }
    if (status != TAPER_OK) return cli_fail("encode", NULL, status, &error);
    if (st->count) return CLI_DONE;
    cli_error("encode", NULL, "no input could be used: nothing was written");
    return st->left.code;
}
