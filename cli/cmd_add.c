/* cmd_add.c -- adds images to a container: encodes them as it was encoded, and joins both. */
#include "cli/changing.h"
#include "cli/cli.h"
#include "cli/common/spool.h"
#include "cli/encode_verb.h"
#include <stdlib.h>
#include <string.h>

const cli_verb cli_verb_add = {
    .name = "add",
    .run = cmd_add,
    .what = "add images to a container",
    .synopsis = "[options] CONTAINER INPUT...",
    .options = cli_encode_options,
    .uses = cli_encode_uses,
    .about =
        "Inputs are those of `encode`, and so are the options. The new images come after those "
        "that are there, under their names. The container is replaced in one step, once the new "
        "one is complete on the disk; -o leaves it as it is and writes another file.\n\n"
        "The images that are there are not encoded again: their data are copied. The new ones "
        "are encoded with the model of the container, in its layout. If the container ends "
        "early, because it was encoded or truncated to a size or a quality, the new images end "
        "after about as many passes; --bytes, --bpp, --bytes-per-image and --psnr choose another "
        "end, "
        "and count the new images only. If all images are exact (`encode --lossless`), so are the "
        "new ones. If it has codes for search, the new images get them, "
        "too: by the model that it carries, or that of --embed-with.\n\n"
        "A name that is in the container already is refused, with exit code 5; with -f the new "
        "image replaces the one that is there.\n\n"
        "A container that was cut by other means than `taper truncate` is refused. Images that "
        "end after different bits need different rate classes, of which a container has 16; if "
        "they do not suffice, `add` says so.",
    .examples = "taper add photos.taper new/*.jpg\n"
                "taper add -f photos.taper edited/\n"
                "taper add -o both.taper photos.taper more/\n"};

/* --- names -------------------------------------------------------------------------------- */

typedef struct known_name {
    const char *name;
    uint64_t image;
} known_name;

typedef struct adding {
    cli_change change;
    bool is_open;
    known_name *known; /* [n_known] sorted names of the container */
    size_t n_known;
    cli_model given;           /* by -m */
    taper_model *search_model; /* that the container carries, or the built-in one; or NULL */
} adding;

static int compare_names(const void *a, const void *b) {
    const known_name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static const char *name_of(const taper_container *container, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    return taper_container_get_image(container, i, &info, NULL) == TAPER_OK ? info.name : NULL;
}

static int list_names(adding *a) {
    const cli_container *c = &a->change.container;
    const uint64_t all = cli_images_in(&c->info);
    a->known = malloc(((size_t)all + 1) * sizeof *a->known);
    if (!a->known) return cli_fail("add", a->change.path, TAPER_ERR_NOMEM, NULL);
    for (uint64_t i = 0; i < all; i++) {
        const char *name = name_of(c->open, i);
        if (name) a->known[a->n_known++] = (known_name){name, i};
    }
    qsort(a->known, a->n_known, sizeof *a->known, compare_names);
    return CLI_DONE;
}

/* The image of the container that has this name; or NULL. */
static const known_name *find_name(const adding *a, const char *name) {
    const known_name wanted = {name, 0};
    return bsearch(&wanted, a->known, a->n_known, sizeof *a->known, compare_names);
}

static int check_name(void *user, const char *name) {
    const adding *a = user;
    if (a->change.common->force || !find_name(a, name)) return CLI_DONE;
    cli_error("add", a->change.path,
              "has an image '%.200s' already; give -f to replace it, or rename it first", name);
    return CLI_IO;
}

/* --- how the new images are encoded ---------------------------------------------------------- */

/* The model: that of -m, which must be the container's, or the container's own. */
static int start_model(adding *a, const char *model, cli_encode_start *start) {
    cli_container *c = &a->change.container;
    int code = model ? cli_coder_open(&a->given, "add", model, a->change.common) : CLI_DONE;
    if (code == CLI_DONE)
        code = cli_container_bind(c, a->given.model, "add", a->change.path, a->change.common);
    if (code == CLI_DONE) start->model = taper_container_model(c->open);
    return code;
}

/* Are the images of the container exact? */
static bool is_lossless(const taper_container *container, uint64_t images) {
    taper_image_info info = {.size = sizeof info};
    for (uint64_t i = 0; i < images; i++)
        if (taper_container_get_image(container, i, &info, NULL) != TAPER_OK || !info.is_exact)
            return false;
    return true;
}

static int start_search(adding *a, cli_encode_start *start) {
    const cli_container *c = &a->change.container;
    taper_error error = {0};
    if (!c->info.search_bits) return CLI_DONE;
    start->search_bits = c->info.search_bits;
    if (cli_options_given("embed-with")) return CLI_DONE;
    const char *builtin = taper_model_builtin_of(c->info.search_model_id);
    if (!c->info.search_model_bytes && !builtin) {
        cli_error("add", a->change.path,
                  "has codes for search by model %016llx; give that model with --embed-with",
                  (unsigned long long)c->info.search_model_id);
        return CLI_USAGE;
    }
    const taper_status status =
        builtin ? taper_model_builtin(&a->search_model, builtin, &error)
                : taper_container_search_model(c->open, &a->search_model, &error);
    start->search_model = a->search_model;
    return status == TAPER_OK ? CLI_DONE : cli_fail("add", a->change.path, status, &error);
}

static int open_container(void *user, const cli_common *common, const char *path,
                          const char *output, const char *model, cli_encode_start *start) {
    adding *a = user;
    int code = cli_change_open(&a->change, "add", path, output, common);
    if (code != CLI_DONE) return code;
    a->is_open = true;
    start->output = cli_change_target(&a->change);
    start->layout = a->change.container.info.layout;
    start->lossless = is_lossless(a->change.container.open, a->change.container.info.images);
    code = list_names(a);
    if (code == CLI_DONE) code = start_model(a, model, start);
    if (code == CLI_DONE) code = start_search(a, start);
    return code == CLI_DONE ? cli_change_begin(&a->change) : code;
}

/* --- joining --------------------------------------------------------------------------------- */

/* A step from container to container: into a temporary file, or the output. */
typedef struct step {
    FILE *spool; /* NULL: the output */
    taper_source made;
} step;

static taper_status begin_step(adding *a, bool is_last, step *s, taper_sink *sink,
                               taper_error *error) {
    *s = (step){.spool = NULL};
    if (is_last) {
        *sink = cli_output_sink(&a->change.out);
        return TAPER_OK;
    }
    TAPER_TRY(cli_spool_open(&s->spool, error));
    *sink = cli_spool_sink(s->spool);
    return TAPER_OK;
}

static taper_status end_step(step *s, taper_status status, taper_error *error) {
    if (status == TAPER_OK && s->spool) status = cli_spool_source(s->spool, &s->made, error);
    if (status != TAPER_OK && s->spool) fclose(s->spool), s->spool = NULL;
    return status;
}

/* The new images, their names, and which images of the container they replace. */
typedef struct replacing {
    taper_container_info made;
    taper_name *name;   /* [cli_images_in(&made)] */
    uint64_t *replaced; /* [n] numbers in the joined container */
    size_t n;
} replacing;

static int compare_numbers(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Every image of the container that has the name of a new one. Behind joining, the new images come
 * before the further names of those that were there. */
static taper_status find_replaced(const adding *a, const taper_container *made, replacing *r) {
    const taper_container_info *old = &a->change.container.info;
    const uint64_t all = cli_images_in(old), images = cli_images_in(&r->made);
    r->replaced = malloc(((size_t)all + 1) * sizeof *r->replaced);
    r->name = malloc(((size_t)images + 1) * sizeof *r->name);
    if (!r->replaced || !r->name) return TAPER_ERR_NOMEM;
    for (uint64_t i = 0; i < images; i++) {
        const char *name = name_of(made, i);
        const known_name *k = name ? find_name(a, name) : NULL;
        r->name[i].name = name;
        if (!k) continue;
        while (k > a->known && !strcmp(k[-1].name, name)) k--;
        for (; k < a->known + a->n_known && !strcmp(k->name, name) && r->n < all; k++)
            r->replaced[r->n++] = k->image + (k->image < old->images ? 0 : r->made.images);
    }
    qsort(r->replaced, r->n, sizeof *r->replaced, compare_numbers);
    return TAPER_OK;
}

/* Number the new images: they are the last images, and the last further names. */
static taper_status number_new(const adding *a, const taper_source *removed, replacing *r,
                               taper_error *error) {
    const taper_limits limits = cli_limits(a->change.common);
    const taper_open_options how = {.size = sizeof how, .limits = &limits, .without_model = 1};
    taper_container_info now = {.size = sizeof now};
    taper_container *open;
    TAPER_TRY(taper_container_open(&open, removed, &how, error));
    const taper_status status = taper_container_get_info(open, &now, error);
    taper_container_close(open);
    for (uint64_t i = 0; i < r->made.images; i++)
        r->name[i].image = now.images - r->made.images + i;
    for (uint64_t k = 0; k < r->made.further_names; k++)
        r->name[r->made.images + k].image = cli_images_in(&now) - r->made.further_names + k;
    return status;
}

/* Joined containers without what is replaced, and with the names of the new images, which joining
 * changed. */
static taper_status drop_replaced(adding *a, const taper_source *joined, replacing *r,
                                  taper_error *error) {
    const taper_limits limits = cli_limits(a->change.common);
    taper_remove_options how = {.size = sizeof how,
                                .model = taper_container_model(a->change.container.open),
                                .limits = &limits};
    step removed;
    taper_sink sink;
    TAPER_TRY(begin_step(a, false, &removed, &sink, error));
    taper_status status = cli_spool_open(&how.spool, error);
    if (status == TAPER_OK) {
        status = taper_remove(joined, r->replaced, r->n, &sink, &how, error);
        fclose(how.spool);
    }
    TAPER_TRY(end_step(&removed, status, error));
    status = number_new(a, &removed.made, r, error);
    sink = cli_output_sink(&a->change.out);
    if (status == TAPER_OK)
        status = taper_rename(&removed.made, r->name, (size_t)cli_images_in(&r->made), &sink,
                              &limits, error);
    fclose(removed.spool);
    return status;
}

/* Bytes of the images of a container: its stages of a model are no part of them. */
static uint64_t bytes_of_images(const taper_container *c, const taper_container_info *info) {
    uint64_t bytes = info->file_bytes - info->front_bytes, begin = info->front_bytes, end = 0;
    uint32_t passes;
    for (uint32_t l = 0; l < info->layers; l++, begin = end)
        if (taper_container_layer(c, TAPER_ALL_IMAGES, l, &end, &passes, NULL) == TAPER_OK &&
            taper_container_layer_stage(c, l))
            bytes -= end - begin;
    return bytes;
}

/* Where the new images have about as many passes as those that are there: the end of the nearest
 * layer; or, if there is none nearby, as many bytes per pixel. */
static taper_status find_end(const adding *a, const taper_container *made,
                             const taper_container_info *info, uint64_t *end, taper_error *error) {
    const taper_container_info *old = &a->change.container.info;
    uint32_t passes = 0, best = UINT32_MAX;
    for (uint32_t l = 0; l < info->layers; l++) {
        uint64_t cut;
        TAPER_TRY(taper_container_layer(made, TAPER_ALL_IMAGES, l, &cut, &passes, error));
        const uint32_t away = passes < old->passes ? old->passes - passes : passes - old->passes;
        if (away > best) break;
        best = away, *end = cut;
    }
    if (best <= old->passes / 8) return TAPER_OK;
    const double each =
        (double)bytes_of_images(a->change.container.open, old) / (double)old->pixels;
    *end = info->front_bytes + (uint64_t)(each * (double)info->pixels);
    return TAPER_OK;
}

/* The new images end after about as many passes as those that are there. */
static taper_status end_as_early(adding *a, const taper_source *made, step *cut,
                                 taper_error *error) {
    const taper_limits limits = cli_limits(a->change.common);
    const taper_open_options how = {.size = sizeof how, .limits = &limits, .without_model = 1};
    taper_container *open;
    taper_container_info info = {.size = sizeof info};
    uint64_t end = made->size;
    taper_sink sink;
    *cut = (step){.made = *made};
    TAPER_TRY(taper_container_open(&open, made, &how, error));
    taper_status status = taper_container_get_info(open, &info, error);
    const taper_container_info *old = &a->change.container.info;
    if (status == TAPER_OK && old->was_truncated) status = find_end(a, open, &info, &end, error);
    taper_container_close(open);
    if (status != TAPER_OK || end >= made->size) return status;
    TAPER_TRY(begin_step(a, false, cut, &sink, error));
    return end_step(cut, taper_truncate(made, end, &sink, &limits, error), error);
}

static taper_status join(adding *a, const taper_source *made, replacing *r, taper_error *error) {
    const taper_limits limits = cli_limits(a->change.common);
    const taper_source both[] = {a->change.container.source, *made};
    const taper_merge_options how = {.size = sizeof how,
                                     .limits = &limits,
                                     .model = taper_container_model(a->change.container.open)};
    step joined;
    taper_sink sink;
    TAPER_TRY(begin_step(a, !r->n, &joined, &sink, error));
    TAPER_TRY(end_step(&joined, taper_merge(both, 2, &sink, &how, error), error));
    if (!r->n) return TAPER_OK;
    const taper_status status = drop_replaced(a, &joined.made, r, error);
    fclose(joined.spool);
    return status;
}

static void tell(const adding *a, const replacing *r) {
    const uint64_t before = cli_images_in(&a->change.container.info);
    const uint64_t images = cli_images_in(&r->made);
    char replaced[48] = "";
    if (r->n) snprintf(replaced, sizeof replaced, ", %zu replaced", r->n);
    cli_note(a->change.common, "add", "%llu image%s added to %llu%s: %llu bytes after %llu, in %s",
             (unsigned long long)images, formats_plural(images, "s"), (unsigned long long)before,
             replaced, (unsigned long long)a->change.out.written,
             (unsigned long long)a->change.container.source.size, cli_change_target(&a->change));
}

static int finish(void *user, const taper_source *made, bool has_limit) {
    adding *a = user;
    taper_error error = {0};
    step cut = {.made = *made};
    replacing r = {.made = {.size = sizeof r.made}};
    const taper_limits limits = cli_limits(a->change.common);
    const taper_open_options how = {.size = sizeof how, .limits = &limits, .without_model = 1};
    taper_container *open = NULL;
    taper_status status = has_limit ? TAPER_OK : end_as_early(a, made, &cut, &error);
    if (status == TAPER_OK) status = taper_container_open(&open, &cut.made, &how, &error);
    if (status == TAPER_OK) status = taper_container_get_info(open, &r.made, &error);
    if (status == TAPER_OK) status = find_replaced(a, open, &r);
    if (status == TAPER_OK) status = join(a, &cut.made, &r, &error);
    const int code = cli_change_end(&a->change, status, &error);
    if (code == CLI_DONE) tell(a, &r);
    taper_container_close(open);
    if (cut.spool) fclose(cut.spool);
    free(r.name), free(r.replaced);
    return code;
}

int cmd_add(int argc, char **argv) {
    adding a = {.is_open = false};
    const cli_encode_target target = {&a, open_container, check_name, finish};
    cli_messages_name("encode", "add");
    const int code = cli_encode_as(&cli_verb_add, argc, argv, &target);
    taper_model_free(a.search_model);
    free(a.known);
    if (a.is_open) cli_change_close(&a.change);
    cli_model_close(&a.given);
    return code;
}
