/* cmd_classify.c -- labels images by votes of their nearest labelled neighbours, and counts errors
 * if the true labels are known. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/outputs.h"
#include "cli/search/labelling.h"
#include "cli/search/suggestions.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels, *among_labels, *page, *link;
    int64_t units;
    cli_strings among;
    cli_numbers k;
    int leave_one_out, unlabelled, alpha, follow_links, frames, null_list, votes;
} settings;

enum { MOST_K = 65536 };
enum { EQUAL, BALANCED };
static const char *const votes[] = {"equal", "balanced", NULL};
enum { USE_INPUTS = 1, USE_MODEL = 2, USE_AMONG = 4 };
static const char *const uses[] = {"a run without --leave-one-out", "codes", "--among", NULL};
static const cli_option options[] = {
    {"among", 'a', CLI_STRINGS, "FILE", offsetof(settings, among),
     .help =
         "labelled images: a folder of classes, CIFAR, a container, or IDX with --among-labels"},
    {"among-labels", 0, CLI_STRING, "FILE", offsetof(settings, among_labels),
     .help = "their labels: IDX, CSV `name,label`, or one label per line", .uses = USE_AMONG},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help =
         "the model of the codes; default: that of a container; without one, pixels are compared"},
    {"neighbours", 'k', CLI_NUMBERS, "N,N", offsetof(settings, k), .initial = "5", .min = 1,
     .max = MOST_K,
     .help = "number of voting neighbours; of several numbers the first gives the labels"},
    {"votes", 0, CLI_CHOICE, "HOW", offsetof(settings, votes), .choices = votes, .initial = "equal",
     .help = "equal: each neighbour counts 1; balanced: 1 / (labelled images of its class)"},
    {"leave-one-out", 0, CLI_FLAG, .offset = offsetof(settings, leave_one_out),
     .help = "label each labelled image by the others"},
    {"unlabelled", 'u', CLI_FLAG, .offset = offsetof(settings, unlabelled),
     .help = "suggest labels for inputs without one, from those with one"},
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the labels here, not to standard output"},
    {"page", 0, CLI_STRING, "FILE", offsetof(settings, page),
     .help = "write a page here, with errors, confusions, and examples with their neighbours"},
    {"link", 0, CLI_STRING, "DIR", offsetof(settings, link),
     .help = "link each image to DIR/LABEL/NAME, which sorts a folder without copies"},
    {"units", 0, CLI_INT, "N", offsetof(settings, units), .initial = "0", .min = 0, .max = 65535,
     .help = "use the first N numbers of each code (`train-labels --nested`); 0: all",
     .uses = USE_MODEL},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "true labels of the inputs, to count errors; with --unlabelled: labels that vote",
     .uses = USE_INPUTS},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input",
     .uses = USE_INPUTS},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    CLI_FRAMES_OPTION(settings),
    CLI_ALPHA_OPTION(settings, "refuse"),
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_classify = {
    .name = "classify",
    .run = cmd_classify,
    .what = "label images by their nearest labelled neighbours",
    .synopsis = "[options] -m MODEL --among LABELLED INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Each input gets the most frequent label among its nearest labelled images; of labels "
        "with equal votes, that of the nearest image. The distance is the Euclidean distance of "
        "codes (`taper embed`). Without --model it is that of pixels, as a baseline; all images "
        "must then have one size. The search is exact. Among images at equal distance those "
        "that are first in the set vote. For binary codes, where ties are frequent, their order "
        "is independent of the set. (For bits the distance is the square root of that of `taper "
        "search` with even weights.)\n\n"
        "Standard output has CSV under the heading name,label,votes,of,nearest,distance: how "
        "many of how many neighbours voted for the label, and the nearest labelled image. Names "
        "are relative to the input folder: the file cats/old/1.png of the input cats/ is "
        "old/1.png. If the inputs have labels, from --labels, CIFAR records or folders, there "
        "is another column, truth. Then the error and the balanced error, which is the mean over "
        "classes, with their 95 % intervals, for each number of --neighbours, the errors of "
        "classes and the confusions between them are printed on standard error. "
        "Classes of both sets are matched by name.\n\n"
        "--page writes a page that works offline: the error, the confusions between classes, "
        "and for each confusion images with their five nearest neighbours; then some correctly "
        "labelled images. It needs true labels, or --leave-one-out.\n\n"
        "--link sorts files into a new folder: DIR/LABEL/NAME is a symbolic link to each input. "
        "A link that is there is replaced with -f only, and other files never.\n\n"
        "Containers (.taper, also truncated) can be used wherever images can: their codes, "
        "names and labels are read without decoding pixels. Images given together with a "
        "container are embedded by its model. Codes for search (`encode --embed-with`) and "
        "their model are used if the container has them.\n\n"
        "With --votes balanced a rare class is not outvoted by a frequent one. Use it if images of "
        "all classes are equally likely, and not if they are as frequent as the labelled ones.\n\n"
        "--json writes a line of JSON per input (\"kind\":\"label\") and, if errors were "
        "counted, a last one (\"kind\":\"errors\").\n\n"
        "--leave-one-out takes no inputs: each labelled image is labelled by the others.\n\n"
        "--unlabelled takes one set in which only some images have labels, and suggests labels "
        "for the others. Put labelled images into folders of classes and the others outside "
        "these, or give --labels, a CSV with the heading `name,label` and empty labels. The "
        "output lists the suggestions first, those with the fewest votes on top, then the given "
        "labels without votes. Correct it in a spreadsheet and pass it to `taper train-labels "
        "--labels`, with the same inputs.\n\n"
        "Inputs that cannot be used are named and skipped, and the exit code is 1. If no input "
        "can be used, the exit code says why, as with `encode`.",
    .examples =
        "taper classify -m cats.tpm --among known/ new/ >labels.csv\n"
        "taper classify -m digits.tpm --among train-images.gz --among-labels "
        "train-labels.gz \\\n"
        "  --labels t10k-labels.gz -k 1,3,5,7 -o labels.csv t10k-images.gz\n"
        "taper classify --among known/ --leave-one-out    # by pixels\n"
        "taper classify -m cats.tpm --among cats/ --leave-one-out --page errors.html >/dev/null\n"
        "taper classify --among known.taper new/         # by the container's model\n"
        "taper classify -m cats.tpm --among known/ --link sorted/ -o labels.csv new/\n"
        "taper classify -m cats.tpm --unlabelled --labels some.csv -o all.csv cats/\n"};

typedef struct state {
    settings s;
    cli_model model;
    cli_embedder embedder;
    cli_code_set among, inputs;
    cli_labelled_codes known;
    cli_class_names classes;
    cli_output out;
    size_t k[CLI_MAX_NUMBERS];
    cli_labelling labelling;
    double *weights; /* [classes.count] of votes; NULL: equal */
    cli_class_links links;
    char about[600];
} state;

/* False: the labelled images label each other. */
static bool has_inputs(const state *st) { return !st->s.leave_one_out && !st->s.unlabelled; }

/* --- before anything is searched --- */

static int open_sets(state *st, char **paths, size_t n) {
    char **among = st->s.unlabelled ? paths : (char **)st->s.among.item;
    const size_t n_among = st->s.unlabelled ? n : st->s.among.count;
    int code = cli_code_set_open(&st->among, among, n_among);
    if (code == CLI_DONE && has_inputs(st)) code = cli_code_set_open(&st->inputs, paths, n);
    const char *const outputs[] = {st->s.output, st->s.page};
    for (size_t i = 0; i < 2 && code == CLI_DONE; i++) {
        code = cli_code_set_spares(&st->among, among, n_among, outputs[i]);
        if (code == CLI_DONE && has_inputs(st))
            code = cli_code_set_spares(&st->inputs, paths, n, outputs[i]);
    }
    return code;
}

/* Open the given model, or that of a container. */
static int open_model(state *st) {
    const settings *s = &st->s;
    if (!s->model)
        return cli_code_set_model(st->among.containers ? &st->among : &st->inputs, &st->model);
    int code = cli_model_open(&st->model, "classify", s->model, &s->common);
    if (code == CLI_DONE && s->output) code = cli_output_check("classify", s->output, s->model);
    if (code == CLI_DONE && s->page) code = cli_output_check("classify", s->page, s->model);
    return code;
}

static int open_embedder(state *st) {
    cli_window window;
    int code;
    if (st->s.model || st->among.containers || st->inputs.containers) {
        code = open_model(st);
        if (code != CLI_DONE) return code;
        return cli_code_sets_embedder((cli_code_set *const[]){&st->among, &st->inputs}, 2,
                                      st->model.model, st->s.model, (size_t)st->s.units,
                                      &st->embedder);
    }
    code = cli_code_set_window(&st->among, &window);
    if (code != CLI_DONE) return code;
    cli_detail(&st->s.common, 1, "classify", "pixels are compared: %u x %u, %s", window.width,
               window.height, window.channels == 1 ? "grey" : "in colour");
    cli_embedder_open_pixels(&st->embedder, window);
    return CLI_DONE;
}

static int join_classes(state *st) {
    taper_error error = {0};
    taper_status status =
        cli_class_names_join(&st->classes, &st->among, has_inputs(st) ? &st->inputs : NULL, &error);
    if (status != TAPER_OK) return cli_fail("classify", NULL, status, &error);
    const size_t own = has_inputs(st) ? cli_code_set_classes(&st->inputs) : 0;
    st->labelling.has_truth = own || st->s.leave_one_out;
    if (st->s.page && !st->labelling.has_truth) {
        cli_error("classify", NULL,
                  "--page shows errors, and the inputs have no labels of their own: give --labels "
                  "FILE, a folder for each class, or --leave-one-out");
        return CLI_USAGE;
    }
    if (!own || !st->classes.of_first || st->classes.shared) return CLI_DONE;
    cli_error("classify", NULL,
              "no class of the inputs ('%s', ...) is one of the labelled images ('%s', ...): give "
              "labels with the same names, or the inputs without labels",
              cli_code_set_class(&st->inputs, 0), st->classes.name[0]);
    return CLI_USAGE;
}

static void warn_classes(const state *st, const size_t *members) {
    const cli_class_names *c = &st->classes;
    cli_warn_small_classes("classify", c->name, members, c->of_first);
    if (st->s.votes == EQUAL) cli_warn_unequal_classes("classify", c->name, members, c->of_first);
}

/* Check that there are enough labelled images to vote. */
static int check_k(const state *st) {
    const size_t n = st->known.n - (st->s.leave_one_out != 0);
    if (st->labelling.most_k > n) {
        cli_error("classify", NULL,
                  "-k %zu: there are only %zu labelled images; give at most that number",
                  st->labelling.most_k, n);
        return CLI_USAGE;
    }
    size_t *members = cli_labelled_codes_members(&st->known);
    const char *first = NULL;
    size_t alone = 0;
    for (size_t k = 0; members && st->s.leave_one_out && k < st->classes.of_first; k++)
        if (members[k] == 1 && !alone++) first = st->classes.name[k];
    if (alone)
        cli_warning("classify", NULL,
                    "%zu class%s of one image, for which no other image can vote (%s'%s')", alone,
                    alone == 1 ? " is" : "es are", alone == 1 ? "" : "the first: ", first);
    if (members) warn_classes(st, members);
    free(members);
    return CLI_DONE;
}

/* --- labelled images --- */

static const cli_code_set *set_of(const state *st, uint32_t number) {
    return number ? &st->inputs : &st->among;
}

static const char *name_image(void *user, const cli_seen_image *image, char *room, size_t size) {
    return size < CLI_IMAGE_NAME ? ""
                                 : cli_code_set_name(set_of(user, image->set), image->image, room);
}

static const char *name_class(void *user, int32_t label) {
    return ((const state *)user)->classes.name[label];
}

static void warn_twins(state *st) {
    const cli_twin_names names = {st, name_image, name_class};
    cli_warn_twins("classify", &st->known.seen, &names);
    if (has_inputs(st)) cli_warn_known("classify", &st->known.seen, &names);
}

/* Keep the inputs that have labels, to find labelled images with the same pixels. */
static void see_inputs(state *st, const size_t *image, const taper_image *pixels, size_t n) {
    for (size_t i = 0; i < n && pixels; i++) {
        const int32_t label = cli_code_set_label(&st->inputs, image[i]);
        if (label < 0) continue;
        cli_seen_images_add(&st->known.seen,
                            (cli_seen_image){.hash = formats_digest_image(&pixels[i]),
                                             .label = st->classes.second[label],
                                             .set = 1,
                                             .image = image[i]});
    }
}

static int weigh_votes(state *st) {
    const size_t n = st->classes.count;
    if (st->s.votes == EQUAL) return CLI_DONE;
    st->weights = malloc((n + 1) * sizeof *st->weights);
    if (!st->weights || !cli_labelled_codes_weights(&st->known, st->weights, n))
        return cli_fail("classify", NULL, TAPER_ERR_NOMEM, NULL);
    st->labelling.weights = st->weights;
    return CLI_DONE;
}

/* --- the verb --- */

/* Describe the comparison, for the page. */
static void describe(state *st) {
    const settings *s = &st->s;
    char by[300];
    if (st->embedder.model)
        snprintf(by, sizeof by, "codes of %zu numbers by the model %.200s", st->embedder.width,
                 s->model ? s->model : "of the container");
    else
        snprintf(by, sizeof by, "pixels");
    snprintf(st->about, sizeof st->about,
             "Near is by Euclidean distance of %s; the distance stands below each neighbour.%s", by,
             s->leave_one_out ? " Each labelled image was labelled by the others." : "");
    st->labelling.about = st->about;
}

static int begin(state *st) {
    cli_labelling *l = &st->labelling;
    l->known = &st->known, l->classes = &st->classes, l->k = st->k;
    l->out = st->s.output ? &st->out : NULL;
    if (st->s.page) {
        const size_t voters = st->known.n - (st->s.leave_one_out != 0);
        const int code = cli_error_page_open(&l->page, &st->known, &st->classes, st->s.page);
        if (code != CLI_DONE) return code;
        l->most_k = formats_larger(l->most_k, formats_smaller(CLI_PAGE_NEIGHBOURS, voters));
        describe(st);
    }
    if (st->s.link) {
        const int code =
            cli_class_links_open(&st->links, has_inputs(st) ? &st->inputs : &st->among, st->s.link);
        if (code != CLI_DONE) return code;
        l->links = &st->links;
    }
    return cli_labelling_begin(l, has_inputs(st) ? cli_code_set_images(&st->inputs) : st->known.n);
}

static int take_rows(void *user, const size_t *image, const taper_image *pixels, size_t n,
                     const float *codes) {
    state *st = user;
    see_inputs(st, image, pixels, n);
    return cli_labelling_take(&st->labelling, &st->inputs, image, n, codes);
}

static int finish(state *st) {
    taper_error error = {0};
    warn_twins(st);
    const taper_status status = cli_labelling_report(&st->labelling, &error);
    int code = CLI_DONE;
    if (st->s.page && status == TAPER_OK && !st->labelling.tested) {
        cli_error("classify", NULL,
                  "no image with a true label could be used: --page has no errors "
                  "to show");
        return CLI_USAGE;
    }
    if (st->s.output)
        code = cli_output_finish(&st->out, NULL, status, &error);
    else if (status != TAPER_OK)
        code = cli_fail("classify", NULL, status, &error);
    if (code == CLI_DONE) code = cli_error_page_finish(st->labelling.page);
    if (code == CLI_DONE && st->s.output) code = cli_output_close(&st->out, NULL, TAPER_OK, NULL);
    code = cli_error_page_close(st->labelling.page, code);
    st->labelling.page = NULL;
    return code;
}

static int suggest(state *st) {
    cli_output *out = st->s.output ? &st->out : NULL;
    warn_twins(st);
    const int code = cli_suggest(&st->known, st->k[0], st->weights, out);
    return code == CLI_DONE && out ? cli_output_close(out, NULL, TAPER_OK, NULL) : code;
}

static int classify(state *st, char **paths, size_t n) {
    const char *output = st->s.output;
    int code = open_sets(st, paths, n);
    if (code == CLI_DONE) code = join_classes(st);
    if (code == CLI_DONE) code = open_embedder(st);
    if (code == CLI_DONE && output)
        code = cli_output_open(&st->out, "classify", output, &st->s.common);
    if (code == CLI_DONE)
        code = cli_labelled_codes_read(&st->known, &st->among, &st->embedder, st->s.unlabelled);
    if (code == CLI_DONE) code = check_k(st);
    if (code == CLI_DONE) code = weigh_votes(st);
    if (code == CLI_DONE && st->s.unlabelled) return suggest(st);
    if (code == CLI_DONE) code = begin(st);
    if (code != CLI_DONE) return code;
    code = st->s.leave_one_out ? cli_labelling_leave_one_out(&st->labelling)
                               : cli_code_set_embed(&st->inputs, &st->embedder, take_rows, st);
    return code == CLI_DONE ? finish(st) : code;
}

/* Take the numbers of --neighbours; false: one is not an integer. */
static bool take_k(state *st) {
    for (size_t i = 0; i < st->s.k.count; i++) {
        const double k = st->s.k.item[i];
        if (k != floor(k)) return false;
        st->k[st->labelling.n_k++] = (size_t)k;
        st->labelling.most_k = formats_larger(st->labelling.most_k, (size_t)k);
    }
    return true;
}

static size_t count_stdin(char *const *paths, size_t n) {
    size_t named = 0;
    for (size_t i = 0; i < n; i++) named += strcmp(paths[i], "-") == 0;
    return named;
}

static bool any_container(char *const *paths, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (cli_kind_of(paths[i]) == CLI_IS_CONTAINER) return true;
    return false;
}

/* Check the command line. */
static int check_settings(state *st, char **paths, size_t n) {
    const cli_verb *v = &cli_verb_classify;
    const settings *s = &st->s;
    if (s->output && !strcmp(s->output, "-")) st->s.output = NULL;
    if (s->unlabelled && (s->among.count || s->leave_one_out))
        return cli_usage(v,
                         "--unlabelled takes one set, whose labelled images vote for the others; "
                         "omit --among and --leave-one-out");
    if (s->unlabelled && !n && !s->filelist)
        return cli_usage(v, "give images, some of them with labels");
    if (!s->unlabelled && !s->among.count)
        return cli_usage(v, "give labelled images: --among FILE or folder");
    if (s->leave_one_out && n)
        return cli_usage(v, "--leave-one-out labels the labelled images; omit the inputs");
    if (s->page && s->unlabelled)
        return cli_usage(v, "--page shows errors, which need true labels; omit --unlabelled");
    if (s->page && !strcmp(s->page, "-") && !s->output)
        return cli_usage(v, "--page and the labels both go to standard output; give -o FILE");
    if (s->page && s->output && !strcmp(s->page, s->output))
        return cli_usage(v, "--output and --page are the same; give two names");
    if (s->link && s->unlabelled)
        return cli_usage(v, "--link sorts labelled images; omit --unlabelled");
    if (has_inputs(st) && !n && !s->filelist)
        return cli_usage(v, "give the images to label, or --leave-one-out");
    if (count_stdin((char **)s->among.item, s->among.count) + count_stdin(paths, n) +
            (s->filelist && !strcmp(s->filelist, "-")) >
        1)
        return cli_usage(v, "standard input is named twice; name it once");
    if (!take_k(st)) return cli_usage(v, "--neighbours takes whole numbers, such as 5 or 1,3,5");
    const bool has_model = s->model || any_container((char **)s->among.item, s->among.count) ||
                           any_container(paths, n);
    cli_options_name_idle(v, (s->leave_one_out ? 0 : USE_INPUTS) | (has_model ? USE_MODEL : 0) |
                                 (s->unlabelled ? 0 : USE_AMONG));
    return CLI_DONE;
}

static void close_all(state *st) {
    formats_atomic_file_abort(st->out.file);
    cli_error_page_close(st->labelling.page, CLI_USAGE);
    cli_labelling_free(&st->labelling);
    free(st->weights);
    cli_class_names_free(&st->classes);
    cli_labelled_codes_free(&st->known);
    cli_embedder_close(&st->embedder);
    cli_code_set_close(&st->inputs), cli_code_set_close(&st->among);
    cli_model_close(&st->model);
    cli_options_free(&cli_verb_classify, &st->s);
}

int cmd_classify(int argc, char **argv) {
    state st = {.k = {0}};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_classify, argc, argv, s, &first);
    if (code >= 0) {
        cli_options_free(&cli_verb_classify, s);
        return code;
    }
    char **paths = argv + first;
    const size_t n = (size_t)(argc - first);
    code = cli_inputs_check("classify", paths, n);
    if (code == CLI_DONE) code = check_settings(&st, paths, n);
    st.among = (cli_code_set){.common = &s->common,
                              .verb = "classify",
                              .output = s->output,
                              .labels = s->among_labels,
                              .follow_links = s->follow_links,
                              .frames = s->frames,
                              .alpha = (formats_alpha)s->alpha};
    st.inputs = st.among;
    st.inputs.labels = s->labels, st.inputs.filelist = s->filelist;
    st.inputs.null_list = s->null_list;
    if (s->unlabelled) st.among = st.inputs;
    if (code == CLI_DONE) code = classify(&st, paths, n);
    if (code == CLI_DONE && s->link)
        cli_note(&s->common, "classify", "%zu link%s below %s", st.links.made,
                 formats_plural(st.links.made, "s"), s->link);
    if (code == CLI_DONE && (st.among.left.failed || st.inputs.left.failed || st.links.failed))
        code = CLI_SOME_FAILED;
    close_all(&st);
    return code;
}
