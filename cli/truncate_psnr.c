/* truncate_psnr.c -- see truncate_psnr.h. psnr_cut.h searches; this file supplies the reference
 * images: the originals, or the images of the whole container, which are decoded once, group by
 * group. */
#include "cli/truncate_psnr.h"
#include "cli/common/progress.h"
#include "cli/compare/originals.h"
#include "cli/psnr_cut.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct reference {
    pthread_mutex_t lock;
    taper_container *container; /* the whole container, and a decoder of it */
    taper_decoder *decoder;
    taper_image *image; /* [images]; pixels NULL: not decoded yet */
    uint64_t images, bytes;
    const taper_limits *limits;
    formats_imageset *set; /* NULL: the reference is the whole container */
    cli_originals originals;
} reference;

/* --- the container's own images --- */

static taper_status decode_one(reference *r, uint64_t i, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_image *image = &r->image[i];
    TAPER_TRY(taper_container_get_image(r->container, i, &info, NULL));
    r->bytes += info.bytes;
    if (r->bytes > r->limits->max_memory)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_step(r->limits, r->bytes),
            "measuring takes more than %llu bytes", (unsigned long long)r->limits->max_memory);
    image->pixels = malloc((size_t)info.bytes);
    if (!image->pixels) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image");
    return taper_decoder_render(r->decoder, i, image, NULL, error);
}

/* Decode all images of the group of image i: the decoder keeps one group at a time. */
static taper_status decode_group(reference *r, uint64_t i, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    uint64_t first, count;
    TAPER_TRY(taper_container_get_image(r->container, i, &info, NULL));
    TAPER_TRY(taper_container_group(r->container, info.group, &first, &count, NULL));
    for (uint64_t place = first; place < first + count; place++)
        TAPER_TRY(decode_one(r, taper_container_image_at(r->container, place), error));
    return TAPER_OK;
}

static taper_status copy_decoded(reference *r, uint64_t i, taper_image *out, taper_error *error) {
    pthread_mutex_lock(&r->lock);
    taper_status status = r->image[i].pixels ? TAPER_OK : decode_group(r, i, error);
    pthread_mutex_unlock(&r->lock);
    TAPER_TRY(status);
    const taper_image *from = &r->image[i];
    size_t bytes = (size_t)from->width * from->height * from->channels * (from->depth / 8u);
    *out = *from;
    out->pixels = malloc(bytes);
    if (!out->pixels) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image");
    memcpy(out->pixels, from->pixels, bytes);
    return TAPER_OK;
}

/* --- both --- */

static taper_status read_reference(void *user, uint64_t i, taper_image *out, taper_error *error) {
    reference *r = user;
    return r->set ? cli_originals_read(&r->originals, (size_t)i, out, error)
                  : copy_decoded(r, i, out, error);
}

static taper_status open_reference(reference *r, const cli_truncate_psnr *wanted,
                                   const cli_psnr_search *search, taper_error *error) {
    const taper_open_options options = {
        .size = sizeof options, .model = search->model, .limits = search->limits};
    taper_container_info info = {.size = sizeof info};
    TAPER_TRY(taper_container_open(&r->container, search->source, &options, error));
    TAPER_TRY(taper_decoder_new(&r->decoder, r->container, NULL, error));
    TAPER_TRY(taper_container_get_info(r->container, &info, error));
    r->images = info.images;
    if (!wanted->originals) {
        r->limits = search->limits;
        r->image = calloc((size_t)info.images, sizeof *r->image);
        if (!r->image) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for images");
        return taper_decoder_set_threads(r->decoder, search->threads, NULL);
    }
    const formats_imageset_options originals = {.limits = search->limits};
    TAPER_TRY(formats_imageset_open(&r->set, &wanted->originals, 1, &originals, NULL, NULL, error));
    r->originals.set = r->set;
    return cli_originals_match(&r->originals, r->container, error);
}

static void close_reference(reference *r) {
    for (uint64_t i = 0; r->image && i < r->images; i++) free(r->image[i].pixels);
    free(r->image);
    taper_decoder_free(r->decoder);
    taper_container_close(r->container);
    cli_originals_close(&r->originals);
    formats_imageset_close(r->set);
}

static void tell(const cli_truncate_psnr *wanted, const cli_container *c, const cli_common *common,
                 const cli_psnr_found *found) {
    if (!found->reached)
        cli_warning("truncate", wanted->path,
                    "the whole file reaches %.2f dB, not %g: everything is kept", found->psnr_db,
                    wanted->target_db);
    else
        cli_note(common, "truncate", "%.2f dB against %s, measured on %llu of %llu images",
                 found->psnr_db, wanted->originals ? "the originals" : "the whole file",
                 (unsigned long long)found->images, (unsigned long long)c->info.images);
}

/* Measure a cut, or search for one if none is given. */
static taper_status find(const cli_truncate_psnr *wanted, const cli_container *c,
                         const taper_source *cut, const taper_model *model,
                         const cli_common *common, cli_psnr_found *found, taper_error *error) {
    taper_limits limits = cli_limits(common);
    taper_source source = c->source;
    if (source.size > c->info.file_bytes) source.size = c->info.file_bytes;
    reference r = {.decoder = NULL};
    cli_psnr_search search = {
        .source = &source,
        .model = model,
        .limits = &limits,
        .threads = cli_threads(common),
        .target_db = wanted->target_db,
        .pixels = wanted->target_db > 0 && !c->stream.remote ? CLI_PSNR_PIXELS : CLI_SAMPLE_PIXELS,
        .read = read_reference,
        .user = &r};
    cli_progress progress = {0};
    pthread_mutex_init(&r.lock, NULL);
    taper_status status = open_reference(&r, wanted, &search, error);
    if (cut) search.source = cut;
    cli_progress_start(&progress, common, cut ? "measuring" : "looking for the cut", 0, "steps");
    if (status == TAPER_OK)
        status =
            cut ? cli_psnr_measure(&search, found, error) : cli_psnr_cut(&search, found, error);
    cli_progress_end(&progress);
    close_reference(&r);
    pthread_mutex_destroy(&r.lock);
    return status;
}

static int open_model(cli_model *model, const cli_truncate_psnr *wanted, const cli_common *common) {
    return wanted->model ? cli_coder_open(model, "truncate", wanted->model, common) : CLI_DONE;
}

int cli_truncate_find_psnr(const cli_truncate_psnr *wanted, const cli_container *c,
                           const cli_common *common, uint64_t *ceiling) {
    cli_model model = {0};
    cli_psnr_found found;
    taper_error error = {0};
    if (c->info.layout != TAPER_LAYOUT_SET)
        return cli_fail("truncate", wanted->path,
                        formats_fail(&error, TAPER_ERR_ARG,
                                     "--psnr needs the layout set; "
                                     "`taper repack --layout set` changes it"),
                        &error);
    int code = open_model(&model, wanted, common);
    if (code == CLI_DONE) {
        cli_note(common, "truncate", "searching for the cut of %g dB: about six cuts are decoded",
                 wanted->target_db);
        taper_status status = find(wanted, c, NULL, model.model, common, &found, &error);
        if (status != TAPER_OK) code = cli_fail("truncate", wanted->path, status, &error);
    }
    if (code == CLI_DONE) {
        *ceiling = found.bytes;
        tell(wanted, c, common, &found);
    }
    cli_model_close(&model);
    return code;
}

void cli_truncate_measure(const cli_truncate_psnr *wanted, const cli_container *c,
                          const taper_source *cut, const cli_common *common, char *words,
                          size_t room) {
    cli_model model = {0};
    cli_psnr_found found;
    taper_error error = {0};
    *words = 0;
    if (open_model(&model, wanted, common) != CLI_DONE) return;
    taper_status status = find(wanted, c, cut, model.model, common, &found, &error);
    taper_image_info least = {.size = sizeof least, .name = NULL};
    if (status == TAPER_OK) {
        taper_container_get_image(c->open, found.least_image, &least, NULL);
        cli_psnr_words(&found, c->info.images,
                       wanted->originals ? " against the originals" : " against the whole file",
                       least.name, words, room);
    } else
        cli_note(common, "truncate", "the PSNR of the cut was not measured: %s",
                 cli_explain(&error).text);
    cli_model_close(&model);
}
