/* encoder_layers.c -- see encoder_layers.h. */
#include "codec/container/encoder_layers.h"
#include "codec/groups/assemble.h"
#include "codec/groups/allocation.h"
#include <stdlib.h>
#include <string.h>

enum {
    MIN_CHUNK_BYTES = 1500,
    MIN_RATE_CLASS_CHUNK_BYTES = 400 /* more layers: rate classes differ only at layer ends */
};

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
    uint64_t least = e->layers.rate_classes > 1 ? MIN_RATE_CLASS_CHUNK_BYTES : MIN_CHUNK_BYTES;
    if (e->options.layout == TAPER_LAYOUT_IMAGE) return 0;
    if (e->options.layout == TAPER_LAYOUT_GALLERY)
        return codec_ends_small_layer(size, written, pixels);
    if (kind == SEVERAL_GROUPS && e->layers.rate_classes == 1)
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
    uint32_t *to = malloc((size_t)e->layers.rate_classes * choice->n * sizeof *to);
    *layer_end = to;
    if (!to) return TAPER_ERR_NOMEM;
    if (e->layers.rate_classes == 1) {
        memcpy(to, choice->end, choice->n * sizeof *to);
        return TAPER_OK;
    }
    for (uint32_t rate_class = 0; rate_class < e->layers.rate_classes; rate_class++) {
        uint32_t end[CODEC_MAX_LAYERS_IN_MODEL];
        TAPER_TRY(
            codec_rate_class_layers(&e->model->tables, rate_class, choice->end, choice->n, end));
        for (uint32_t l = 0; l < choice->n; l++)
            to[l * e->layers.rate_classes + rate_class] = end[l];
    }
    return TAPER_OK;
}

/* The pixels that groups have, at least, where more of them follow: the first one may be an icon
 * among photographs. A model of large windows is one for large images. */
static uint64_t usual_pixels(const taper_encoder *e) {
    uint64_t window = (uint64_t)e->model->window.width * e->model->window.height,
             image = window * window / 4;
    if (e->options.layout != TAPER_LAYOUT_SET) return image;
    return e->options.group_images ? image * e->options.group_images : CODEC_GROUP_PIXELS / 4;
}

/* The nominal pixels of a group, from those of the unfinished groups. */
static uint64_t nominal_pixels(const taper_encoder *e, set_kind kind) {
    const uint32_t nominal = e->options.group_images;
    uint64_t pixels = kind == SEVERAL_GROUPS ? usual_pixels(e) : 1;
    for (uint32_t rate_class = 0; rate_class < e->layers.rate_classes; rate_class++) {
        const codec_encode_job *job = e->job[rate_class];
        if (!job || !job->of.n) continue;
        uint64_t about = nominal ? job->pixels * nominal / job->of.n : job->pixels;
        pixels = about > pixels ? about : pixels;
    }
    return pixels;
}

taper_status codec_encoder_choose_layers(taper_encoder *e, int is_last, int may_be_plain) {
    codec_encoder_layers *layers = &e->layers;
    if (layers->n) return TAPER_OK;
    const codec_code_tables *t = &e->model->tables;
    const set_kind kind = !is_last                                         ? SEVERAL_GROUPS
                          : e->set.images == 1 && !e->options.group_images ? ONE_IMAGE
                                                                           : ONE_GROUP;
    const uint64_t pixels = nominal_pixels(e, kind);
    uint32_t end = passes_for_target(t, e->options.target_bytes_per_megapixel);
    layer_choice choice;
    if (layers->pass_limit && layers->pass_limit < end) end = layers->pass_limit;
    choose_layers(e, end, pixels, kind, &choice);
    layers->n = choice.n;
    TAPER_TRY(make_layers(e, &choice, &layers->end));
    if (!may_be_plain || end == t->n_passes) return TAPER_OK;
    choose_layers(e, t->n_passes, pixels, kind, &choice);
    layers->n_longer = choice.n;
    return make_layers(e, &choice, &layers->longer_end);
}

void codec_encoder_limit_passes(taper_encoder *e, uint32_t passes) {
    e->layers.pass_limit = passes;
}

taper_status codec_encoder_take_layers(taper_encoder *e, const uint32_t *layer_end,
                                       uint32_t rate_classes, uint32_t layers) {
    size_t size = (size_t)rate_classes * layers * sizeof *layer_end;
    e->layers.end = malloc(size);
    if (!e->layers.end) return TAPER_ERR_NOMEM;
    memcpy(e->layers.end, layer_end, size);
    e->layers.rate_classes = rate_classes, e->layers.n = layers;
    return TAPER_OK;
}
