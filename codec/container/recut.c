/* recut.c -- taper_truncate and taper_repack: containers from containers, without rendering. */
#include "codec/groups/stage_layers.h"
#include "codec/container/encoder.h"
#include "codec/container/encoder_groups.h"
#include "codec/container/encoder_layers.h"
#include "codec/container/encoder_set.h"
#include "codec/container/kept_codes.h"
#include "codec/container/repack_exact.h"
#include "codec/decoder/front_load.h"
#include "codec/decoder/group_reader.h"
#include "codec/decoder/verify.h"
#include "codec/pixels/pixel_store.h"
#include "formats/image.h"
#include "formats/sized.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- truncate -------------------------------------------------------------------------- */

/* The chunks of a source, located by the source's own directory. */
typedef struct source_chunks {
    const taper_source *source;
    uint64_t data_at;
    const uint64_t *chunk_at;
    uint32_t groups;
} source_chunks;

static taper_status read_source_chunk(void *user, uint32_t layer, uint32_t group, uint64_t from,
                                      void *to, size_t n) {
    const source_chunks *c = user;
    uint64_t at = c->data_at + c->chunk_at[(uint64_t)layer * c->groups + group] + from;
    return c->source->read(c->source->user, at, to, n);
}

taper_status taper_truncate(const taper_source *from, uint64_t max_bytes, const taper_sink *to,
                            const taper_limits *given, taper_error *error) {
    taper_limits limits;
    formats_front front;
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_limits_take(&limits, given, error));
    TAPER_TRY(codec_front_load(from, &limits, &front, error));
    front.has_part = 0; /* what is made of a part has other data, and is none */
    uint64_t chunks = (uint64_t)front.layers * front.groups, data = front.chunk_at[chunks];
    uint64_t *chunk_at = NULL;
    taper_status status = formats_front_take(&front, chunks, sizeof *chunk_at, &chunk_at, error);
    if (status == TAPER_OK) status = codec_front_check_models(&front, 0, &limits, error);
    if (status == TAPER_OK)
        status =
            codec_refuse_damage(&front, from, front.layout ? UINT64_MAX : max_bytes, NULL, error);
    if (status == TAPER_OK) {
        memcpy(chunk_at, front.chunk_at, ((size_t)chunks + 1) * sizeof *chunk_at);
        source_chunks source = {from, front.front_size, chunk_at, front.groups};
        uint64_t here = from->size > front.front_size ? from->size - front.front_size : 0;
        if (here < data) codec_clip_data(&front, here); /* the source is a cut file */
        codec_chunks reader = {.user = &source, .read = read_source_chunk};
        status = codec_assemble(&front, &reader, max_bytes, &limits, to, error);
    }
    free(chunk_at);
    formats_front_free(&front);
    return status;
}

/* --- repack ---------------------------------------------------------------------------- */

/* The passes in the complete chunks of group g; *begun: nonzero if a part of the next is there. */
static uint32_t passes_at_least(const formats_front *f, const taper_source *from, uint32_t g,
                                int *begun) {
    uint32_t layer = 0;
    *begun = 0;
    for (; layer < f->layers; layer++) {
        uint64_t c = (uint64_t)layer * f->groups + g, at = f->front_size + f->chunk_at[c];
        uint64_t length = f->chunk_at[c + 1] - f->chunk_at[c];
        int here = at <= from->size && length <= from->size - at;
        if (here && !codec_chunk_is_cut(f, layer, g)) continue;
        *begun = length && at < from->size;
        break;
    }
    return layer ? formats_front_layer_end(f, layer - 1, g) : 0;
}

/* The groups that are decoded now, and codes of earlier groups. One set of readers serves the
 * images. For a cut source, a second one decodes groups to count their passes. */
typedef struct open_groups {
    formats_account account; /* for the front matter, groups and codes */
    codec_group_readers readers, ends;
    codec_kept_codes kept;
    int has_kept;  /* nonzero: codes were kept, even if they were dropped later */
    int are_alike; /* nonzero: rate classes of the source count as one */
} open_groups;

/* Open group g with these readers. If memory runs out, drop groups and codes that can be decoded
 * again. */
static taper_status open_group_with(open_groups *open, codec_group_readers *readers,
                                    const formats_front *front, uint32_t g,
                                    const taper_source *from, const taper_model *model,
                                    codec_group_reader **out, taper_error *error) {
    taper_status status = codec_group_readers_open(readers, model, front, g, from, out, error);
    if (status != TAPER_ERR_LIMIT) return status;
    codec_kept_codes_close(&open->kept);
    codec_group_readers_close(&open->ends);
    return codec_group_readers_open(readers, model, front, g, from, out, error);
}

static taper_status open_group(open_groups *open, const formats_front *front, uint32_t g,
                               const taper_source *from, const taper_model *model,
                               codec_group_reader **out, taper_error *error) {
    *out = &open->ends.of_rate_class[formats_front_rate_class(front, g)];
    if ((*out)->images && (*out)->group == g) return TAPER_OK;
    return open_group_with(open, &open->readers, front, g, from, model, out, error);
}

/* The number of values of the codes of image i of a group. */
static size_t codes_in(const codec_group_reader *r, uint32_t i) {
    return (size_t)(r->first[i + 1] - r->first[i]) * r->strips.coder->group.tables->units;
}

/* The codes of image i of a decoded group: signed magnitudes, 0 below the known depth. */
static int16_t *codes_of(const codec_group_reader *r, uint32_t i) {
    int16_t *code = malloc(codes_in(r, i) * sizeof *code + 1), *to = code;
    if (!code) return NULL;
    for (uint32_t window = r->first[i]; window < r->first[i + 1]; window++) {
        uint32_t strip = codec_strip_of(&r->strips, window), w = window - r->strips.first[strip];
        const codec_group *g = &r->strips.coder[strip].group;
        for (uint32_t u = 0; u < g->tables->units; u++) {
            uint32_t depth = codec_planes_known(g, u, w);
            int32_t level = g->level[(size_t)u * g->stride + w];
            *to++ = (int16_t)(level * (1 << (g->tables->planes[u] - depth)));
        }
    }
    return code;
}

/* Keep the codes of a group before the next group replaces it. They may have more passes than all
 * images have in common; the encoder ignores these. Codes with raised planes are not kept: which
 * planes are raised depends on the codes that remain. */
static void keep_codes(open_groups *open, const formats_front *front, const codec_group_reader *r) {
    if (!r->images || r->bad || front->raised_at || front->has_pixels) return;
    if (!open->has_kept++) codec_kept_codes_open(&open->kept, front->images, &open->account);
    for (uint32_t i = 0; i < r->images; i++) {
        int16_t *code = codes_of(r, i);
        if (code)
            codec_kept_codes_put(&open->kept,
                                 formats_front_image(front, front->group_first[r->group] + i), code,
                                 codes_in(r, i));
        free(code);
    }
}

/* Find passes[rate_classes]: the passes that all groups of a rate class have completely. The
 * directory says where layers end; only groups that end within a layer are decoded. */
static taper_status common_passes(const formats_front *front, const taper_source *from,
                                  const taper_model *model, open_groups *open, uint32_t *passes,
                                  taper_error *error) {
    int begun;
    for (uint32_t t = 0; t < front->rate_classes; t++)
        passes[t] = front->layer_end[(size_t)(front->layers - 1) * front->rate_classes + t];
    for (uint32_t g = 0; g < front->groups; g++) {
        uint32_t *of_rate_class = &passes[formats_front_rate_class(front, g)], least;
        least = passes_at_least(front, from, g, &begun);
        if (!begun && least < *of_rate_class) *of_rate_class = least;
    }
    open->ends.pass_limit = open->readers.pass_limit = passes;
    for (uint32_t g = 0; g < front->groups; g++) {
        uint32_t *of_rate_class = &passes[formats_front_rate_class(front, g)];
        codec_group_reader *r = &open->ends.of_rate_class[formats_front_rate_class(front, g)];
        if (passes_at_least(front, from, g, &begun) >= *of_rate_class || !begun) continue;
        keep_codes(open, front, r);
        TAPER_TRY(open_group_with(open, &open->ends, front, g, from, model, &r, error));
        uint32_t whole = codec_group_reader_passes(r, front);
        if (whole < *of_rate_class) *of_rate_class = whole;
    }
    return TAPER_OK;
}

/* Add the codes, which are charged, to the encoder, which then owns them. If memory runs out, first
 * drop groups and codes that can be decoded again. */
static taper_status repack_codes(taper_encoder *encoder, open_groups *open,
                                 const formats_front *front, uint32_t image, void *pixels,
                                 int16_t *code, size_t n, taper_error *error) {
    formats_geometry shape = front->geometry[image];
    taper_image as = {shape.width, shape.height, (uint8_t)(shape.channels + shape.alpha),
                      shape.depth, pixels};
    uint32_t rate_class =
        open->are_alike || !front->image_rate_class ? 0 : front->image_rate_class[image];
    uint64_t needs = n * sizeof *code + codec_encoder_needs(encoder, rate_class);
    if ((!code && !shape.indexed) || (!pixels && codec_pixels_has_plane(&shape))) {
        free(code), free(pixels);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image's codes");
    }
    formats_account_give(&open->account, n * sizeof *code);
    if (formats_account_left(&open->account) < needs) codec_group_readers_close(&open->ends);
    if (formats_account_left(&open->account) < needs) codec_kept_codes_close(&open->kept);
    if (formats_account_left(&open->account) < needs) codec_group_readers_close(&open->readers);
    return codec_encoder_add_codes(encoder, &as, code, formats_front_name(front, image),
                                   front->label ? front->label[image] : -1, rate_class, error);
}

/* Charge the memory of n values. */
static taper_status take_codes(open_groups *open, size_t n, taper_error *error) {
    if (formats_account_take(&open->account, n * sizeof(int16_t)) == TAPER_OK) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                             formats_account_step(&open->account, n * sizeof(int16_t)),
                             "repacking needs more memory than the limit of %llu bytes",
                             (unsigned long long)open->account.limit);
}

/* Repack an image whose codes are kept. */
static taper_status repack_kept(taper_encoder *encoder, const formats_front *front,
                                const taper_model *model, open_groups *open, uint32_t image,
                                taper_error *error) {
    formats_geometry shape = front->geometry[image];
    codec_grid grid = codec_windows_grid(model->window, shape.width, shape.height);
    size_t n = (size_t)grid.columns * grid.rows * model->tables.units;
    TAPER_TRY(take_codes(open, n, error));
    int16_t *code = malloc(n * sizeof *code);
    if (code) codec_kept_codes_get(&open->kept, image, code, n);
    return repack_codes(encoder, open, front, image, NULL, code, n, error);
}

/* What pixel layers have of image i of a decoded group, in new memory: an indexed image, or alpha
 * with colours of 0. NULL: nothing, or no memory. */
static void *pixels_of(const codec_group_reader *r, uint32_t i) {
    const codec_pixel_image *from = codec_group_reader_pixels(r, i);
    if (!from || !codec_pixels_has_plane(&from->of)) return NULL;
    const formats_geometry *of = &from->of;
    taper_image image = {of->width, of->height, (uint8_t)(of->channels + of->alpha), of->depth,
                         NULL};
    image.pixels = calloc(formats_image_bytes(&image), 1);
    if (!image.pixels) return NULL;
    if (of->indexed) {
        codec_pixels_store(from, 1, &image);
    } else {
        image.channels--;
        codec_pixels_add_alpha(from, 1, &image);
    }
    return image.pixels;
}

/* Repack an image from its group, which is decoded first if necessary. */
static taper_status repack_decoded(taper_encoder *encoder, const formats_front *front,
                                   const taper_source *from, const taper_model *model,
                                   open_groups *open, uint32_t image, taper_error *error) {
    codec_group_reader *r;
    uint32_t g = formats_front_group(front, image);
    TAPER_TRY(open_group(open, front, g, from, model, &r, error));
    if (r->bad)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "layer %u of group %u is damaged (checksum); fetch the file again",
                            r->layer, r->group);
    uint32_t i = formats_front_place(front, image) - front->group_first[g];
    size_t n = codes_in(r, i);
    TAPER_TRY(take_codes(open, n, error));
    return repack_codes(encoder, open, front, image, pixels_of(r, i),
                        front->geometry[image].indexed ? NULL : codes_of(r, i), n, error);
}

/* Repack all images in order. */
static taper_status repack_images(taper_encoder *encoder, const formats_front *front,
                                  const taper_source *from, const taper_model *model,
                                  open_groups *open, taper_error *error) {
    taper_status status = TAPER_OK;
    for (uint32_t image = 0; image < front->images && status == TAPER_OK; image++)
        status = codec_kept_codes_has(&open->kept, image)
                     ? repack_kept(encoder, front, model, open, image, error)
                     : repack_decoded(encoder, front, from, model, open, image, error);
    return status;
}

/* The layers that another layout than TAPER_LAYOUT_SET keeps, of end[layers][rate classes]. Returns
 * their number. */
static uint32_t join_layers(const formats_front *front, taper_layout layout, uint32_t *end,
                            uint32_t layers) {
    size_t row = front->rate_classes;
    uint64_t pixels = 0, written = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < front->images; i++)
        pixels += (uint64_t)front->geometry[i].width * front->geometry[i].height;
    for (uint32_t l = 0; l < layers; l++) {
        uint64_t size = front->chunk_at[(l + 1) * (uint64_t)front->groups] / front->images;
        int ends = layout == TAPER_LAYOUT_GALLERY &&
                   codec_ends_small_layer(size, written, pixels / front->images);
        if (l + 1 < layers && !ends) continue;
        memmove(end + kept++ * row, end + l * row, row * sizeof *end);
        written = size;
    }
    return kept;
}

/* Nonzero if the rate classes of a gallery, which differ in its small layers, are of no use in this
 * layout: all images have the same passes. */
static int are_alike(const formats_front *front, const uint32_t *passes, taper_layout layout) {
    if (front->layout != TAPER_LAYOUT_GALLERY || layout == TAPER_LAYOUT_GALLERY) return 0;
    for (uint32_t t = 1; t < front->rate_classes; t++)
        if (passes[t] != passes[0]) return 0;
    return 1;
}

/* Use the layers of the source, as far as it has them, if there are several rate classes. For one
 * rate class the encoder chooses the layers. */
static taper_status copy_layers(taper_encoder *encoder, const formats_front *front,
                                const uint32_t *passes, taper_layout layout, taper_error *error) {
    if (front->rate_classes == 1 || are_alike(front, passes, layout)) {
        codec_encoder_limit_passes(encoder, passes[0]);
        return TAPER_OK;
    }
    size_t rate_classes = front->rate_classes;
    uint32_t layers = 0, *end = malloc(rate_classes * front->layers * sizeof *end);
    if (!end) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for layers");
    int more = 1; /* up to the last complete one */
    for (uint32_t l = 0; more && l < front->layers; l++) {
        if (formats_front_layer_kind(front, l) != FORMATS_LAYER_PASSES) continue;
        more = 0;
        for (size_t t = 0; t < rate_classes; t++) {
            uint32_t all = front->layer_end[l * rate_classes + t];
            end[layers * rate_classes + t] = all < passes[t] ? all : passes[t];
            more |= all < passes[t];
        }
        layers++;
    }
    if (layout != TAPER_LAYOUT_SET) layers = join_layers(front, layout, end, layers);
    taper_status status = codec_encoder_take_layers(encoder, end, front->rate_classes, layers);
    free(end);
    return status == TAPER_OK ? status : formats_fail(error, status, "no memory for layers");
}

/* Repack with the passes of common_passes. */
static taper_status repack_passes(const formats_front *front, const taper_source *from,
                                  const taper_model *model, open_groups *open,
                                  const uint32_t *passes, const taper_encode_options *options,
                                  const taper_sink *to, taper_error *error) {
    uint32_t most = 0, windowed = 0;
    for (uint32_t t = 0; t < front->rate_classes; t++) most = passes[t] > most ? passes[t] : most;
    for (uint32_t i = 0; i < front->images; i++) windowed += !front->geometry[i].indexed;
    if (!most && windowed)
        return formats_fail(
            error, TAPER_ERR_TRUNCATED,
            "the container is cut before its first pass is whole: nothing to repack");
    taper_encoder *encoder;
    TAPER_TRY(codec_encoder_new_for_codes(&encoder, model, options, &open->account, error));
    open->are_alike = are_alike(front, passes, options->layout);
    taper_status status = copy_layers(encoder, front, passes, options->layout, error);
    if (status == TAPER_OK) status = codec_copy_classes(encoder, front, error);
    if (status == TAPER_OK) status = repack_images(encoder, front, from, model, open, error);
    codec_kept_codes_close(&open->kept);
    codec_group_readers_close(&open->readers);
    codec_group_readers_close(&open->ends);
    if (status == TAPER_OK) status = codec_encoder_take_search_codes(encoder, front, error);
    if (status == TAPER_OK) status = codec_encoder_take_names(encoder, front, error);
    if (status == TAPER_OK) status = codec_encoder_take_metadata(encoder, front, error);
    if (status == TAPER_OK) status = taper_encoder_finish(encoder, 0, to, error);
    taper_encoder_free(encoder);
    return status;
}

/* is_own: the front carries this model. */
static taper_status repack_front(const formats_front *front, const codec_unstaged *unstaged,
                                 const taper_model *model, int is_own,
                                 const taper_encode_options *options, const taper_sink *to,
                                 taper_error *error) {
    const taper_source *from = &unstaged->source;
    uint32_t passes[FORMATS_MAX_RATE_CLASSES] = {0};
    open_groups open = {.account = formats_account_within(options->limits)};
    open.account.used = front->account.used;
    open.readers.account = open.ends.account = &open.account;
    TAPER_TRY(codec_front_match(front, model, error));
    TAPER_TRY(codec_front_check_models(front, is_own, options->limits, error));
    if (codec_is_exact(front, from))
        return codec_repack_exact(front, &unstaged->from, model, options, to, error);
    taper_status status = common_passes(front, from, model, &open, passes, error);
    if (status == TAPER_OK)
        status = repack_passes(front, from, model, &open, passes, options, to, error);
    codec_group_readers_close(&open.readers);
    codec_group_readers_close(&open.ends);
    codec_kept_codes_close(&open.kept);
    return status;
}

taper_status taper_repack(const taper_source *from, const taper_model *model, taper_layout layout,
                          uint32_t group_images, const taper_sink *to, const taper_limits *given,
                          taper_error *error) {
    taper_limits limits;
    formats_front front;
    TAPER_TRY(formats_need_source(from, error));
    TAPER_TRY(formats_need_sink(to, error));
    TAPER_TRY(formats_limits_take(&limits, given, error));
    TAPER_TRY(codec_front_load(from, &limits, &front, error));
    taper_model *own = NULL;
    codec_unstaged unstaged;
    taper_status status = codec_front_load_stages(&front, from, error);
    if (status == TAPER_OK) status = codec_stage_layers_remove(&front, from, &unstaged, error);
    if (status == TAPER_OK && !model) status = codec_front_model(&front, &limits, &own, error);
    taper_encode_options options = {.size = sizeof options,
                                    .layout = layout,
                                    .group_images = group_images,
                                    .embed_model = front.model != NULL,
                                    .model_bytes = front.model,
                                    .model_size = front.model_size,
                                    .limits = &limits};
    if (status == TAPER_OK)
        status = repack_front(&front, &unstaged, model ? model : own, !model, &options, to, error);
    taper_model_free(own);
    formats_front_free(&front);
    return status;
}
