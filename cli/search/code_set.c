/* code_set.c -- see code_set.h. */
#include "cli/search/code_set.h"
#include "cli/common/outputs.h"
#include "cli/common/progress.h"
#include "cli/common/readahead.h"
#include "formats/bytes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 1024,            /* images of a block */
    MOST_NUMBERS = 8 << 20,      /* of a block's pixels, and of its codes */
    MOST_PIXEL_NUMBERS = 1 << 20 /* of an image that is its own code: what a search takes */
};

/* --- opening --- */

/* "-1": a minus and a number. */
static bool is_negative(const char *name) {
    return name[0] == '-' && name[1] && name[strspn(name + 1, "0123456789.") + 1] == 0;
}

int cli_refuse_negative(const formats_imageset *set, const char *verb, const char *labels) {
    for (size_t k = 0; k < formats_imageset_class_count(set); k++) {
        const char *name = formats_imageset_class_name(set, k);
        if (!is_negative(name)) continue;
        cli_error(verb, labels,
                  "the label '%s' is a negative number: leave out images without a label, or name "
                  "the class otherwise",
                  name);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

int cli_code_set_open(cli_code_set *s, char **paths, size_t n) {
    taper_error error = {0};
    cli_progress progress;
    const taper_limits limits = cli_limits(s->common);
    const formats_imageset_options o = {s->filelist, s->labels, &limits, s->follow_links};
    s->left = (cli_left_out){.common = s->common, .verb = s->verb, .output = s->output};
    cli_progress_start(&progress, s->common, "listing the inputs", 0, "files");
    taper_status status = formats_imageset_open(&s->set, (const char *const *)paths, n, &o,
                                                cli_left_out_file, &s->left, &error);
    cli_progress_end(&progress);
    if (status == TAPER_OK) return cli_refuse_negative(s->set, s->verb, s->labels);
    const bool none_usable = status == TAPER_ERR_ARG && s->left.failed && !s->labels;
    cli_left_out_tell(&s->left, NULL);
    cli_fail(s->verb, NULL, status, &error);
    return none_usable ? (int)s->left.code : (int)cli_exit_code(status);
}

void cli_code_set_close(cli_code_set *s) {
    formats_imageset_close(s->set);
    s->set = NULL;
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

/* --- what is known of the images --- */

size_t cli_code_set_images(const cli_code_set *s) { return formats_imageset_count(s->set); }

const char *cli_code_set_path(const cli_code_set *s) { return formats_imageset_path(s->set, 0); }

size_t cli_code_set_classes(const cli_code_set *s) { return formats_imageset_class_count(s->set); }

const char *cli_code_set_class(const cli_code_set *s, size_t k) {
    return formats_imageset_class_name(s->set, k);
}

int32_t cli_code_set_label(const cli_code_set *s, size_t i) {
    return formats_imageset_label(s->set, i);
}

const char *cli_code_set_name(const cli_code_set *s, size_t i, char name[CLI_IMAGE_NAME]) {
    const char *own = formats_imageset_name(s->set, i);
    if (own)
        snprintf(name, CLI_IMAGE_NAME, "%s", own);
    else
        snprintf(name, CLI_IMAGE_NAME, "%.4150s#%llu", formats_imageset_path(s->set, i),
                 (unsigned long long)formats_imageset_part(s->set, i) + 1);
    return name;
}

/* --- pixels as codes --- */

int cli_code_set_window(cli_code_set *s, codec_window *window) {
    taper_error error = {0};
    taper_image image;
    const size_t n = formats_imageset_count(s->set);
    for (size_t i = 0; i < n; i++) {
        taper_status status = formats_imageset_read(s->set, i, &image, &error);
        if (status == TAPER_ERR_IO || status == TAPER_ERR_NOMEM)
            return cli_fail(s->verb, formats_imageset_path(s->set, i), status, &error);
        if (status != TAPER_OK) continue; /* told when its code is wanted */
        formats_image_apply_alpha(&image, s->alpha);
        *window = (codec_window){image.width, image.height, image.channels == 1 ? 1 : 3, NULL};
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
    *window = (codec_window){1, 1, 3, NULL}; /* each is told, and left out */
    return CLI_DONE;
}

/* --- codes --- */

/* Images that wait for their codes. */
typedef struct block {
    size_t rows, room;
    taper_image *image; /* [room] */
    size_t *number;     /* [room] in the set */
    float *codes;       /* [room][width] */
} block;

static bool block_open(block *b, const codec_embedder *e) {
    const size_t widest = formats_larger(e->width, codec_window_values(e->window));
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

static int embed_block(const cli_code_set *s, const codec_embedder *e, block *b, cli_codes_fn *take,
                       void *user) {
    taper_error error = {0};
    if (!b->rows) return CLI_DONE;
    const taper_status status = codec_embedder_codes(e, b->image, b->rows, b->codes, &error);
    const int code = status == TAPER_OK ? take(user, b->number, b->image, b->rows, b->codes)
                                        : (int)cli_fail(s->verb, NULL, status, &error);
    block_empty(b);
    return code;
}

/* Image i into the block, or among those that are left out. When it cannot be read by the system's
 * fault the run ends: the result would be another one when all is well again. */
static int take_image(cli_code_set *s, const codec_embedder *e, cli_readahead *ahead, size_t i,
                      block *b) {
    taper_error error = {0};
    taper_image image;
    const char *path = formats_imageset_path(s->set, i);
    taper_status status = cli_readahead_next(ahead, &image, &error);
    if (status == TAPER_ERR_IO || status == TAPER_ERR_NOMEM)
        return cli_fail(s->verb, path, status, &error);
    if (status == TAPER_OK) {
        formats_image_apply_alpha(&image, s->alpha);
        status = codec_embedder_check(e, &image, &error);
        if (status == TAPER_OK) status = codec_embedder_fit(e, &image);
        if (status != TAPER_OK) formats_image_free(&image);
    }
    if (status != TAPER_OK) {
        cli_left_out_image(&s->left, path, &error);
        return CLI_DONE;
    }
    s->count++;
    s->grey += image.channels == 1 && e->window.channels == 3;
    b->number[b->rows] = i;
    b->image[b->rows++] = image;
    return CLI_DONE;
}

static int embed_all(cli_code_set *s, const codec_embedder *e, cli_readahead *ahead,
                     cli_codes_fn *take, void *user) {
    const size_t n = formats_imageset_count(s->set);
    block b = {.rows = 0};
    cli_progress progress;
    int code = block_open(&b, e) ? CLI_DONE : (int)cli_fail(s->verb, NULL, TAPER_ERR_NOMEM, NULL);
    cli_progress_start(&progress, s->common, "embedding", n, "images");
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        code = take_image(s, e, ahead, i, &b);
        if (code == CLI_DONE && b.rows == b.room) code = embed_block(s, e, &b, take, user);
        cli_progress_add(&progress, 1);
    }
    if (code == CLI_DONE) code = embed_block(s, e, &b, take, user);
    cli_progress_end(&progress);
    block_close(&b);
    return code;
}

int cli_code_set_embed(cli_code_set *s, const codec_embedder *e, cli_codes_fn *take, void *user) {
    taper_error error = {0};
    cli_readahead *ahead;
    const taper_status status = cli_readahead_new(&ahead, s->set, cli_threads(s->common), &error);
    if (status != TAPER_OK) return cli_fail(s->verb, NULL, status, &error);
    const int code = embed_all(s, e, ahead, take, user);
    cli_readahead_free(ahead);
    if (code != CLI_DONE) return code;
    cli_left_out_tell(&s->left, s->set);
    if (s->grey)
        cli_warning(s->verb, NULL,
                    "%zu of %zu image%s %s grey, and codes are of colours: each fills all channels",
                    s->grey, s->count, formats_plural(s->count, "s"), s->grey == 1 ? "is" : "are");
    if (s->count) return CLI_DONE;
    cli_error(s->verb, NULL, "no input could be used: nothing was written");
    return s->left.code;
}
