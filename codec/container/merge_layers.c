/* merge_layers.c -- see merge_layers.h.
 *
 * A chunk is one string of the range coder, so layers are copied unchanged. Each layer has a key:
 * the passes up to its end. The layers of all shards are sorted by their keys. */
#include "codec/container/merge_layers.h"
#include "codec/taper.h"
#include <stdlib.h>
#include <string.h>

/* The keys of pixel layers, which have other places in the result than in the shards; of the only
 * layer of passes of the layout image; and of a layer that must be the last of the result but for
 * the exact one. */
static const uint64_t FIRST = 0, ONLY = UINT64_MAX - 3, ALPHA = UINT64_MAX - 2,
                      LAST = UINT64_MAX - 1, EXACT = UINT64_MAX;

typedef struct alignment {
    const formats_front *shard; /* [n] */
    codec_shard_layers *layers; /* [n] */
    size_t n;
    uint64_t **key;        /* [n][layers of the shard], ascending */
    uint64_t *all;         /* [n_all] the distinct keys of all shards, ascending */
    size_t n_all;          /* layers of the result */
    uint32_t *column;      /* [FORMATS_MAX_RATE_CLASSES][n_all] passes to each layer's end */
    uint32_t *wanted;      /* [n_all] a column to search for */
    uint32_t cut;          /* the kind of layers whose key is LAST */
    uint32_t rate_classes; /* number of columns */
    uint64_t charged;      /* bytes of these arrays */
} alignment;

/* Charge these arrays before they are allocated; they are released at the end. */
static taper_status charge(alignment *a, formats_front *f, uint64_t bytes, taper_error *error) {
    TAPER_TRY(formats_front_charge(f, bytes, error));
    a->charged += bytes;
    return TAPER_OK;
}

/* --- keys ------------------------------------------------------------------------------ */

/* The keys of one shard. Layers without a pass end at the same pass as the layer before: their keys
 * differ by a counter. */
static void own_keys(const formats_front *f, uint64_t *key) {
    const uint64_t of_kind[FORMATS_LAYER_KINDS] = {0, FIRST, ALPHA, EXACT}; /* no stages */
    uint64_t same = 0, before = 0;
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint32_t kind = formats_front_layer_kind(f, l);
        uint64_t end = formats_front_passes(f, l);
        key[l] = of_kind[kind];
        if (kind != FORMATS_LAYER_PASSES) continue;
        same = before && end == before ? same + 1 : 0;
        before = end;
        key[l] = end << 16 | same;
    }
}

static int same_columns(const formats_front *a, uint32_t s, const formats_front *b, uint32_t t) {
    for (uint32_t l = 0; l < a->layers; l++)
        if (a->layer_end[(size_t)l * a->rate_classes + s] !=
            b->layer_end[(size_t)l * b->rate_classes + t])
            return 0;
    return 1;
}

/* Nonzero if both have a rate class in common. */
static int are_alike(const formats_front *a, const formats_front *b) {
    if (a->layers != b->layers) return 0;
    for (uint32_t s = 0; s < a->rate_classes; s++)
        for (uint32_t t = 0; t < b->rate_classes; t++)
            if (same_columns(a, s, b, t)) return 1;
    return 0;
}

/* The key comes from the rate class that is furthest ahead, and shards may have different rate
 * classes. So shards that have a rate class in common use the same keys. */
static void share_keys(alignment *a, size_t s) {
    const formats_front *f = &a->shard[s];
    for (size_t r = 0; f->rate_classes > 1 && r < s; r++) {
        const formats_front *other = &a->shard[r];
        if (other->rate_classes == 1 || !are_alike(f, other)) continue;
        memcpy(a->key[s], a->key[r], f->layers * sizeof **a->key);
        return;
    }
}

/* The last layer of this kind; NULL: none. */
static uint64_t *last_of_kind(const alignment *a, size_t s, uint32_t kind) {
    for (uint32_t l = a->shard[s].layers; l-- > 0;)
        if (formats_front_layer_kind(&a->shard[s], l) == kind) return &a->key[s][l];
    return NULL;
}

/* Cut layers become the last layer, together with those that are last anyway. cut: their kind. */
static void send_last(alignment *a, int any_cut, uint32_t cut) {
    uint64_t most = 0;
    for (size_t s = 0; s < a->n; s++) {
        const uint64_t *end = last_of_kind(a, s, cut);
        most = end && *end > most ? *end : most;
    }
    for (size_t s = 0; s < a->n; s++) {
        const formats_front *f = &a->shard[s];
        uint64_t *end = last_of_kind(a, s, cut);
        const int is_image = f->layout == TAPER_LAYOUT_IMAGE;
        uint64_t *passes = is_image ? last_of_kind(a, s, FORMATS_LAYER_PASSES) : NULL;
        if (passes) *passes = cut == FORMATS_LAYER_PASSES ? LAST : ONLY;
        if (end && (f->tail || (any_cut && *end == most))) *end = LAST;
    }
}

/* Behind layers that are cut there is none; so an exact layer cannot follow. */
static taper_status check_exact(const alignment *a, uint32_t cut, taper_error *error) {
    size_t exact = a->n, ended = a->n;
    for (size_t s = 0; s < a->n; s++) {
        const formats_front *f = &a->shard[s];
        if (f->tail) ended = s;
        if (formats_front_layer_kind(f, f->layers - 1) == FORMATS_LAYER_EXACT) exact = s;
    }
    if (exact == a->n || ended == a->n || cut == FORMATS_LAYER_EXACT) return TAPER_OK;
    if (error) error->item = ended + 1;
    return formats_fail(error, TAPER_ERR_ARG,
                        "container %zu is cut, and container %zu is lossless: cut the latter, too, "
                        "or neither",
                        ended + 1, exact + 1);
}

/* The kind of the layers that are cut; FORMATS_LAYER_PASSES if none is. */
static taper_status find_cut(const alignment *a, uint32_t *cut, taper_error *error) {
    int any = 0;
    *cut = FORMATS_LAYER_PASSES;
    for (size_t s = 0; s < a->n; s++) {
        const formats_front *f = &a->shard[s];
        const uint32_t kind = formats_front_layer_kind(f, f->layers - 1);
        if (!f->tail) continue;
        if (any && kind != *cut) {
            if (error) error->item = s + 1;
            return formats_fail(error, TAPER_ERR_ARG,
                                "container %zu is cut in pixels and another one is not, or the "
                                "reverse; cut all to about the same size, or none",
                                s + 1);
        }
        any = 1, *cut = kind;
    }
    return check_exact(a, *cut, error);
}

static taper_status make_keys(alignment *a, uint32_t cut) {
    int any_cut = 0;
    size_t layers = 0;
    for (size_t s = 0; s < a->n; s++) {
        const formats_front *f = &a->shard[s];
        a->key[s] = malloc(f->layers * sizeof **a->key);
        if (!a->key[s]) return TAPER_ERR_NOMEM;
        own_keys(f, a->key[s]);
        share_keys(a, s);
        any_cut |= f->tail;
        layers += f->layers;
    }
    send_last(a, any_cut, cut);
    a->all = malloc(layers * sizeof *a->all);
    return a->all ? TAPER_OK : TAPER_ERR_NOMEM;
}

static int compare_keys(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void sort_keys(alignment *a) {
    size_t n = 0;
    for (size_t s = 0; s < a->n; s++)
        for (uint32_t l = 0; l < a->shard[s].layers; l++) a->all[n++] = a->key[s][l];
    qsort(a->all, n, sizeof *a->all, compare_keys);
    for (size_t i = 0; i < n; i++)
        if (!i || a->all[i] != a->all[i - 1]) a->all[a->n_all++] = a->all[i];
}

/* --- rate classes ---------------------------------------------------------------------- */

static void place_layers(const alignment *a, size_t s) {
    int32_t *at = a->layers[s].layer_at = a->layers[0].layer_at + s * a->n_all;
    for (size_t l = 0; l < a->n_all; l++) at[l] = -1;
    for (uint32_t own = 0; own < a->shard[s].layers; own++) {
        const uint64_t *found =
            bsearch(&a->key[s][own], a->all, a->n_all, sizeof *a->all, compare_keys);
        at[found - a->all] = (int32_t)own;
    }
}

/* The passes of a shard's rate class up to the end of each layer of the result. */
static void make_column(const alignment *a, size_t s, uint32_t rate_class) {
    const formats_front *f = &a->shard[s];
    uint32_t end = 0;
    for (size_t l = 0; l < a->n_all; l++) {
        int32_t own = a->layers[s].layer_at[l];
        if (own >= 0 && formats_front_layer_kind(f, (uint32_t)own) == FORMATS_LAYER_PASSES)
            end = f->layer_end[(size_t)own * f->rate_classes + rate_class];
        a->wanted[l] = end;
    }
}

/* Find or add the rate class of the result with the wanted column. It must not be one that other
 * rate classes of this shard use (`taken`), as the images of a rate class stay in order. Returns
 * FORMATS_MAX_RATE_CLASSES if there are too many. */
static uint32_t find_rate_class(alignment *a, uint32_t taken) {
    size_t size = a->n_all * sizeof *a->column;
    for (uint32_t t = 0; t < a->rate_classes; t++)
        if (!(taken >> t & 1) && !memcmp(a->column + t * a->n_all, a->wanted, size)) return t;
    if (a->rate_classes == FORMATS_MAX_RATE_CLASSES) return FORMATS_MAX_RATE_CLASSES;
    memcpy(a->column + a->rate_classes * a->n_all, a->wanted, size);
    return a->rate_classes++;
}

static taper_status refuse_layers(size_t s, taper_error *error) {
    formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_LAYERS, FORMATS_MAX_RATE_CLASSES,
                      "with container %zu the inputs use more than %d distinct layer layouts, the "
                      "number of rate classes of a file",
                      s + 1, FORMATS_MAX_RATE_CLASSES);
    if (error) error->item = s + 1;
    return TAPER_ERR_LIMIT;
}

/* A bit for each rate class of a shard that has images. */
static uint32_t used_classes(const formats_front *f) {
    uint32_t used = 0;
    for (uint32_t g = 0; g < f->groups; g++) used |= 1u << formats_front_rate_class(f, g);
    return used;
}

static taper_status assign_rate_classes(alignment *a, formats_front *f, taper_error *error) {
    int32_t **at = &a->layers[0].layer_at; /* of all shards */
    TAPER_TRY(formats_front_take(f, a->n * a->n_all, sizeof **at, at, error));
    for (size_t s = 0; s < a->n; s++) {
        place_layers(a, s);
        uint32_t taken = 0, used = used_classes(&a->shard[s]);
        for (uint32_t t = 0; t < a->shard[s].rate_classes; t++) {
            if (!(used >> t & 1)) continue;
            make_column(a, s, t);
            uint32_t rate_class = find_rate_class(a, taken);
            if (rate_class == FORMATS_MAX_RATE_CLASSES) return refuse_layers(s, error);
            taken |= 1u << rate_class;
            a->layers[s].rate_class_of[t] = (uint8_t)rate_class;
        }
    }
    return TAPER_OK;
}

/* The kind of layer l of the result. */
static uint32_t kind_of(const alignment *a, size_t l) {
    const uint64_t key = a->all[l];
    return key == FIRST   ? FORMATS_LAYER_FIRST
           : key == ALPHA ? FORMATS_LAYER_ALPHA
           : key == EXACT ? FORMATS_LAYER_EXACT
           : key == LAST  ? a->cut
                          : FORMATS_LAYER_PASSES;
}

/* Nonzero if layer l of the result, of one rate class, is one of passes and has none. */
static int is_empty(const alignment *a, size_t l) {
    return kind_of(a, l) == FORMATS_LAYER_PASSES && a->column[l] == (l ? a->column[l - 1] : 0);
}

/* Where one rate class is left, leave out layers that only others had: each must have a pass. */
static void drop_empty_layers(alignment *a) {
    size_t kept = 0;
    if (a->rate_classes > 1) return;
    for (size_t l = 0; l < a->n_all; l++) {
        if (is_empty(a, l)) continue;
        a->all[kept] = a->all[l];
        a->wanted[kept] = a->column[l];
        for (size_t s = 0; s < a->n; s++) a->layers[s].layer_at[kept] = a->layers[s].layer_at[l];
        kept++;
    }
    memcpy(a->column, a->wanted, kept * sizeof *a->column);
    a->n_all = kept;
}

/* The kinds of the layers, if a shard has pixel layers. */
static taper_status give_kinds(const alignment *a, formats_front *f, taper_error *error) {
    for (size_t s = 0; s < a->n; s++) f->has_pixels |= a->shard[s].has_pixels;
    if (!f->has_pixels) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, a->n_all, 1, &f->layer_kind, error));
    for (size_t l = 0; l < a->n_all; l++) f->layer_kind[l] = (uint8_t)kind_of(a, l);
    return TAPER_OK;
}

static taper_status give_layers(const alignment *a, formats_front *f, taper_error *error) {
    f->layers = (uint32_t)a->n_all;
    f->rate_classes = a->rate_classes;
    TAPER_TRY(give_kinds(a, f, error));
    TAPER_TRY(formats_front_take(f, a->n_all * a->rate_classes, sizeof *f->layer_end, &f->layer_end,
                                 error));
    for (size_t l = 0; l < a->n_all; l++)
        for (uint32_t t = 0; t < a->rate_classes; t++)
            f->layer_end[l * a->rate_classes + t] = a->column[t * a->n_all + l];
    return TAPER_OK;
}

static taper_status align(alignment *a, formats_front *front, taper_error *error) {
    uint64_t keys = 0;
    for (size_t s = 0; s < a->n; s++) keys += a->shard[s].layers;
    TAPER_TRY(charge(a, front, 2 * keys * sizeof *a->all, error));
    TAPER_TRY(find_cut(a, &a->cut, error));
    TAPER_TRY(make_keys(a, a->cut));
    sort_keys(a);
    if (a->n_all > FORMATS_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "together they would have %zu layers, a container has %d at most",
                            a->n_all, FORMATS_MAX_LAYERS);
    TAPER_TRY(
        charge(a, front, (FORMATS_MAX_RATE_CLASSES + 1) * a->n_all * sizeof *a->column, error));
    a->column = malloc(FORMATS_MAX_RATE_CLASSES * a->n_all * sizeof *a->column);
    a->wanted = malloc(a->n_all * sizeof *a->wanted);
    if (!a->column || !a->wanted) return TAPER_ERR_NOMEM;
    TAPER_TRY(assign_rate_classes(a, front, error));
    drop_empty_layers(a);
    return give_layers(a, front, error);
}

taper_status codec_merge_layers(const formats_front *shard, size_t n, codec_shard_layers *layers,
                                formats_front *result, taper_error *error) {
    alignment a = {.shard = shard, .layers = layers, .n = n};
    TAPER_TRY(charge(&a, result, n * sizeof *a.key, error));
    a.key = calloc(n, sizeof *a.key);
    taper_status status = a.key ? align(&a, result, error) : TAPER_ERR_NOMEM;
    for (size_t s = 0; a.key && s < n; s++) free(a.key[s]);
    free(a.key), free(a.all), free(a.column), free(a.wanted);
    formats_account_give(&result->account, a.charged);
    return status == TAPER_ERR_NOMEM ? formats_fail(error, status, "no memory for layers") : status;
}
