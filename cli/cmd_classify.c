/* cmd_classify.c -- labels of images by the votes of their nearest neighbours among labelled ones,
 * and how often these labels are wrong where the images have labels of their own. */
#include "cli/cli.h"
#include "cli/common/inputs.h"
#include "cli/common/json.h"
#include "cli/common/outputs.h"
#include "cli/common/plain_text.h"
#include "cli/common/progress.h"
#include "cli/labelled_codes.h"
#include "cli/search/class_names.h"
#include "cli/search/error_report.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output, *model, *filelist, *labels, *among_labels;
    cli_strings among;
    cli_numbers k;
    int leave_one_out, alpha, follow_links;
} settings;

enum { MOST_K = 65536, SEARCHED = 1024, MOST_FOUND = 1 << 18 };
enum { USE_INPUTS = 1 };
static const char *const uses[] = {"a run without --leave-one-out", NULL};
static const cli_option options[] = {
    {"among", 'a', CLI_STRINGS, "FILE", offsetof(settings, among),
     .help = "labelled images: a folder of classes, CIFAR, IDX with --among-labels"},
    {"among-labels", 0, CLI_STRING, "FILE", offsetof(settings, among_labels),
     .help = "their labels: IDX, or CSV `name,label`, or one label a line"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "makes the codes that are compared; without it pixels are"},
    {"neighbours", 'k', CLI_NUMBERS, "N,N", offsetof(settings, k), .initial = "5", .min = 1,
     .max = MOST_K, .help = "how many vote; of several, labels are by the first"},
    {"leave-one-out", 0, CLI_FLAG, .offset = offsetof(settings, leave_one_out),
     .help = "label each labelled image by the others"},
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the labels here instead of to standard output"},
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "true labels of the inputs, to count errors by", .uses = USE_INPUTS},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read names of inputs from this file, one a line; - is standard input",
     .uses = USE_INPUTS},
    CLI_FOLLOW_OPTION(settings),
    CLI_ALPHA_OPTION(settings),
    CLI_THREADS_OPTION(settings),
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_classify = {
    .name = "classify",
    .run = cmd_classify,
    .what = "labels of images by their nearest neighbours",
    .synopsis = "[options] -m MODEL --among LABELLED INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Each input gets the label that most of its nearest labelled images have; among labels of "
        "as many votes the one whose nearest voter is nearest. Near is by Euclidean distance of "
        "codes (`taper embed`); without --model, of pixels, all of one size: what a model should "
        "be better than. The search is exact.\n\n"
        "Standard output has CSV: name,label,votes,of,nearest,distance under a heading: who votes "
        "for the label out of how many, and the nearest labelled image. Where the inputs have "
        "labels of their own, from --labels, CIFAR records or folders, there is another column, "
        "truth. The error with its 95 % interval, for each number of votes that "
        "--neighbours lists, and which class was taken for which then end the run, on standard "
        "error. Classes of both sets are the same where their names are.\n\n"
        "--json writes a line of JSON for each input (\"kind\":\"label\") and, where errors were "
        "counted, a last one (\"kind\":\"errors\").\n\n"
        "--leave-one-out has no inputs: each labelled image is labelled by the others.\n\n"
        "An input that cannot be used is named and left out; the exit code is then 1, and when "
        "that is all inputs it says why, as with `encode`.",
    .examples = "taper classify -m cats.tpm --among known/ new/ >labels.csv\n"
                "taper classify -m digits.tpm --among train-images.gz --among-labels "
                "train-labels.gz \\\n"
                "  --labels t10k-labels.gz -k 1,3,5,7 -o labels.csv t10k-images.gz\n"
                "taper classify --among known/ --leave-one-out    # by pixels\n"};

typedef struct state {
    settings s;
    cli_model model;
    codec_embedder embedder;
    cli_code_set among, inputs;
    cli_labelled_codes known;
    cli_class_names classes;
    size_t k[CLI_MAX_NUMBERS], n_k, most_k; /* of votes; the largest is searched for */
    bool has_truth;
    cli_output out;
    /* of a search */
    uint32_t *neighbours; /* [searched][most_k] */
    double *distances;
    int32_t *voted; /* [n_k][searched] */
    size_t searched;
    /* of those that have a true label */
    int32_t *truth, *guess; /* [room], [n_k][room] */
    size_t tested, room;
    size_t strangers; /* of a class that no labelled image has */
} state;

/* --- a line for each image --- */

static size_t votes_for(const state *st, const uint32_t *neighbours, int32_t label) {
    size_t votes = 0;
    for (size_t i = 0; i < st->k[0]; i++) votes += st->known.label[neighbours[i]] == label;
    return votes;
}

/* What is told of row i of a search, which is image `number` of a set. */
typedef struct verdict {
    const formats_imageset *set;
    size_t number;
    const char *label, *truth; /* truth: NULL where it is not known */
    size_t votes;
    size_t nearest; /* image of the labelled set */
    double distance;
} verdict;

static void put_csv(const state *st, const verdict *v, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_put_csv(to, cli_image_name(v->set, v->number, name));
    fputc(',', to);
    cli_put_csv(to, v->label);
    fprintf(to, ",%zu,%zu,", v->votes, st->k[0]);
    cli_put_csv(to, cli_image_name(st->among.set, v->nearest, name));
    fprintf(to, ",%.9g", v->distance);
    if (st->has_truth) fputc(',', to), cli_put_csv(to, v->truth ? v->truth : "");
    fputc('\n', to);
}

static void put_json(const state *st, const verdict *v, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", "label");
    cli_json_string(&j, "name", cli_image_name(v->set, v->number, name));
    cli_json_string(&j, "label", v->label);
    cli_json_uint(&j, "votes", v->votes);
    cli_json_uint(&j, "of", st->k[0]);
    cli_json_string(&j, "nearest", cli_image_name(st->among.set, v->nearest, name));
    cli_json_number(&j, "distance", v->distance);
    if (st->has_truth) cli_json_string(&j, "truth", v->truth);
    cli_json_end(&j);
}

/* The class of an image by its own label, or -1. */
static int32_t truth_of(const state *st, const formats_imageset *set, size_t number) {
    const int32_t label = formats_imageset_label(set, number);
    return label < 0 || set == st->among.set ? label : st->classes.second[label];
}

/* Keep row i's labels, to count errors by. */
static void keep(state *st, size_t i, int32_t truth) {
    if (truth < 0) return;
    st->strangers += (size_t)truth >= st->classes.of_first;
    for (size_t k = 0; k < st->n_k; k++)
        st->guess[k * st->room + st->tested] = st->voted[k * st->searched + i];
    st->truth[st->tested++] = truth;
}

static taper_status print_to_stdout(void *user, const void *bytes, size_t n) {
    (void)user;
    fwrite(bytes, 1, n, stdout); /* main looks whether it worked */
    return TAPER_OK;
}

static taper_sink sink_of(state *st) {
    return st->s.output ? cli_output_sink(&st->out) : (taper_sink){.write = print_to_stdout};
}

/* n rows of a search, which are these images of the set. */
static taper_status put_rows(state *st, const formats_imageset *set, const size_t *image,
                             size_t n) {
    cli_text text;
    const taper_sink sink = sink_of(st);
    TAPER_TRY(cli_text_open(&text));
    for (size_t i = 0; i < n; i++) {
        const uint32_t *near = st->neighbours + i * st->most_k;
        const int32_t truth = truth_of(st, set, image[i]), label = st->voted[i];
        const verdict v = {.set = set,
                           .number = image[i],
                           .label = st->classes.name[label],
                           .truth = truth < 0 ? NULL : st->classes.name[truth],
                           .votes = votes_for(st, near, label),
                           .nearest = st->known.image[near[0]],
                           .distance = sqrt(st->distances[i * st->most_k])};
        (st->s.common.json ? put_json : put_csv)(st, &v, text.to);
        keep(st, i, truth);
    }
    return cli_text_write(&text, &sink);
}

/* --- searching --- */

static unsigned search_threads(const cli_common *common) {
    enum { MOST = 256 };
    return (unsigned)formats_smaller(cli_threads(common), MOST);
}

static taper_status search_rows(state *st, const float *queries, size_t first, size_t n,
                                taper_error *error) {
    const cli_labelled_codes *known = &st->known;
    const taper_search search = {.references = known->codes,
                                 .n_references = known->n,
                                 .queries = queries,
                                 .n_queries = n,
                                 .first = first,
                                 .width = known->width,
                                 .k = st->most_k,
                                 .threads = search_threads(&st->s.common)};
    TAPER_TRY(taper_nearest(&search, st->neighbours, st->distances, error));
    for (size_t k = 0; k < st->n_k; k++) {
        const taper_votes votes = {st->neighbours,
                                   n,
                                   st->most_k,
                                   st->k[k],
                                   known->label,
                                   known->n,
                                   (uint32_t)st->classes.count};
        TAPER_TRY(taper_vote(&votes, st->voted + k * st->searched, error));
    }
    return TAPER_OK;
}

/* Label images of the set by their codes; codes NULL: labelled ones, from `first` on, by the
 * others. */
static int label_rows(state *st, const formats_imageset *set, const size_t *image, size_t n,
                      const float *codes, size_t first) {
    for (size_t i = 0; i < n; i += st->searched) {
        taper_error error = {0};
        const size_t some = formats_smaller(st->searched, n - i);
        taper_status status = search_rows(st, codes ? codes + i * st->known.width : NULL,
                                          codes ? 0 : first + i, some, &error);
        if (status != TAPER_OK) return cli_fail("classify", NULL, status, &error);
        status = put_rows(st, set, image + i, some);
        if (status == TAPER_OK) continue;
        return st->s.output ? cli_output_close(&st->out, NULL, status, NULL)
                            : (int)cli_fail("classify", NULL, status, NULL);
    }
    return CLI_DONE;
}

static int take_rows(void *user, const size_t *image, size_t n, const float *codes) {
    state *st = user;
    return label_rows(st, st->inputs.set, image, n, codes, 0);
}

static int leave_one_out(state *st) {
    const cli_labelled_codes *known = &st->known;
    cli_progress progress;
    int code = CLI_DONE;
    cli_progress_start(&progress, &st->s.common, "searching", known->n, "images");
    for (size_t i = 0; i < known->n && code == CLI_DONE; i += SEARCHED) {
        const size_t n = formats_smaller(SEARCHED, known->n - i);
        code = label_rows(st, st->among.set, known->image + i, n, NULL, i);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    return code;
}

/* --- errors --- */

static taper_status count_errors(state *st, uint64_t *confusion, taper_error_rate *rate,
                                 taper_error *error) {
    for (size_t k = 0; k < st->n_k; k++)
        TAPER_TRY(taper_count_errors(st->guess + k * st->room, st->truth, st->tested,
                                     (uint32_t)st->classes.count, k ? NULL : confusion, &rate[k],
                                     error));
    return TAPER_OK;
}

static taper_status report_json(state *st, const cli_error_report *report) {
    cli_text text;
    const taper_sink sink = sink_of(st);
    TAPER_TRY(cli_text_open(&text));
    cli_error_report_json(report, text.to);
    return cli_text_write(&text, &sink);
}

/* How often labels were wrong, where the truth is known. */
static taper_status report_errors(state *st, taper_error *error) {
    taper_error_rate rate[CLI_MAX_NUMBERS];
    const size_t n = st->classes.count;
    uint64_t *confusion = n <= CLI_MOST_CONFUSED ? malloc(n * n * sizeof *confusion) : NULL;
    const bool is_short = n <= CLI_MOST_CONFUSED && !confusion;
    taper_status status = is_short     ? TAPER_ERR_NOMEM
                          : st->tested ? count_errors(st, confusion, rate, error)
                                       : TAPER_OK;
    const cli_error_report report = {st->n_k, st->k, rate, st->classes.name, n, confusion};
    if (st->strangers)
        cli_warning("classify", NULL,
                    "%zu input%s of a class that no labelled image has: counted as wrong",
                    st->strangers, st->strangers == 1 ? " is" : "s are");
    if (status == TAPER_OK && st->tested && st->s.common.json)
        status = report_json(st, &report);
    else if (status == TAPER_OK && st->tested && !st->s.common.quiet) {
        fflush(stdout); /* first the labels, where both are one file */
        cli_error_report_print(&report, stderr);
    }
    free(confusion);
    return status;
}

/* --- before anything is searched --- */

static int open_sets(state *st, char **paths, size_t n) {
    char **among = (char **)st->s.among.item;
    const size_t n_among = st->s.among.count;
    int code = cli_code_set_open(&st->among, among, n_among);
    if (code == CLI_DONE && !st->s.leave_one_out) code = cli_code_set_open(&st->inputs, paths, n);
    if (code == CLI_DONE) code = cli_code_set_spares(&st->among, among, n_among, st->s.output);
    if (code == CLI_DONE && st->inputs.set)
        code = cli_code_set_spares(&st->inputs, paths, n, st->s.output);
    return code;
}

static int open_embedder(state *st) {
    taper_error error = {0};
    codec_window window;
    const unsigned threads = cli_threads(&st->s.common);
    if (st->s.model) {
        int code = cli_model_open(&st->model, "classify", st->s.model, &st->s.common);
        if (code != CLI_DONE) return code;
        taper_status status = codec_embedder_open(&st->embedder, st->model.model, threads, &error);
        return status ? (int)cli_fail("classify", st->s.model, status, &error) : CLI_DONE;
    }
    int code = cli_code_set_window(&st->among, &window);
    if (code != CLI_DONE) return code;
    cli_detail(&st->s.common, 1, "classify", "pixels are compared: %u x %u, %s", window.width,
               window.height, window.channels == 1 ? "grey" : "in colour");
    taper_status status = codec_embedder_open_pixels(&st->embedder, window, threads, &error);
    return status ? (int)cli_fail("classify", NULL, status, &error) : CLI_DONE;
}

static int join_classes(state *st) {
    taper_error error = {0};
    taper_status status = cli_class_names_join(&st->classes, st->among.set, st->inputs.set, &error);
    if (status != TAPER_OK) return cli_fail("classify", NULL, status, &error);
    const size_t own = st->inputs.set ? formats_imageset_class_count(st->inputs.set) : 0;
    st->has_truth = own || st->s.leave_one_out;
    if (!own || !st->classes.of_first || st->classes.shared) return CLI_DONE;
    cli_error("classify", NULL,
              "no class of the inputs ('%s', ...) is one of the labelled images ('%s', ...): give "
              "labels with the same names, or the inputs without labels",
              formats_imageset_class_name(st->inputs.set, 0), st->classes.name[0]);
    return CLI_USAGE;
}

/* Are there enough to vote? */
static int check_k(const state *st) {
    const size_t n = st->known.n - (st->s.leave_one_out != 0);
    if (st->most_k > n) {
        cli_error("classify", NULL,
                  "-k %zu: there are %zu labelled images to vote; give at most that", st->most_k,
                  n);
        return CLI_USAGE;
    }
    size_t *members = st->s.leave_one_out ? cli_labelled_codes_members(&st->known) : NULL;
    const char *first = NULL;
    size_t alone = 0;
    for (size_t k = 0; members && k < st->classes.of_first; k++)
        if (members[k] == 1 && !alone++) first = st->classes.name[k];
    if (alone)
        cli_warning("classify", NULL,
                    "%zu class%s of one image, which nobody else can vote for (%s'%s')", alone,
                    alone == 1 ? " is" : "es are", alone == 1 ? "" : "the first: ", first);
    free(members);
    return CLI_DONE;
}

static int take_room(state *st) {
    const size_t images =
        st->s.leave_one_out ? st->known.n : formats_imageset_count(st->inputs.set);
    st->searched = formats_larger(1, formats_smaller(SEARCHED, MOST_FOUND / st->most_k));
    st->room = st->has_truth ? images : 1;
    st->neighbours = malloc(st->searched * st->most_k * sizeof *st->neighbours);
    st->distances = malloc(st->searched * st->most_k * sizeof *st->distances);
    st->voted = malloc(st->searched * st->n_k * sizeof *st->voted);
    st->truth = malloc(st->room * sizeof *st->truth);
    st->guess = malloc(st->room * st->n_k * sizeof *st->guess);
    if (st->neighbours && st->distances && st->voted && st->truth && st->guess) return CLI_DONE;
    return cli_fail("classify", NULL, TAPER_ERR_NOMEM, NULL);
}

static int put_heading(state *st) {
    static const char heading[] = "name,label,votes,of,nearest,distance";
    const taper_sink sink = sink_of(st);
    if (st->s.common.json) return CLI_DONE;
    taper_status status = sink.write(sink.user, heading, sizeof heading - 1);
    const char *rest = st->has_truth ? ",truth\n" : "\n";
    if (status == TAPER_OK) status = sink.write(sink.user, rest, strlen(rest));
    return status ? cli_output_close(&st->out, NULL, status, NULL) : CLI_DONE;
}

/* --- the verb --- */

static int finish(state *st) {
    taper_error error = {0};
    const taper_status status = report_errors(st, &error);
    if (st->s.output) return cli_output_close(&st->out, NULL, status, &error);
    return status ? (int)cli_fail("classify", NULL, status, &error) : CLI_DONE;
}

static int classify(state *st, char **paths, size_t n) {
    const char *output = st->s.output;
    int code = open_sets(st, paths, n);
    if (code == CLI_DONE) code = join_classes(st);
    if (code == CLI_DONE) code = open_embedder(st);
    if (code == CLI_DONE && output)
        code = cli_output_open(&st->out, "classify", output, &st->s.common);
    if (code == CLI_DONE) code = cli_labelled_codes_read(&st->known, &st->among, &st->embedder);
    if (code == CLI_DONE) code = check_k(st);
    if (code == CLI_DONE) code = take_room(st);
    if (code == CLI_DONE) code = put_heading(st);
    if (code != CLI_DONE) return code;
    code = st->s.leave_one_out ? leave_one_out(st)
                               : cli_code_set_embed(&st->inputs, &st->embedder, take_rows, st);
    return code == CLI_DONE ? finish(st) : code;
}

/* The numbers of votes; false: one is not whole. */
static bool take_k(state *st) {
    for (size_t i = 0; i < st->s.k.count; i++) {
        const double k = st->s.k.item[i];
        if (k != floor(k)) return false;
        st->k[st->n_k++] = (size_t)k;
        st->most_k = formats_larger(st->most_k, (size_t)k);
    }
    return true;
}

static size_t count_stdin(char *const *paths, size_t n) {
    size_t named = 0;
    for (size_t i = 0; i < n; i++) named += strcmp(paths[i], "-") == 0;
    return named;
}

/* What cannot be carried out as written. */
static int check_settings(state *st, char **paths, size_t n) {
    const cli_verb *v = &cli_verb_classify;
    const settings *s = &st->s;
    if (s->output && !strcmp(s->output, "-")) st->s.output = NULL;
    if (!s->among.count) return cli_usage(v, "give labelled images: --among FILE or folder");
    if (s->leave_one_out && n)
        return cli_usage(v, "--leave-one-out labels the labelled images; leave the inputs out");
    if (!s->leave_one_out && !n && !s->filelist)
        return cli_usage(v, "give the images to label, or --leave-one-out");
    if (count_stdin((char **)s->among.item, s->among.count) + count_stdin(paths, n) +
            (s->filelist && !strcmp(s->filelist, "-")) >
        1)
        return cli_usage(v, "standard input is named twice; name it once");
    if (!take_k(st)) return cli_usage(v, "--neighbours takes whole numbers, such as 5 or 1,3,5");
    cli_options_name_idle(v, s->leave_one_out ? 0 : USE_INPUTS);
    return CLI_DONE;
}

static void close_all(state *st) {
    formats_atomic_file_abort(st->out.file);
    free(st->neighbours), free(st->distances), free(st->voted), free(st->truth), free(st->guess);
    cli_class_names_free(&st->classes);
    cli_labelled_codes_free(&st->known);
    codec_embedder_close(&st->embedder);
    cli_code_set_close(&st->inputs), cli_code_set_close(&st->among);
    cli_model_close(&st->model);
    cli_options_free(&cli_verb_classify, &st->s);
}

int cmd_classify(int argc, char **argv) {
    state st = {.n_k = 0};
    settings *s = &st.s;
    int first, code = cli_options_parse(&cli_verb_classify, argc, argv, s, &first);
    if (code >= 0) {
        cli_options_free(&cli_verb_classify, s);
        return code;
    }
    char **paths = argv + first;
    const size_t n = (size_t)(argc - first);
    code = check_settings(&st, paths, n);
    st.among = (cli_code_set){.common = &s->common,
                              .verb = "classify",
                              .output = s->output,
                              .labels = s->among_labels,
                              .follow_links = s->follow_links,
                              .alpha = (formats_alpha)s->alpha};
    st.inputs = st.among;
    st.inputs.labels = s->labels, st.inputs.filelist = s->filelist;
    if (code == CLI_DONE) code = classify(&st, paths, n);
    if (code == CLI_DONE && (st.among.left.failed || st.inputs.left.failed)) code = CLI_SOME_FAILED;
    close_all(&st);
    return code;
}
