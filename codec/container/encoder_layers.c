/* encoder_layers.c -- see encoder_layers.h. */
#include "codec/container/encoder_layers.h"
#include "codec/groups/aim.h"
#include "codec/groups/assemble.h"
#include "codec/groups/allocation.h"
#include <stdlib.h>
#include <string.h>

enum {
    /* Bytes per megapixel of passes before an exact layer: 0.75 bits per pixel. With fewer of them
     * the container is shorter, and cuts are worse to look at. */
    LOSSY_PART = 93750,
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

enum { MOST_LAYERS = CODEC_MAX_LAYERS_IN_MODEL + CODEC_AIM_ENDS };

/* Layers of the middle rate class. */
typedef struct layer_choice {
    uint32_t end[MOST_LAYERS], n;
} layer_choice;

/* Where layers may end. */
typedef struct layer_ends {
    codec_layer_end at[MOST_LAYERS];
    int is_needed[MOST_LAYERS]; /* nonzero: a layer ends here, whatever its size */
    uint32_t n;
} layer_ends;

/* What the set is. Layers of one image double in size, which gives enough checksums. With several
 * groups small layers come first: else the first bytes would be spent on the first groups. */
typedef enum set_kind { ONE_IMAGE, ONE_GROUP, SEVERAL_GROUPS } set_kind;

/* Nonzero if a layer should end where a group of about this many pixels has `size` bytes. written:
 * where the last layer ended. */
static int ends_layer(const taper_encoder *e, uint64_t size, uint64_t written, uint64_t pixels,
                      set_kind kind) {
    const int is_even = e->options.allocation == TAPER_ALLOCATION_EVEN;
    uint64_t least = is_even ? MIN_CHUNK_BYTES : MIN_RATE_CLASS_CHUNK_BYTES;
    if (e->options.layout == TAPER_LAYOUT_IMAGE) return 0;
    if (e->options.layout == TAPER_LAYOUT_GALLERY)
        return codec_ends_small_layer(size, written, pixels);
    if (kind == SEVERAL_GROUPS && is_even)
        if (codec_ends_small_layer(size, written, pixels)) return 1;
    return size - written >= least && (kind != ONE_IMAGE || size >= 2 * written);
}

/* The model's layers up to the pass `end`. */
static void model_ends(const codec_code_tables *t, uint32_t end, layer_ends *ends) {
    *ends = (layer_ends){.n = 0};
    do ends->at[ends->n] = t->layer[ends->n];
    while (t->layer[ends->n++].pass < end);
    ends->at[ends->n - 1].pass = end;
}

/* The same for images with aims. From the first of their ends on these replace the model's. Before
 * the last image is known, all of them are needed, so that containers can be merged; later those
 * that images have. */
static void aim_ends(const taper_encoder *e, uint32_t end, int is_last, layer_ends *ends) {
    const codec_code_tables *t = &e->model->tables;
    const int is_set = e->options.layout == TAPER_LAYOUT_SET;
    layer_ends all;
    model_ends(t, t->n_passes, &all);
    *ends = (layer_ends){.n = 0};
    for (uint32_t l = 0; l < all.n && all.at[l].pass < e->aims.end[CODEC_AIM_ENDS - 1]; l++)
        ends->at[ends->n++] = all.at[l];
    for (uint32_t k = CODEC_AIM_ENDS; k-- > 0;) {
        const codec_layer_end at = {e->aims.end[k],
                                    codec_aim_bytes_at(t, e->options.beyond_aims, k)};
        if (ends->n && at.pass <= ends->at[ends->n - 1].pass) continue;
        ends->is_needed[ends->n] = is_set && (!is_last || e->job[k]);
        ends->at[ends->n++] = at;
    }
    while (ends->n > 1 && ends->at[ends->n - 2].pass >= end) ends->n--;
    if (ends->at[ends->n - 1].pass > end) ends->at[ends->n - 1].pass = end;
}

/* Choose layers among ends, for groups of about this many pixels. They are joined until a chunk is
 * large compared to its overhead. */
static void choose_layers(const taper_encoder *e, const layer_ends *ends, uint64_t pixels,
                          set_kind kind, layer_choice *choice) {
    /* about: a power of two, so that shards of similar size get the same layers. */
    uint64_t written = 0, about = 1;
    while (about * 2 <= pixels) about *= 2;
    choice->n = 0;
    for (uint32_t l = 0; l < ends->n; l++) {
        uint64_t size = (uint64_t)ends->at[l].bytes_per_mpixel * about / 1000000;
        if (l + 1 < ends->n && !ends->is_needed[l] && !ends_layer(e, size, written, about, kind))
            continue;
        choice->end[choice->n++] = ends->at[l].pass;
        written = size;
    }
}

/* In a gallery whose small layers have rate classes, all images have the first layer, so that there
 * is something of each; and the last one ends alike. */
static void end_alike(const layer_choice *choice, uint32_t *end) {
    const uint32_t last = choice->end[choice->n - 1];
    end[0] = choice->end[0];
    for (uint32_t l = 1; l < choice->n; l++) {
        if (end[l] < end[l - 1]) end[l] = end[l - 1];
        if (end[l] > last || l + 1 == choice->n) end[l] = last;
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
        if (e->waiting.is_early) end_alike(choice, end);
        for (uint32_t l = 0; l < choice->n; l++)
            to[l * e->layers.rate_classes + rate_class] = end[l];
    }
    return TAPER_OK;
}

/* The pixels that groups have, at least, where more of them follow: the first one may be an icon
 * among photographs. A model of large windows is one for large images. */
static uint64_t usual_pixels(const taper_encoder *e) {
    const int is_gallery = e->options.layout == TAPER_LAYOUT_GALLERY;
    uint64_t window = (uint64_t)e->model->window.width * e->model->window.height,
             image = window * window / 4;
    if (e->options.for_merge && is_gallery) return CODEC_GROUP_PIXELS / 4; /* a photograph */
    if (e->options.layout != TAPER_LAYOUT_SET) return image;
    return e->options.group_images ? image * e->options.group_images : CODEC_GROUP_PIXELS / 4;
}

/* The nominal pixels of a group, from those of the unfinished groups. */
static uint64_t nominal_pixels(const taper_encoder *e, int is_last) {
    const uint32_t nominal = e->options.group_images;
    uint64_t pixels = is_last ? 1 : usual_pixels(e);
    if (e->options.for_merge) return pixels;
    for (uint32_t rate_class = 0; rate_class < e->layers.rate_classes; rate_class++) {
        const codec_encode_job *job = e->job[rate_class];
        if (!job || !job->of.n) continue;
        uint64_t about = nominal ? job->pixels * nominal / job->of.n : job->pixels;
        pixels = about > pixels ? about : pixels;
    }
    return pixels;
}

/* Make the layers of images with aims: first those up to their ends; and with beyond_aims those of
 * all images, in which the ones that are ahead wait for the others. A layer without a pass is left
 * out at the end. */
static taper_status make_aim_layers(taper_encoder *e, const layer_choice *aims,
                                    const layer_choice *beyond) {
    const uint32_t classes = e->layers.rate_classes, n = aims->n + beyond->n;
    uint32_t *to = malloc((size_t)classes * n * sizeof *to);
    e->layers.end = to, e->layers.n = n;
    if (!to) return TAPER_ERR_NOMEM;
    for (uint32_t l = 0; l < n; l++)
        for (uint32_t k = 0; k < classes; k++) {
            const uint32_t aim = e->aims.end[k];
            const uint32_t end = l < aims->n ? aims->end[l] : beyond->end[l - aims->n];
            *to++ = (l < aims->n) == (end < aim) ? end : aim;
        }
    return TAPER_OK;
}

static taper_status choose_aim_layers(taper_encoder *e, uint32_t end, int is_last, uint64_t pixels,
                                      set_kind kind) {
    const codec_code_tables *t = &e->model->tables;
    layer_choice aims, beyond = {.n = 0};
    layer_ends ends;
    aim_ends(e, e->options.beyond_aims ? t->n_passes : end, is_last, &ends);
    choose_layers(e, &ends, pixels, kind, &aims);
    model_ends(t, end, &ends);
    if (e->options.beyond_aims) choose_layers(e, &ends, pixels, kind, &beyond);
    return make_aim_layers(e, &aims, &beyond);
}

/* Of images with aims, the last groups of several rate classes are several groups. */
static set_kind kind_of(const taper_encoder *e, int is_last) {
    uint32_t jobs = 0;
    for (uint32_t k = 0; e->aims.are_set && k < e->layers.rate_classes; k++)
        jobs += e->job[k] != NULL;
    if (!is_last || jobs > 1) return SEVERAL_GROUPS;
    return e->set.images == 1 && !e->options.group_images ? ONE_IMAGE : ONE_GROUP;
}

/* Where the layers of passes end. Those of a lossless container are not shortened to the target. */
static uint64_t target_of(const taper_encoder *e) {
    const uint64_t target = e->options.target_bytes_per_megapixel;
    if (!e->options.lossless || e->is_for_codes || e->aims.are_set) return target;
    return (target ? target : LOSSY_PART) * 8 / 9 + 1;
}

taper_status codec_encoder_choose_layers(taper_encoder *e, int is_last, int may_be_plain) {
    codec_encoder_layers *layers = &e->layers;
    if (layers->n) return TAPER_OK;
    const codec_code_tables *t = &e->model->tables;
    if (e->options.for_merge) is_last = 0; /* it might be the first of a larger set */
    const set_kind kind = kind_of(e, is_last);
    const uint64_t pixels = nominal_pixels(e, is_last);
    uint32_t end = passes_for_target(t, target_of(e));
    layer_ends ends;
    layer_choice choice;
    if (layers->pass_limit && layers->pass_limit < end) end = layers->pass_limit;
    if (e->aims.are_set) return choose_aim_layers(e, end, is_last, pixels, kind);
    model_ends(t, end, &ends);
    choose_layers(e, &ends, pixels, kind, &choice);
    layers->n = choice.n;
    TAPER_TRY(make_layers(e, &choice, &layers->end));
    if (!may_be_plain || end == t->n_passes) return TAPER_OK;
    model_ends(t, t->n_passes, &ends);
    choose_layers(e, &ends, pixels, kind, &choice);
    layers->n_longer = choice.n;
    return make_layers(e, &choice, &layers->longer_end);
}

/* Nonzero if a group of a rate class that has images has passes in the layer. */
static int has_passes(const codec_encoder_layers *layers, uint32_t l, const uint8_t *is_used) {
    const uint32_t *end = layers->end + (size_t)l * layers->rate_classes;
    for (uint32_t k = 0; k < layers->rate_classes; k++)
        if (is_used[k] && end[k] > (l ? end[(int64_t)k - layers->rate_classes] : 0)) return 1;
    return 0;
}

void codec_encoder_drop_layers(taper_encoder *e) {
    codec_encoder_layers *layers = &e->layers;
    uint8_t is_used[FORMATS_MAX_RATE_CLASSES] = {0};
    uint32_t kept = 0, classes = layers->rate_classes;
    if (!e->aims.are_set || e->options.for_merge) return;
    for (size_t g = 0; g < e->spool.groups; g++) is_used[e->spool.rate_class[g]] = 1;
    for (uint32_t l = 0; l < layers->n; l++) {
        if (!has_passes(layers, l, is_used)) continue;
        for (size_t g = 0; g < e->spool.groups; g++) {
            uint64_t *at = e->spool.group[g].of.chunk_at;
            at[kept + 1] = at[l + 1];
        }
        memmove(layers->end + (size_t)kept * classes, layers->end + (size_t)l * classes,
                classes * sizeof *layers->end);
        kept++;
    }
    layers->n = kept;
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

int codec_encoder_goes_by_strips(const taper_encoder *e, const taper_image *image) {
    enum { WHOLE_STATE = 192 << 20 }; /* as decoders */
    const codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    const codec_group_shape shape = codec_group_shape_of(&grid, 1);
    const uint64_t half = e->limits.max_memory / 2, most = half < WHOLE_STATE ? half : WHOLE_STATE;
    const int alone = e->options.layout != TAPER_LAYOUT_SET || e->options.group_images < 2;
    const int is_plain =
        image->channels & 1; /* alpha is a plane of its own, which is coded as a whole */
    return alone && is_plain && !e->options.lossless && !e->waiting.reference &&
           codec_strips_count(&grid, 1) > 1 &&
           (uint64_t)image->width * image->height > CODEC_GROUP_PIXELS &&
           codec_strips_bytes(&e->model->tables, &shape) > most;
}
