/* labelled_codes.c -- see labelled_codes.h. */
#include "cli/search/labelled_codes.h"
#include <stdlib.h>
#include <string.h>

static int take_rows(void *user, const size_t *image, const taper_image *pixels, size_t n,
                     const float *codes) {
    cli_labelled_codes *l = user;
    for (size_t i = 0; i < n; i++, codes += l->width) {
        const int32_t label = cli_code_set_label(l->set, image[i]);
        const size_t row = label < 0 ? l->room - ++l->unlabelled : l->n++;
        memcpy(l->codes + row * l->width, codes, l->width * sizeof *codes);
        l->label[row] = label;
        l->image[row] = image[i];
        if (label >= 0 && pixels)
            cli_seen_images_add(&l->seen, (cli_seen_image){.hash = formats_digest_image(&pixels[i]),
                                                           .label = label,
                                                           .image = image[i]});
    }
    return CLI_DONE;
}

size_t *cli_labelled_codes_members(const cli_labelled_codes *l) {
    size_t *members = calloc(cli_code_set_classes(l->set) + 1, sizeof *members);
    for (size_t i = 0; members && i < l->n; i++) members[l->label[i]]++;
    return members;
}

bool cli_labelled_codes_weights(const cli_labelled_codes *l, double *weights, size_t classes) {
    size_t *members = cli_labelled_codes_members(l);
    const size_t n = cli_code_set_classes(l->set);
    const bool has_memory = members;
    for (size_t c = 0; c < classes; c++)
        weights[c] = has_memory && c < n && members[c] ? 1.0 / (double)members[c] : 1.0;
    free(members);
    return has_memory;
}

static int refuse_one_class(const char *verb, const char *class) {
    cli_error(verb, NULL,
              "all labelled images are of one class, '%s': give two classes or more to tell apart",
              class);
    return CLI_USAGE;
}

static int check_classes(const cli_labelled_codes *l, bool wants_rest) {
    const char *verb = l->set->verb;
    if (l->n && wants_rest && !l->unlabelled) {
        cli_error(verb, NULL,
                  "all images that can be used have labels: there is nothing to suggest; add "
                  "images without a label, or leave labels empty in the label file");
        return CLI_USAGE;
    }
    if (l->unlabelled && !wants_rest)
        cli_warning(verb, NULL, "%zu of the labelled images ha%s no label, and do%s not vote",
                    l->unlabelled, l->unlabelled == 1 ? "s" : "ve", l->unlabelled == 1 ? "es" : "");
    for (size_t i = 1; i < l->n; i++)
        if (l->label[i] != l->label[0]) return CLI_DONE;
    if (l->n) return refuse_one_class(verb, cli_code_set_class(l->set, (size_t)l->label[0]));
    cli_error(verb, NULL, "no labelled image can be used: there is nothing to vote");
    return CLI_USAGE;
}

/* Allocate for all images of the set. */
static int take_room(cli_labelled_codes *l, size_t n) {
    const char *verb = l->set->verb;
    const taper_limits limits = cli_limits(l->set->common);
    const uint64_t each = l->width * sizeof *l->codes + sizeof *l->label + sizeof *l->image;
    if (each > limits.max_memory / n) {
        taper_error error;
        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                          formats_memory_needed(&limits, n * each),
                          "codes of %zu labelled images of %zu numbers each do not fit into "
                          "--max-memory; a model of fewer units needs less",
                          n, l->width);
        return cli_fail(verb, NULL, error.status, &error);
    }
    l->held = cli_memory_hold(n * each);
    l->room = n;
    l->codes = malloc(n * l->width * sizeof *l->codes);
    l->label = malloc(n * sizeof *l->label);
    l->image = malloc(n * sizeof *l->image);
    if (l->codes && l->label && l->image) return CLI_DONE;
    cli_labelled_codes_free(l);
    return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
}

int cli_labelled_codes_read(cli_labelled_codes *l, cli_code_set *set, const cli_embedder *embedder,
                            bool wants_rest) {
    *l =
        (cli_labelled_codes){.width = embedder->width, .are_bits = embedder->is_binary, .set = set};
    const char *lone = set->set ? formats_imageset_single_class(set->set) : NULL;
    if (lone) return refuse_one_class(set->verb, lone);
    if (!cli_code_set_classes(set)) {
        cli_error(
            set->verb, cli_code_set_path(set),
            wants_rest
                ? "no image has a label, so there are no votes: give --labels FILE with labels "
                  "for some of them, or a folder for each class, next to images without one"
                : "the labelled images have no labels: give --among-labels FILE, or with "
                  "--among a folder that has a folder for each of its classes, two at least");
        return CLI_USAGE;
    }
    int code = take_room(l, cli_code_set_images(set));
    if (code == CLI_DONE) code = cli_code_set_embed(set, embedder, take_rows, l);
    if (code == CLI_DONE) code = check_classes(l, wants_rest);
    if (code == CLI_DONE) {
        l->rest = l->codes + (l->room - l->unlabelled) * l->width;
        l->rest_image = l->image + (l->room - l->unlabelled);
    }
    if (code != CLI_DONE) cli_labelled_codes_free(l);
    return code;
}

void cli_labelled_codes_free(cli_labelled_codes *l) {
    free(l->codes), free(l->label), free(l->image);
    cli_seen_images_free(&l->seen);
    cli_memory_release(l->held);
    *l = (cli_labelled_codes){.n = 0};
}
