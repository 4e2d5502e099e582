/* encoder.c -- taper_encoder_*: images in; see taper.h. encoder_finish.c: the container out.
 *
 * Images are collected in groups. A complete group is encoded (network, quantiser, chunk_coder) by
 * a worker or, without workers, by the caller's thread. Its chunks are written to the spool
 * (encoder_groups.c). taper_encoder_finish writes the container from them, layer by layer. */
#include "codec/container/encoder.h"
#include "codec/container/encoder_check.h"
#include "codec/container/encoder_groups.h"
#include "codec/container/encoder_layers.h"
#include "codec/container/encoder_set.h"
#include "codec/groups/allocation.h"
#include "codec/model/builtin_models.h"
#include "codec/pixels/drawing.h"
#include "codec/pixels/hidden_colours.h"
#include "formats/image.h"
#include "formats/model_file.h"
#include "formats/sized.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_GROUP_IMAGES = 65536,
    MOST_THREADS = 256,
    /* A drawing takes at most so many bits a pixel, and some bytes, by its colours: else its codes
     * are smaller at a quality that is as good to see. */
    MOST_BITS = 3,
    SOME_BYTES = 192, /* of 32 x 32 photographs, one in a thousand is a drawing then */
    FEW_BYTES = 64,   /* with a target, of which it takes at most twice its share */
    /* The rate at which images' distortions are compared: 1 bit per pixel. */
    REFERENCE_BYTES_PER_MPIXEL = 125000
};

/* --- making ------------------------------------------------------------------------------ */

/* Check the options, and that the model can do what they ask. for_codes: nothing is analysed, and
 * model_bytes were checked by the caller. */
static taper_status check_options(const taper_encoder *e, int for_codes, taper_error *error) {
    const taper_encode_options *o = &e->options;
    if (o->group_images > MAX_GROUP_IMAGES || (unsigned)o->layout > TAPER_LAYOUT_GALLERY ||
        (unsigned)o->allocation > TAPER_ALLOCATION_EQUAL ||
        (unsigned)o->drawings > TAPER_DRAWINGS_LOSSY)
        return formats_fail(error, TAPER_ERR_ARG, "an encode option is out of range");
    const int is_whole =
        o->model_bytes && formats_model_is(o->model_bytes, o->model_size, e->model->info.id);
    if (o->embed_model && !for_codes && !is_whole)
        return formats_fail(
            error, TAPER_ERR_ARG,
            "model_bytes is not the complete .tpm file of the encoder's model, %016llx",
            (unsigned long long)e->model->info.id);
    if (!codec_network_has_decoder(&e->model->network))
        return formats_fail(error, TAPER_ERR_ARG,
                            "an embedding model has no decoder, so that nothing can be encoded "
                            "with it; give another model");
    TAPER_TRY(codec_model_need_whole(e->model, "encoding", error));
    if (o->lossless && !codec_model_is_linear(e->model))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "exact copies need a linear model, whose pixels are the same on every "
                            "machine");
    if (e->layers.rate_classes > 1 && e->model->tables.density)
        return formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_ALLOCATION, TAPER_ALLOCATION_EVEN,
                                 "a binary model has only one allocation");
    return TAPER_OK;
}

/* Make what images need to become codes. */
static taper_status prepare_analysis(taper_encoder *e, taper_error *error) {
    const taper_status status =
        codec_model_encoder(e->model, e->options.threads, /* before workers start */
                            "it cannot encode", &e->coder.network, &e->coder.analysis, error);
    if (status == TAPER_ERR_NOMEM)
        formats_fail(error, status, "no memory for the model's analysis");
    return status;
}

/* Make what an allocation other than even needs to compare images. */
static taper_status prepare_allocation(taper_encoder *e, taper_error *error) {
    if (e->layers.rate_classes == 1) return TAPER_OK;
    e->waiting.reference = malloc(e->model->tables.units);
    if (!e->waiting.reference)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an encoder");
    codec_reference_depths(&e->model->tables, REFERENCE_BYTES_PER_MPIXEL, e->waiting.reference);
    return TAPER_OK;
}

static taper_status open_spool(taper_encoder *e, taper_error *error) {
    e->spool.file = e->options.spool ? e->options.spool : tmpfile();
    if (e->spool.file) return TAPER_OK;
    return errno == ENOMEM
               ? formats_fail(error, TAPER_ERR_NOMEM, "no memory for a temporary file")
               : formats_fail(error, TAPER_ERR_IO,
                              "cannot make a temporary file; is the disk for temporary files "
                              "full or read-only?");
}

static taper_status start_workers(taper_encoder *e, taper_error *error) {
    if (e->options.threads <= 1) return TAPER_OK;
    e->shared.queue = codec_queue_new(e->options.threads, codec_encode_job_run);
    if (e->shared.queue) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_NOMEM, TAPER_FACT_THREADS, 1,
                             "cannot start %u threads", e->options.threads);
}

/* Fill the members that need no memory. */
static taper_status init(taper_encoder *e, const taper_model *model,
                         const taper_encode_options *options, formats_account *account,
                         taper_error *error) {
    TAPER_TRY(
        formats_sized_take(&e->options, sizeof e->options, options, "taper_encode_options", error));
    TAPER_TRY(formats_limits_take(&e->limits, e->options.limits, error));
    e->model = model;
    if (e->options.threads > MOST_THREADS) e->options.threads = MOST_THREADS;
    e->layers.rate_classes =
        e->options.allocation == TAPER_ALLOCATION_EVEN ? 1 : CODEC_RATE_CLASSES;
    e->shared.own = formats_account_within(&e->limits);
    e->shared.account = account ? account : &e->shared.own;
    e->set.names = formats_buffer_make(FORMATS_MOST_BYTES);
    e->set.names.account = e->shared.account;
    e->set.class_names = e->set.also_names = e->set.names;
    codec_backend_cpu(&e->coder.backend);
    e->max_bytes = UINT64_MAX;
    return TAPER_OK;
}

static taper_status take_default_model(taper_encoder *e, taper_error *error) {
    TAPER_TRY(taper_model_builtin(&e->own_model, "photo", error));
    e->model = e->own_model;
    return TAPER_OK;
}

static taper_status make_encoder(taper_encoder **out, const taper_model *model,
                                 const taper_encode_options *options, int for_codes,
                                 formats_account *account, taper_error *error) {
    taper_encoder *e = *out = calloc(1, sizeof *e);
    if (!e) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an encoder");
    taper_status status = init(e, model, options, account, error);
    e->is_for_codes = for_codes;
    if (status == TAPER_OK && !model) status = take_default_model(e, error);
    if (status == TAPER_OK) status = check_options(e, for_codes, error);
    if (status == TAPER_OK && !for_codes) status = prepare_analysis(e, error);
    if (status == TAPER_OK) status = prepare_allocation(e, error);
    if (status == TAPER_OK) status = open_spool(e, error);
    if (status == TAPER_OK) status = start_workers(e, error);
    if (status == TAPER_OK) return status;
    taper_encoder_free(e);
    *out = NULL;
    return status;
}

taper_status taper_encoder_new(taper_encoder **out, const taper_model *model,
                               const taper_encode_options *options, taper_error *error) {
    TAPER_TRY(formats_need(out, "the encoder's place", error));
    return make_encoder(out, model, options, 0, NULL, error);
}

taper_status codec_encoder_new_for_codes(taper_encoder **out, const taper_model *model,
                                         const taper_encode_options *options,
                                         formats_account *account, taper_error *error) {
    return make_encoder(out, model, options, 1, account, error);
}

static void free_groups(taper_encoder *e) {
    for (size_t i = 0; i < FORMATS_MAX_RATE_CLASSES; i++) codec_encode_job_free(e->job[i]);
    for (size_t i = 0; i < e->waiting.n; i++)
        free(e->waiting.image[i].image.pixels), free(e->waiting.image[i].code);
    free(e->waiting.image), free(e->waiting.reference);
    for (size_t g = 0; g < e->spool.groups; g++) codec_written_group_free(&e->spool.group[g].of);
    free(e->spool.group), free(e->spool.first), free(e->spool.rate_class);
    if (e->spool.file && !e->options.spool) fclose(e->spool.file);
}

void taper_encoder_free(taper_encoder *e) {
    if (!e) return;
    codec_queue_free(e->shared.queue); /* waits for its jobs */
    free_groups(e);
    free(e->set.geometry), free(e->set.label), free(e->set.rate_class);
    formats_buffer_free(&e->set.names), formats_buffer_free(&e->set.class_names);
    free(e->set.also), formats_buffer_free(&e->set.also_names);
    formats_metadata_writer_free(e->set.metadata), free(e->set.carried_metadata);
    free(e->search.codes), free(e->search.model);
    free(e->layers.end), free(e->layers.longer_end);
    codec_originals_free(&e->originals);
    free(e->quality.least_name), free(e->coder.analysis);
    taper_model_free(e->own_model);
    free(e);
}

/* --- aims -------------------------------------------------------------------------------- */

static taper_status check_aim(const taper_encoder *e, double psnr_db, taper_error *error) {
    TAPER_TRY(codec_encoder_check_order(e, "set_aim", error));
    if (!(psnr_db >= 0 && psnr_db <= TAPER_PSNR_CEILING_DB))
        return formats_fail(error, TAPER_ERR_ARG, "an aim is 0 to %g dB", TAPER_PSNR_CEILING_DB);
    if (e->aims.are_set) return TAPER_OK;
    if (e->set.images)
        return formats_fail(error, TAPER_ERR_ARG,
                            "the first taper_encoder_set_aim comes before taper_encoder_add");
    if (e->options.allocation != TAPER_ALLOCATION_EVEN)
        return formats_fail_fact(error, TAPER_ERR_ARG, TAPER_FACT_ALLOCATION, TAPER_ALLOCATION_EVEN,
                                 "images with aims have only one allocation");
    if (codec_aim_is_possible(e->model)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "the passes that an image needs are known only for models with a linear "
                        "path, and not for binary models");
}

taper_status taper_encoder_set_aim(taper_encoder *e, double psnr_db, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(check_aim(e, psnr_db, error));
    if (!e->aims.are_set) codec_aim_ends(&e->model->tables, e->options.beyond_aims, e->aims.end);
    e->aims.are_set = 1;
    e->aims.mse = psnr_db > 0 ? 255.0 * 255.0 / pow(10, psnr_db / 10) : 0;
    e->layers.rate_classes = CODEC_AIM_ENDS;
    return TAPER_OK;
}

/* The rate class of an image with an aim: where it may end. Indexed images need no end. Where
 * containers will be merged they are in one class: each class of images without layers of passes
 * takes a rate class of the merged file. */
static taper_status choose_end(taper_encoder *e, const taper_image *image, int indexed,
                               uint32_t *rate_class) {
    double mse[CODEC_AIM_ENDS];
    *rate_class = 0;
    if (!e->aims.are_set || e->aims.mse <= 0) return TAPER_OK;
    if (indexed && e->options.for_merge) return TAPER_OK;
    const uint64_t bytes = codec_aim_bytes(e->model, image);
    TAPER_TRY(codec_encoder_charge(e, bytes));
    const taper_status status =
        codec_aim_errors(e->model, &e->coder.network, &e->coder.backend, image, e->aims.end, mse);
    codec_encoder_give(e, bytes);
    TAPER_TRY(status);
    *rate_class = codec_aim_choose(mse, e->aims.mse);
    e->aims.out_of_reach += !(mse[*rate_class] <= e->aims.mse);
    return TAPER_OK;
}

/* Nonzero if the last step of a small set may follow, which takes the originals. */
static int measures_cuts(const taper_encoder *e) {
    return !e->options.quick && !e->options.for_merge;
}

/* --- adding ------------------------------------------------------------------------------ */

/* Before the first image: do images have rate classes in the small layers of a gallery? Not small
 * images, of which the directory would be too large a part. */
static void begin_early(taper_encoder *e, uint64_t pixels) {
    enum { LEAST_PIXELS = 1 << 16 };
    if (e->set.images || e->options.layout != TAPER_LAYOUT_GALLERY || e->layers.rate_classes > 1 ||
        e->options.lossless || e->aims.are_set || pixels < LEAST_PIXELS ||
        !codec_aim_is_possible(e->model))
        return;
    e->waiting.is_early = 1;
    e->layers.rate_classes = CODEC_RATE_CLASSES;
}

/* Copy the image's pixels, which the caller owns, and charge the account. */
static taper_status copy_image(taper_encoder *e, const taper_image *image, taper_image *copy,
                               taper_error *error) {
    uint64_t bytes = codec_encoder_image_bytes(e, image, 0);
    if (codec_encoder_charge(e, bytes) != TAPER_OK)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
            formats_account_step(e->shared.account, bytes),
            "this image and those that wait to be encoded need more memory than the limit of %llu "
            "bytes; smaller groups need less",
            (unsigned long long)e->shared.account->limit);
    *copy = *image;
    copy->pixels = malloc((size_t)bytes);
    if (!copy->pixels) return codec_encoder_end(e, TAPER_ERR_NOMEM, error);
    memcpy(copy->pixels, image->pixels, (size_t)bytes);
    return TAPER_OK;
}

/* Is the image coded as an indexed one? By default drawings are where that pays, with built-in
 * models: a model of the caller's own has learned what its images look like. In a lossless
 * container the others are exact, too, and take more. */
static int is_indexed(const taper_encoder *e, const taper_image *image) {
    const taper_drawings how = e->options.drawings;
    codec_builtin_model builtin;
    const double target = (double)e->options.target_bytes_per_megapixel;
    const double pixels = (double)image->width * image->height;
    if (how == TAPER_DRAWINGS_LOSSY || image->depth != 8) return 0;
    if (how == TAPER_DRAWINGS_AUTO && !codec_builtin_model_of(e->model->info.id, &builtin))
        return 0;
    double most = SOME_BYTES + pixels * MOST_BITS / 8;
    if (how == TAPER_DRAWINGS_AUTO && !e->options.lossless) {
        const double worth = (double)codec_drawing_worth(image);
        most = worth < most ? worth : most;
    }
    if (target > 0 && FEW_BYTES + 2 * target * pixels / 1e6 < most)
        most = FEW_BYTES + 2 * target * pixels / 1e6;
    return codec_is_drawing(image, (uint64_t)most);
}

/* Free of what nobody sees: the colours that cost least take its place. */
static taper_status hide_colours(taper_encoder *e, taper_image *image) {
    const uint64_t meanwhile = codec_hide_colours_bytes(image);
    if (image->channels & 1) return TAPER_OK;
    TAPER_TRY(codec_encoder_charge(e, meanwhile));
    const taper_status status = codec_hide_colours(image);
    codec_encoder_give(e, meanwhile);
    return status;
}

static taper_status check_adding(const taper_encoder *e, taper_error *error) {
    TAPER_TRY(codec_encoder_check_order(e, "add", error));
    if (!e->search.codes) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "taper_encoder_add comes before taper_encoder_set_search_codes, which has "
                        "given codes for %zu images",
                        e->set.images);
}

/* Rows of an image in memory. */
typedef struct memory_rows {
    const char *next;
} memory_rows;

static taper_status read_memory_rows(void *user, const taper_image *rows) {
    memory_rows *m = user;
    const size_t n = (size_t)rows->width * rows->height * rows->channels * (rows->depth / 8u);
    memcpy(rows->pixels, m->next, n);
    m->next += n;
    return TAPER_OK;
}

/* Analyse a large image, strip by strip, and place it. */
static taper_status add_strips(taper_encoder *e, const taper_row_source *from, uint32_t rate_class,
                               const char *name, int32_t label, taper_error *error) {
    const taper_image image = {from->width, from->height, from->channels, from->depth, NULL};
    const codec_strip_analysis by = {e->model, &e->coder.network, &e->coder.backend,
                                     e->options.measure};
    const codec_row_input rows = {from->user, from->read};
    const codec_waiting_bytes in = codec_encoder_waiting_bytes(e);
    const uint64_t bytes = codec_strip_codes_bytes(e->model, &image);
    const size_t number = e->set.images;
    codec_strip_codes *strips = calloc(1, sizeof *strips);
    if (!strips) return codec_encoder_end(e, TAPER_ERR_NOMEM, error);
    begin_early(e, (uint64_t)from->width * from->height);
    if (e->waiting.is_early) rate_class = CODEC_RATE_CLASSES / 2;
    taper_status status = codec_encoder_end_waiting(e);
    if (status == TAPER_OK) status = codec_encoder_charge(e, bytes);
    if (status == TAPER_OK) {
        status = codec_strip_codes_make(strips, &by, &image, &rows, &in);
        codec_encoder_give(e, bytes);
    }
    if (status == TAPER_OK) status = codec_encoder_record(e, &image, 0, name, label);
    if (status == TAPER_OK)
        status = codec_encoder_place_strips(e, image, strips, number, rate_class);
    else {
        codec_strip_codes_free(strips);
        free(strips);
    }
    if (status == TAPER_OK && measures_cuts(e)) status = codec_originals_add(&e->originals, &image);
    return status;
}

static taper_status add_memory_by_strips(taper_encoder *e, const taper_image *image,
                                         const char *name, int32_t label, taper_error *error) {
    memory_rows rows = {image->pixels};
    const taper_row_source from = {sizeof from,  image->width, image->height,   image->channels,
                                   image->depth, &rows,        read_memory_rows};
    uint32_t rate_class;
    TAPER_TRY(choose_end(e, image, 0, &rate_class));
    return add_strips(e, &from, rate_class, name, label, error);
}

taper_status taper_encoder_add(taper_encoder *e, const taper_image *image, const char *name,
                               int32_t label, taper_error *error) {
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(image, "the image", error));
    if (codec_encoder_has_failed(e)) return codec_encoder_end(e, TAPER_OK, error);
    TAPER_TRY(check_adding(e, error));
    taper_image copy;
    size_t number = e->set.images;
    TAPER_TRY(codec_encoder_check_image(e, image, name, error));
    if (codec_encoder_goes_by_strips(e, image) && !is_indexed(e, image)) {
        const taper_status added = add_memory_by_strips(e, image, name, label, error);
        return added == TAPER_OK ? added : codec_encoder_end(e, added, error);
    }
    TAPER_TRY(copy_image(e, image, &copy, error));
    begin_early(e, (uint64_t)image->width * image->height);
    uint32_t rate_class;
    const int indexed = is_indexed(e, image);
    taper_status status = indexed || e->options.lossless ? TAPER_OK : hide_colours(e, &copy);
    if (status == TAPER_OK) status = codec_encoder_record(e, image, indexed, name, label);
    if (status == TAPER_OK) status = choose_end(e, image, indexed, &rate_class);
    if (status != TAPER_OK)
        free(copy.pixels);
    else
        status = e->waiting.reference || e->waiting.is_early
                     ? codec_encoder_allocate(e, copy, number)
                     : codec_encoder_place(e, copy, NULL, number, rate_class);
    if (status == TAPER_OK && measures_cuts(e)) status = codec_originals_add(&e->originals, image);
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}

/* Read all rows to memory, and add the image. */
static taper_status add_rows_whole(taper_encoder *e, const taper_row_source *from, const char *name,
                                   int32_t label, taper_error *error) {
    taper_image image;
    TAPER_TRY(formats_image_make(&image, from->width, from->height, from->channels, from->depth,
                                 &e->limits, error));
    taper_status status = from->read(from->user, &image);
    if (status == TAPER_OK)
        status = taper_encoder_add(e, &image, name, label, error);
    else
        formats_fail(error, status, "the rows of an image cannot be read");
    formats_image_free(&image);
    return status;
}

taper_status taper_encoder_add_rows(taper_encoder *e, const taper_row_source *given,
                                    const char *name, int32_t label, taper_error *error) {
    taper_row_source from;
    TAPER_TRY(formats_need(e, "the encoder", error));
    TAPER_TRY(formats_need(given, "the source of rows", error));
    TAPER_TRY(formats_sized_take(&from, sizeof from, given, "taper_row_source", error));
    if (!from.read) return formats_fail(error, TAPER_ERR_ARG, "a function of the source is NULL");
    if (codec_encoder_has_failed(e)) return codec_encoder_end(e, TAPER_OK, error);
    TAPER_TRY(check_adding(e, error));
    const taper_image image = {from.width, from.height, from.channels, from.depth, &from};
    TAPER_TRY(codec_encoder_check_image(e, &image, name, error));
    const int has_aim = e->aims.are_set && e->aims.mse > 0; /* which takes the pixels to estimate */
    if (!codec_encoder_goes_by_strips(e, &image) || has_aim)
        return add_rows_whole(e, &from, name, label, error);
    const taper_status status = add_strips(e, &from, 0, name, label, error);
    if (status == TAPER_OK) return status;
    taper_error problem = {0};
    formats_fail(&problem, status, "the rows of a large image cannot be read or kept");
    return codec_encoder_end(e, status, error);
}

taper_status codec_encoder_add_codes(taper_encoder *e, const taper_image *image, int16_t *code,
                                     const char *name, int32_t label, uint32_t rate_class,
                                     taper_error *error) {
    size_t number = e->set.images;
    taper_status status =
        codec_encoder_charge(e, codec_encoder_image_bytes(e, image, code != NULL));
    if (status == TAPER_OK) status = codec_encoder_record(e, image, !code, name, label);
    if (status != TAPER_OK)
        free(code), free(image->pixels);
    else
        status = codec_encoder_place(e, *image, code, number, rate_class);
    return status == TAPER_OK ? status : codec_encoder_end(e, status, error);
}
