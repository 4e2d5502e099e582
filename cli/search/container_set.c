/* container_set.c -- see container_set.h. */
#include "cli/search/container_set.h"
#include "codec/taper_model.h"
#include "codec/taper.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>

/* One container. */
typedef struct part {
    const char *path;
    cli_container file;
    size_t first;            /* number of its first image in the set */
    const int32_t *class_of; /* [classes of the container] class in the set */
    /* of the codes that were read */
    uint64_t taken, units_known, bits_known;
    uint32_t least_known; /* least known bits of a code that was read; UINT32_MAX: none */
} part;

/* The decoder of the last container that was used; only one is open, to limit memory. */
typedef struct decoding {
    taper_decoder *decoder; /* NULL: not open */
    const part *of;
} decoding;

struct cli_container_set {
    const char *verb;
    const cli_common *common;
    part *part;
    size_t parts, images;
    const char **class_name; /* [classes] borrowed from the front matter */
    size_t classes;
    int32_t *class_number; /* class numbers of all containers, one after the other */
    const taper_model *model;
    float centre;                    /* of its codes */
    uint8_t *planes;                 /* [units of the model] */
    uint64_t *word;                  /* a code for search */
    decoding codes, pictures, small; /* the state of one is for codes, or for one scale */
    bool by_search;                  /* uses the codes for search in the front matter */
};

/* --- opening -------------------------------------------------------------------------------- */

/* A class of one of the containers. */
typedef struct named {
    const char *name;
    size_t order; /* number over all containers */
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

/* same[order]: the first class with that name. */
static void find_same(named *all, size_t n, size_t *same) {
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 0, first = 0; i < n; i++) {
        if (strcmp(all[i].name, all[first].name) != 0) first = i;
        same[all[i].order] = all[first].order;
    }
}

/* Number the classes in the order of their first occurrence: number[order]. */
static void number_classes(cli_container_set *s, const size_t *same, int32_t *number) {
    size_t order = 0;
    for (size_t p = 0; p < s->parts; p++) {
        const cli_container *c = &s->part[p].file;
        s->part[p].class_of = number + order;
        for (uint32_t k = 0; k < c->info.classes; k++, order++) {
            const bool is_new = same[order] == order;
            number[order] = is_new ? (int32_t)s->classes : number[same[order]];
            if (is_new) s->class_name[s->classes++] = taper_container_class_name(c->open, k);
        }
    }
}

static taper_status join_classes(cli_container_set *s) {
    size_t n = 0, order = 0;
    for (size_t p = 0; p < s->parts; p++) n += s->part[p].file.info.classes;
    named *all = malloc((n + 1) * sizeof *all);
    size_t *same = malloc((n + 1) * sizeof *same);
    s->class_name = malloc((n + 1) * sizeof *s->class_name);
    s->class_number = malloc((n + 1) * sizeof *s->class_number);
    const bool has_room = all && same && s->class_name && s->class_number;
    for (size_t p = 0; p < s->parts && has_room; p++)
        for (uint32_t k = 0; k < s->part[p].file.info.classes; k++, order++)
            all[order] = (named){taper_container_class_name(s->part[p].file.open, k), order};
    if (has_room) find_same(all, n, same);
    if (has_room) number_classes(s, same, s->class_number);
    free(all), free(same);
    return has_room ? TAPER_OK : TAPER_ERR_NOMEM;
}

int cli_container_set_open(cli_container_set **out, const char *verb, char **paths, size_t n,
                           const cli_common *common) {
    cli_container_set *s = *out = calloc(1, sizeof *s);
    if (s) s->part = calloc(n, sizeof *s->part);
    if (!s || !s->part) {
        free(s), *out = NULL;
        return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    }
    s->verb = verb, s->common = common;
    int code = CLI_DONE;
    for (size_t p = 0; p < n && code == CLI_DONE; p++) {
        s->part[p] = (part){.path = paths[p], .first = s->images, .least_known = UINT32_MAX};
        code = cli_container_open(&s->part[p].file, verb, paths[p], common);
        if (code != CLI_DONE) break;
        s->parts++;
        s->images += (size_t)s->part[p].file.info.images;
    }
    const taper_status status = code == CLI_DONE ? join_classes(s) : TAPER_OK;
    if (status != TAPER_OK) code = cli_fail(verb, NULL, status, NULL);
    if (code == CLI_DONE) return code;
    cli_container_set_close(s);
    *out = NULL;
    return code;
}

void cli_container_set_close(cli_container_set *s) {
    if (!s) return;
    taper_decoder_free(s->codes.decoder);
    taper_decoder_free(s->pictures.decoder);
    taper_decoder_free(s->small.decoder);
    for (size_t p = 0; p < s->parts; p++) cli_container_close(&s->part[p].file);
    free(s->class_name), free(s->class_number), free(s->planes), free(s->word), free(s->part),
        free(s);
}

/* --- digests -------------------------------------------------------------------------------- */

static void put(uint64_t *digest, uint64_t number) {
    char text[40];
    snprintf(text, sizeof text, "%016llx %016llx", (unsigned long long)*digest,
             (unsigned long long)number);
    *digest = formats_digest_text(text);
}

static taper_status put_front(uint64_t *digest, const cli_container *c, uint8_t *piece, size_t room,
                              taper_error *error) {
    const uint64_t size = c->source.size;
    const uint64_t front = c->info.front_bytes < size ? c->info.front_bytes : size;
    put(digest, size < c->info.file_bytes ? size : c->info.file_bytes);
    for (uint64_t at = 0; at < front; at += room) {
        const size_t n = front - at < room ? (size_t)(front - at) : room;
        TAPER_TRY(formats_source_read(&c->source, at, piece, n, error));
        put(digest, formats_digest_bytes(piece, n));
    }
    return TAPER_OK;
}

taper_status cli_container_set_digest(const cli_container_set *s, uint64_t *digest,
                                      taper_error *error) {
    enum { PIECE = 1 << 18 };
    uint8_t *piece = malloc(PIECE);
    taper_status status =
        piece ? TAPER_OK : formats_fail(error, TAPER_ERR_NOMEM, "no memory to read containers");
    *digest = 0;
    for (size_t p = 0; p < s->parts && status == TAPER_OK; p++)
        status = put_front(digest, &s->part[p].file, piece, PIECE, error);
    free(piece);
    return status;
}

taper_part cli_container_set_part(const cli_container_set *s) {
    taper_part said = {.size = sizeof said};
    if (s->parts == 1) taper_container_get_part(s->part[0].file.open, &said, NULL);
    return said;
}

/* --- front matter --------------------------------------------------------------------------- */

static part *part_of(const cli_container_set *s, size_t *i) {
    size_t p = s->parts - 1;
    while (s->part[p].first > *i) p--;
    *i -= s->part[p].first;
    return &s->part[p];
}

static taper_image_info image_of(const part *p, size_t i) {
    taper_image_info info = {.size = sizeof info, .label = -1};
    taper_container_get_image(p->file.open, i, &info, NULL);
    return info;
}

size_t cli_container_set_images(const cli_container_set *s) { return s->images; }

size_t cli_container_set_classes(const cli_container_set *s) { return s->classes; }

const char *cli_container_set_class(const cli_container_set *s, size_t k) {
    return s->class_name[k];
}

int32_t cli_container_set_label(const cli_container_set *s, size_t i) {
    const part *p = part_of(s, &i);
    const int32_t label = image_of(p, i).label;
    return label < 0 ? -1 : p->class_of[label];
}

const char *cli_container_set_name(const cli_container_set *s, size_t i) {
    const part *p = part_of(s, &i);
    return image_of(p, i).name;
}

const char *cli_container_set_path(const cli_container_set *s, size_t i, size_t *number) {
    const part *p = part_of(s, &i);
    *number = i;
    return p->path;
}

/* --- codes ---------------------------------------------------------------------------------- */

/* The model that decodes the first container: its own. */
static int bind_first(const cli_container_set *s) {
    part *p = &s->part[0];
    if (taper_container_model(p->file.open)) return CLI_DONE;
    return cli_container_bind(&p->file, NULL, s->verb, p->path, s->common);
}

int cli_container_set_model(const cli_container_set *s, cli_model *model) {
    const uint64_t id = cli_container_set_search_model(s);
    *model = (cli_model){0};
    if (!id) {
        const int code = bind_first(s);
        model->model = taper_container_model(s->part[0].file.open);
        return code;
    }
    for (size_t i = 0; i < s->parts; i++) {
        const part *p = &s->part[i];
        taper_error error = {0};
        if (!p->file.info.search_model_bytes) continue;
        const taper_status status = taper_container_search_model(p->file.open, &model->own, &error);
        model->model = model->own;
        return status ? (int)cli_fail(s->verb, p->path, status, &error) : CLI_DONE;
    }
    const char *builtin = taper_model_builtin_of(id);
    if (builtin) return cli_model_open(model, s->verb, builtin, s->common);
    cli_error(s->verb, s->part[0].path,
              "its codes for search are of model %016llx, which it does not carry: give it with -m",
              (unsigned long long)id);
    return CLI_USAGE;
}

uint64_t cli_container_set_search_model(const cli_container_set *s) {
    const taper_container_info *first = &s->part[0].file.info;
    for (size_t p = 0; p < s->parts; p++) {
        const taper_container_info *f = &s->part[p].file.info;
        if (!f->search_bits || f->search_model_id != first->search_model_id) return 0;
    }
    return first->search_model_id;
}

/* Codes with more bits than the model has are not from this model. */
static int bind_search(cli_container_set *s, const taper_model_info *model) {
    enum { MOST_WORDS = 65536 / 64 };
    s->word = malloc(MOST_WORDS * sizeof *s->word);
    if (!s->word) return cli_fail(s->verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t p = 0; p < s->parts; p++) {
        if (s->part[p].file.info.search_bits <= model->units && model->binary) continue;
        cli_error(s->verb, s->part[p].path,
                  "its codes for search have %u bits, and their model makes %u %s: fetch the file "
                  "again",
                  s->part[p].file.info.search_bits, model->units,
                  model->binary ? "bits" : "numbers");
        return CLI_CORRUPT;
    }
    return CLI_DONE;
}

/* The error that the model is neither that of the codes for search nor that of the pictures. */
static bool refuse_other_model(const cli_container_set *s, uint64_t id) {
    const uint64_t wanted = cli_container_set_search_model(s);
    if (!wanted || s->part[0].file.info.model_id == id) return false;
    cli_error(s->verb, s->part[0].path,
              "its codes for search are of model %016llx, and this is %016llx: give the model that "
              "made them with -m",
              (unsigned long long)wanted, (unsigned long long)id);
    return true;
}

/* Open the decoder of this container, with half of the memory. */
static taper_status decode_part(const cli_container_set *s, decoding *d, const part *p,
                                const taper_model *model, taper_error *error) {
    const taper_decode_options options = {.size = sizeof options,
                                          .max_memory = cli_limits(s->common).max_memory / 2};
    if (d->decoder && d->of == p) return TAPER_OK;
    taper_decoder_free(d->decoder);
    d->decoder = NULL, d->of = p;
    if (!taper_container_model(p->file.open))
        TAPER_TRY(taper_container_bind(p->file.open, model, error));
    return taper_decoder_new(&d->decoder, p->file.open, &options, error);
}

int cli_container_set_bind(cli_container_set *s, const taper_model *model) {
    s->model = model;
    const taper_model_info info = cli_model_info(model);
    s->by_search = cli_container_set_search_model(s) == info.id;
    s->centre = info.centre;
    if (s->by_search) return bind_search(s, &info);
    if (refuse_other_model(s, info.id)) return CLI_USAGE;
    s->planes = malloc(info.units);
    if (!s->planes) return cli_fail(s->verb, NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t p = s->parts; p-- > 0;) { /* the first container last, because it is used first */
        taper_error error = {0};
        const taper_status status = decode_part(s, &s->codes, &s->part[p], model, &error);
        if (status != TAPER_OK) return cli_fail(s->verb, s->part[p].path, status, &error);
    }
    return CLI_DONE;
}

taper_status cli_container_set_shape(cli_container_set *s, size_t i, taper_image *shape,
                                     uint32_t *windows, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    const part *p = part_of(s, &i);
    if (s->by_search) { /* one code for an image of any size */
        const taper_model_info m = cli_model_info(s->model);
        *windows = 1;
        *shape = (taper_image){m.window_width, m.window_height, image_of(p, i).channels, 8, NULL};
        return TAPER_OK;
    }
    TAPER_TRY(decode_part(s, &s->codes, p, s->model, error));
    TAPER_TRY(taper_container_get_image(p->file.open, i, &info, error));
    *windows = info.columns * info.rows;
    *shape = (taper_image){info.width, info.height, info.channels, info.depth, NULL};
    return TAPER_OK;
}

/* The code for search of image i of a container, as numbers; missing units are 0. */
static uint32_t search_code(const cli_container_set *s, const part *p, size_t i, uint32_t units,
                            float *code) {
    const uint32_t bits = p->file.info.search_bits, known = bits < units ? bits : units;
    memset(code, 0, units * sizeof *code);
    if (taper_container_search_code(p->file.open, i, s->word, NULL) != TAPER_OK) return 0;
    for (uint32_t b = 0; b < known; b++)
        code[b] = (float)(s->word[b / 64] >> (63 - b % 64) & 1) - s->centre;
    return known;
}

taper_status cli_container_set_code(cli_container_set *s, size_t i, uint32_t units, float *code,
                                    uint32_t *known, taper_error *error) {
    part *p = part_of(s, &i);
    *known = 0;
    if (s->by_search) {
        *known = search_code(s, p, i, units, code);
        p->units_known += *known;
    } else {
        TAPER_TRY(decode_part(s, &s->codes, p, s->model, error));
        TAPER_TRY(taper_decoder_codes(s->codes.decoder, i, units, UINT32_MAX, code, s->planes, NULL,
                                      error));
    }
    for (uint32_t u = 0; u < units && !s->by_search; u++) {
        *known += s->planes[u];
        p->units_known += s->planes[u] > 0;
    }
    p->bits_known += *known;
    p->taken += *known > 0;
    if (*known && *known < p->least_known) p->least_known = *known;
    return TAPER_OK;
}

uint32_t cli_container_set_least_bits(const cli_container_set *s) {
    uint32_t least = UINT32_MAX;
    for (size_t p = 0; p < s->parts; p++)
        if (s->part[p].least_known < least) least = s->part[p].least_known;
    return least;
}

double cli_container_set_bits(const cli_container_set *s) {
    double bits = 0.0, taken = 0.0;
    for (size_t p = 0; p < s->parts; p++) {
        bits += (double)s->part[p].bits_known;
        taken += (double)s->part[p].taken;
    }
    return taken > 0.0 ? bits / taken : 0.0;
}

taper_status cli_container_set_picture(cli_container_set *s, size_t i, taper_image *out,
                                       taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    part *p = part_of(s, &i);
    *out = (taper_image){.pixels = NULL};
    if (s->by_search && bind_first(s) != CLI_DONE) return TAPER_ERR_MODEL; /* which was printed */
    const taper_model *model =
        s->by_search ? taper_container_model(s->part[0].file.open) : s->model;
    TAPER_TRY(decode_part(s, &s->pictures, p, model, error));
    TAPER_TRY(taper_container_get_image(p->file.open, i, &info, error));
    out->pixels = malloc((size_t)info.bytes);
    if (!out->pixels) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for an image");
    const taper_status status = taper_decoder_render(s->pictures.decoder, i, out, NULL, error);
    if (status == TAPER_OK) return status;
    free(out->pixels);
    out->pixels = NULL;
    return status;
}

int cli_container_set_show(cli_container_set *s, const taper_model *model) {
    int code = CLI_DONE;
    s->model = model, s->by_search = false;
    for (size_t p = 0; p < s->parts && code == CLI_DONE; p++)
        code = cli_container_bind(&s->part[p].file, model, s->verb, s->part[p].path, s->common);
    return code;
}

taper_status cli_container_set_small(cli_container_set *s, size_t i, uint32_t least,
                                     taper_image *out, taper_image *size, bool *has_data,
                                     taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    taper_completeness done = {.passes = 0};
    const taper_limits limits = cli_limits(s->common);
    uint32_t scale = 1;
    part *p = part_of(s, &i);
    *out = *size = (taper_image){.pixels = NULL};
    TAPER_TRY(decode_part(s, &s->small, p, s->model, error));
    TAPER_TRY(taper_container_get_image(p->file.open, i, &info, error));
    *size = (taper_image){info.width, info.height, info.channels, info.depth, NULL};
    while (scale < 16 && info.width / (2 * scale) >= least && info.height / (2 * scale) >= least)
        scale *= 2;
    TAPER_TRY(formats_image_make(out, (info.width - 1) / scale + 1, (info.height - 1) / scale + 1,
                                 info.channels, info.depth, &limits, error));
    taper_status status = taper_decoder_set_scale(s->small.decoder, scale, error);
    if (status == TAPER_OK)
        status = taper_decoder_render_scaled(s->small.decoder, i, scale, out, &done, error);
    *has_data = done.passes > 0;
    if (status != TAPER_OK) formats_image_free(out);
    return status;
}

void cli_container_set_report(const cli_container_set *s) {
    for (size_t k = 0; k < s->parts; k++) {
        const part *p = &s->part[k];
        const double n = (double)(p->taken ? p->taken : 1);
        char here[64] = "";
        if (p->file.source.size < p->file.info.file_bytes)
            snprintf(here, sizeof here, "a cut, %llu of %llu bytes; ",
                     (unsigned long long)p->file.source.size,
                     (unsigned long long)p->file.info.file_bytes);
        cli_note(s->common, s->verb,
                 "%s: %s%llu code%s of %.4g known unit%s and %.4g bits in the mean", p->path, here,
                 (unsigned long long)p->taken, formats_plural(p->taken, "s"),
                 (double)p->units_known / n, p->units_known == p->taken ? "" : "s",
                 (double)p->bits_known / n);
    }
}
