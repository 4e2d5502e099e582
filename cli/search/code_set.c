/* code_set.c -- see code_set.h. */
#include "cli/search/code_set.h"
#include "cli/common/outputs.h"
#include "cli/common/progress.h"
#include "cli/common/readahead.h"
#include "formats/bytes.h"
#include "formats/name_escape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,       /* images of a block */
    MOST_NUMBERS = 8 << 20, /* bytes of the pixels of a block, and of its codes */
    MOST_PIXEL_NUMBERS =
        1 << 20 /* most pixels of an image that is its own code; limit of the search */
};

/* --- opening --- */

/* "-1": a minus and a number. */
static bool is_negative(const char *name) {
    return name[0] == '-' && name[1] && name[strspn(name + 1, "0123456789.") + 1] == 0;
}

static int refuse_negative(const char *name, const char *verb, const char *labels) {
    if (!is_negative(name)) return CLI_DONE;
    cli_error(verb, labels,
              "the label '%s' is a negative number: leave out images without a label, or name the "
              "class otherwise",
              name);
    return CLI_USAGE;
}

int cli_refuse_negative(const formats_imageset *set, const char *verb, const char *labels) {
    int code = CLI_DONE;
    for (size_t k = 0; k < formats_imageset_class_count(set) && code == CLI_DONE; k++)
        code = refuse_negative(formats_imageset_class_name(set, k), verb, labels);
    return code;
}

static int open_containers(cli_code_set *s, char **paths, size_t n) {
    s->left = (cli_left_out){.common = s->common, .verb = s->verb};
    if (s->labels) {
        cli_error(s->verb, s->labels, "containers bring their labels; leave the label file out");
        return CLI_USAGE;
    }
    int code = cli_container_set_open(&s->containers, s->verb, paths, n, s->common);
    for (size_t k = 0; code == CLI_DONE && k < cli_code_set_classes(s); k++)
        code = refuse_negative(cli_code_set_class(s, k), s->verb, paths[0]);
    return code;
}

int cli_code_set_open(cli_code_set *s, char **paths, size_t n) {
    taper_error error = {0};
    cli_progress progress;
    const char *container = NULL;
    size_t containers = 0;
    const int code = cli_inputs_check(s->verb, paths, n);
    if (code != CLI_DONE) return code;
    for (size_t i = 0; i < n; i++)
        if (cli_kind_of(paths[i]) == CLI_IS_CONTAINER) container = paths[i], containers++;
    if (container && (containers < n || s->filelist)) {
        cli_error(s->verb, container,
                  "containers and images are mixed: use one run for each, or decode the containers "
                  "first");
        return CLI_USAGE;
    }
    if (container) return open_containers(s, paths, n);
    const taper_limits limits = cli_limits(s->common);
    const formats_imageset_options o = {.filelist = s->filelist,
                                        .null_list = s->null_list,
                                        .labels = s->labels,
                                        .limits = &limits,
                                        .follow_links = s->follow_links,
                                        .all_frames = s->frames};
    s->left = (cli_left_out){.common = s->common, .verb = s->verb, .output = s->output};
    cli_progress_start(&progress, s->common, "listing the inputs", 0, "files");
    taper_status status =
        formats_imageset_open(&s->set, (const char *const *)paths, n, &o,
                              s->is_told ? NULL : cli_left_out_file, &s->left, &error);
    cli_progress_end(&progress);
    if (status == TAPER_OK) {
        s->held = cli_memory_hold(formats_imageset_memory(s->set));
        return cli_refuse_negative(s->set, s->verb, s->labels);
    }
    const bool none_usable = status == TAPER_ERR_ARG && s->left.failed && !s->labels;
    cli_left_out_report(&s->left, NULL);
    cli_fail(s->verb, NULL, status, &error);
    return none_usable ? (int)s->left.code : (int)cli_exit_code(status);
}

void cli_code_set_close(cli_code_set *s) {
    formats_imageset_close(s->set);
    cli_container_set_close(s->containers);
    cli_memory_release(s->held);
    s->set = NULL, s->containers = NULL, s->held = 0;
}

int cli_code_set_spares(const cli_code_set *s, char **paths, size_t n, const char *output) {
    if (!output || !cli_is_same_file(output, output)) return CLI_DONE; /* does not exist */
    for (size_t i = 0; i < n; i++)
        if (cli_output_check(s->verb, output, paths[i]) != CLI_DONE) return CLI_USAGE;
    const char *const list[] = {s->labels, s->filelist};
    for (size_t i = 0; i < 2; i++)
        if (list[i] && cli_output_check(s->verb, output, list[i]) != CLI_DONE) return CLI_USAGE;
    const char *before = NULL;
    for (size_t i = 0; s->set && i < formats_imageset_count(s->set); i++) {
        const char *path = formats_imageset_path(s->set, i);
        if (path != before && cli_output_check(s->verb, output, path) != CLI_DONE) return CLI_USAGE;
        before = path;
    }
    return CLI_DONE;
}

/* --- properties of the images --- */

size_t cli_code_set_images(const cli_code_set *s) {
    return s->containers ? cli_container_set_images(s->containers) : formats_imageset_count(s->set);
}

/* Path of the file with image i; *part: number of the image in it, from 0. */
static const char *path_of(const cli_code_set *s, size_t i, size_t *part) {
    if (s->containers) return cli_container_set_path(s->containers, i, part);
    *part = (size_t)formats_imageset_part(s->set, i);
    return formats_imageset_path(s->set, i);
}

const char *cli_code_set_path(const cli_code_set *s) {
    size_t part;
    return path_of(s, 0, &part);
}

size_t cli_code_set_classes(const cli_code_set *s) {
    return s->containers ? cli_container_set_classes(s->containers)
                         : formats_imageset_class_count(s->set);
}

const char *cli_code_set_class(const cli_code_set *s, size_t k) {
    return s->containers ? cli_container_set_class(s->containers, k)
                         : formats_imageset_class_name(s->set, k);
}

int32_t cli_code_set_label(const cli_code_set *s, size_t i) {
    return s->containers ? cli_container_set_label(s->containers, i)
                         : formats_imageset_label(s->set, i);
}

const char *cli_code_set_name(const cli_code_set *s, size_t i, char name[CLI_IMAGE_NAME]) {
    size_t part;
    const char *own =
        s->containers ? cli_container_set_name(s->containers, i) : formats_imageset_name(s->set, i);
    const char *path = path_of(s, i, &part);
    char *text = own ? NULL : formats_name_escape(path);
    if (own)
        snprintf(name, CLI_IMAGE_NAME, "%s", own);
    else
        snprintf(name, CLI_IMAGE_NAME, "%.4150s#%llu", text ? text : path,
                 (unsigned long long)part + 1);
    free(text);
    return name;
}

taper_status cli_code_set_picture(const cli_code_set *s, size_t i, taper_image *out,
                                  taper_error *error) {
    if (s->containers) return cli_container_set_picture(s->containers, i, out, error);
    const taper_status status = formats_imageset_read(s->set, i, out, NULL, error);
    if (status == TAPER_OK) formats_image_apply_alpha(out, s->alpha);
    return status;
}

/* --- the model -------------------------------------------------------------------------- */

int cli_code_set_model(const cli_code_set *s, cli_model *model) {
    return cli_container_set_model(s->containers, model);
}

int cli_code_sets_embedder(cli_code_set *const *sets, size_t n, const taper_model *model,
                           const char *path, size_t units, cli_embedder *e) {
    taper_error error = {0};
    const cli_code_set *first = sets[0];
    bool has_images = false;
    for (size_t i = 0; i < n; i++) {
        has_images = has_images || sets[i]->set;
        if (!path && sets[i]->containers) path = cli_code_set_path(sets[i]);
    }
    const taper_status status =
        cli_embedder_open(e, model, units, has_images, cli_threads(first->common), &error);
    if (status != TAPER_OK) return cli_fail(first->verb, path, status, &error);
    int code = CLI_DONE;
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        cli_container_set *containers = sets[i]->containers;
        if (!containers) continue;
        code = cli_container_set_bind(containers, model);
        if (cli_container_set_search_model(containers) == cli_model_info(model).id)
            e->scales = true; /* as the images of the given codes were read */
    }
    return code;
}

/* --- pixels as codes --- */

int cli_code_set_window(cli_code_set *s, cli_window *window) {
    taper_error error = {0};
    taper_image image;
    const size_t n = formats_imageset_count(s->set);
    for (size_t i = 0; i < n; i++) {
        taper_status status = formats_imageset_read(s->set, i, &image, NULL, &error);
        if (formats_is_system_error(status))
            return cli_fail(s->verb, formats_imageset_path(s->set, i), status, &error);
        if (status != TAPER_OK) continue; /* reported when its code is computed */
        formats_image_apply_alpha(&image, s->alpha);
        *window = (cli_window){image.width, image.height, image.channels == 1 ? 1 : 3};
        const bool has_alpha = formats_image_has_alpha(&image);
        formats_image_free(&image);
        if (has_alpha) continue;
        if ((uint64_t)window->width * window->height * window->channels <= MOST_PIXEL_NUMBERS)
            return CLI_DONE;
        cli_error(s->verb, formats_imageset_path(s->set, i),
                  "%u x %u pixels are too many to be compared one by one; give a model: -m MODEL",
                  window->width, window->height);
        return CLI_LIMIT;
    }
    *window = (cli_window){1, 1, 3}; /* each is reported and skipped */
    return CLI_DONE;
}

/* --- codes --- */

/* A block of images whose codes are not computed yet. */
typedef struct block {
    size_t rows, room;
    taper_image *image; /* [room] */
    size_t *number;     /* [room] numbers in the set */
    float *codes;       /* [room][width] */
} block;

static bool block_open(block *b, const cli_embedder *e) {
    const size_t widest =
        formats_larger(e->width, (size_t)e->window.width * e->window.height * e->window.channels);
    b->room = formats_larger(1, formats_smaller(MOST_ROWS, MOST_NUMBERS / widest));
    b->image = malloc(b->room * sizeof *b->image);
    b->number = malloc(b->room * sizeof *b->number);
    b->codes = malloc(b->room * e->width * sizeof *b->codes);
    return b->image && b->number && b->codes;
}

static void block_empty(block *b) {
    while (b->rows) formats_image_free(&b->image[--b->rows]);
}

static void block_close(block *b) {
    block_empty(b);
    free(b->image), free(b->number), free(b->codes);
}

static int embed_block(const cli_code_set *s, const cli_embedder *e, block *b, cli_codes_fn *take,
                       void *user) {
    taper_error error = {0};
    if (!b->rows) return CLI_DONE;
    const taper_status status = cli_embedder_codes(e, b->image, b->rows, b->codes, &error);
    const int code = status == TAPER_OK ? take(user, b->number, b->image, b->rows, b->codes)
                                        : (int)cli_fail(s->verb, NULL, status, &error);
    block_empty(b);
    return code;
}

/* Add image i to the block, or report that it is skipped. */
static int take_image(cli_code_set *s, const cli_embedder *e, cli_readahead *ahead, size_t i,
                      block *b) {
    taper_error error = {0};
    taper_image image;
    const char *path = formats_imageset_path(s->set, i);
    taper_status status = cli_readahead_next(ahead, &image, NULL, &error);
    if (status == TAPER_OK) {
        formats_image_apply_alpha(&image, s->alpha);
        status = cli_embedder_check(e, &image, &error);
        if (status == TAPER_OK) status = cli_embedder_fit(e, &image, &error);
        if (status != TAPER_OK) formats_image_free(&image);
    }
    if (status != TAPER_OK) return cli_left_out_image(&s->left, path, status, &error);
    s->count++;
    s->grey += image.channels == 1 && e->window.channels == 3;
    b->number[b->rows] = i;
    b->image[b->rows++] = image;
    return CLI_DONE;
}

/* The images to embed. */
static size_t end_of(const cli_code_set *s) { return s->end ? s->end : cli_code_set_images(s); }
static size_t count_of(const cli_code_set *s) { return end_of(s) - s->first; }

static int embed_all(cli_code_set *s, const cli_embedder *e, cli_readahead *ahead,
                     cli_codes_fn *take, void *user) {
    const size_t end = end_of(s);
    block b = {.rows = 0};
    cli_progress progress;
    int code = block_open(&b, e) ? CLI_DONE : (int)cli_fail(s->verb, NULL, TAPER_ERR_NOMEM, NULL);
    cli_progress_start(&progress, s->common, "embedding", count_of(s), "images");
    for (size_t i = s->first; i < end && code == CLI_DONE; i++) {
        code = take_image(s, e, ahead, i, &b);
        if (code == CLI_DONE && b.rows == b.room) code = embed_block(s, e, &b, take, user);
        cli_progress_add(&progress, 1);
    }
    if (code == CLI_DONE) code = embed_block(s, e, &b, take, user);
    cli_progress_end(&progress);
    block_close(&b);
    return code;
}

/* Add the code of image i of a container to the block, or report that it is skipped. */
static int take_code(cli_code_set *s, const cli_embedder *e, size_t i, block *b) {
    taper_error error = {0};
    char name[CLI_IMAGE_NAME];
    uint32_t windows, known = 0;
    taper_image shape;
    taper_status status = cli_container_set_shape(s->containers, i, &shape, &windows, &error);
    if (status == TAPER_OK) status = cli_embedder_check(e, &shape, &error);
    if (status == TAPER_OK && windows != 1)
        status = formats_fail(&error, TAPER_ERR_UNSUPPORTED,
                              "image is %u windows of the model, which have a code each; only "
                              "images of one window are searched",
                              windows);
    if (status == TAPER_OK)
        status = cli_container_set_code(s->containers, i, (uint32_t)e->width,
                                        b->codes + b->rows * e->width, &known, &error);
    if (status == TAPER_ERR_LIMIT || formats_is_system_error(status))
        return cli_fail(s->verb, cli_code_set_name(s, i, name), status, &error);
    if (status == TAPER_ERR_CORRUPT && s->damaged++)
        s->left.failed++; /* report only the first, because a group may have thousands of images */
    else if (status != TAPER_OK)
        cli_left_out_image(&s->left, cli_code_set_name(s, i, name), status, &error);
    else if (!known)
        s->empty++;
    if (status != TAPER_OK || !known) return CLI_DONE;
    s->count++;
    s->grey += shape.channels == 1 && e->window.channels == 3;
    b->number[b->rows++] = i;
    return CLI_DONE;
}

static int take_codes(cli_code_set *s, const cli_embedder *e, cli_codes_fn *take, void *user) {
    const size_t end = end_of(s);
    block b = {.rows = 0};
    cli_progress progress;
    int code = block_open(&b, e) ? CLI_DONE : (int)cli_fail(s->verb, NULL, TAPER_ERR_NOMEM, NULL);
    cli_progress_start(&progress, s->common, "reading codes", count_of(s), "images");
    for (size_t i = s->first; i < end && code == CLI_DONE; i++) {
        code = take_code(s, e, i, &b);
        if (code == CLI_DONE && b.rows == b.room) {
            code = take(user, b.number, NULL, b.rows, b.codes);
            b.rows = 0;
        }
        cli_progress_add(&progress, 1);
    }
    if (code == CLI_DONE && b.rows) code = take(user, b.number, NULL, b.rows, b.codes);
    cli_progress_end(&progress);
    b.rows = 0; /* the set has no images */
    block_close(&b);
    return code;
}

/* Messages about containers whose codes were read. */
static int tell_codes(cli_code_set *s) {
    cli_left_out_report_of(&s->left, count_of(s));
    if (s->empty && !s->count && !s->left.failed) {
        cli_error(s->verb, cli_code_set_path(s),
                  "the file is cut before its first code, or holds none: nothing was written");
        return CLI_CORRUPT;
    }
    if (s->empty) {
        cli_error(s->verb, NULL, "the cut holds nothing of %zu of %zu images: they are left out",
                  s->empty, count_of(s));
        s->left.failed += s->empty;
    }
    if (s->count && !s->common->json) cli_container_set_report(s->containers);
    return CLI_DONE;
}

int cli_code_set_embed(cli_code_set *s, const cli_embedder *e, cli_codes_fn *take, void *user) {
    taper_error error = {0};
    cli_readahead *ahead;
    int code;
    if (s->containers) {
        code = take_codes(s, e, take, user);
        if (code == CLI_DONE) code = tell_codes(s);
    } else {
        const taper_status status = cli_readahead_range(&ahead, s->set, s->first, end_of(s),
                                                        cli_threads(s->common), 0, &error);
        if (status != TAPER_OK) return cli_fail(s->verb, NULL, status, &error);
        code = embed_all(s, e, ahead, take, user);
        cli_readahead_free(ahead);
        if (code == CLI_DONE) cli_left_out_report(&s->left, s->set);
    }
    if (code != CLI_DONE) return code;
    if (s->grey)
        cli_warning(s->verb, NULL,
                    "%zu of %zu image%s %s grey, and codes are of colours: each fills all channels",
                    s->grey, s->count, formats_plural(s->count, "s"), s->grey == 1 ? "is" : "are");
    if (s->count) return CLI_DONE;
    cli_error(s->verb, NULL, "no input could be used: nothing was written");
    return s->left.code;
}
