/* labelling.c -- see labelling.h. */
#include "cli/search/labelling.h"
#include "cli/common/json.h"
#include "cli/common/options.h"
#include "cli/common/plain_text.h"
#include "cli/common/progress.h"
#include "cli/search/error_report.h"
#include "codec/taper_search.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEARCHED = 1024, MOST_FOUND = 1 << 18 };

static const char *verb_of(const cli_labelling *l) { return l->known->set->verb; }

/* --- a line for each image --- */

static size_t votes_for(const cli_labelling *l, const uint32_t *neighbours, int32_t label) {
    size_t votes = 0;
    for (size_t i = 0; i < l->k[0]; i++) votes += l->known->label[neighbours[i]] == label;
    return votes;
}

/* What is told of row i of a search, which is image `number` of a set. */
typedef struct verdict {
    const cli_code_set *set;
    size_t number;
    const char *label, *truth; /* truth: NULL where it is not known */
    size_t votes;
    size_t nearest; /* image of the labelled set */
    double distance;
} verdict;

static void put_csv(const cli_labelling *l, const verdict *v, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_put_csv(to, cli_code_set_name(v->set, v->number, name));
    fputc(',', to);
    cli_put_csv(to, v->label);
    fprintf(to, ",%zu,%zu,", v->votes, l->k[0]);
    cli_put_csv(to, cli_code_set_name(l->known->set, v->nearest, name));
    fprintf(to, ",%.9g", v->distance);
    if (l->has_truth) fputc(',', to), cli_put_csv(to, v->truth ? v->truth : "");
    fputc('\n', to);
}

static void put_json(const cli_labelling *l, const verdict *v, FILE *to) {
    char name[CLI_IMAGE_NAME];
    cli_json j;
    cli_json_begin(&j, to);
    cli_json_string(&j, "kind", "label");
    cli_json_string(&j, "name", cli_code_set_name(v->set, v->number, name));
    cli_json_string(&j, "label", v->label);
    cli_json_uint(&j, "votes", v->votes);
    cli_json_uint(&j, "of", l->k[0]);
    cli_json_string(&j, "nearest", cli_code_set_name(l->known->set, v->nearest, name));
    cli_json_number(&j, "distance", v->distance);
    if (l->has_truth) cli_json_string(&j, "truth", v->truth);
    cli_json_end(&j);
}

/* The class of an image by its own label, or -1. */
static int32_t truth_of(const cli_labelling *l, const cli_code_set *set, size_t number) {
    const int32_t label = cli_code_set_label(set, number);
    return label < 0 || set == l->known->set ? label : l->classes->second[label];
}

/* Keep row i's labels, to count errors by. */
static void keep(cli_labelling *l, size_t i, int32_t truth) {
    if (truth < 0) return;
    l->strangers += (size_t)truth >= l->classes->of_first;
    for (size_t k = 0; k < l->n_k; k++)
        l->guess[k * l->room + l->tested] = l->voted[k * l->searched + i];
    l->truth[l->tested++] = truth;
}

static taper_status print_to_stdout(void *user, const void *bytes, size_t n) {
    (void)user;
    fwrite(bytes, 1, n, stdout); /* main looks whether it worked */
    return TAPER_OK;
}

static taper_sink sink_of(cli_labelling *l) {
    return l->out ? cli_output_sink(l->out) : (taper_sink){.write = print_to_stdout};
}

/* n rows of a search, which are these images of the set. */
static taper_status put_rows(cli_labelling *l, const cli_code_set *set, const size_t *image,
                             size_t n) {
    cli_text text;
    const taper_sink sink = sink_of(l);
    TAPER_TRY(cli_text_open(&text));
    for (size_t i = 0; i < n; i++) {
        const uint32_t *near = l->neighbours + i * l->most_k;
        const int32_t truth = truth_of(l, set, image[i]), label = l->voted[i];
        const verdict v = {.set = set,
                           .number = image[i],
                           .label = l->classes->name[label],
                           .truth = truth < 0 ? NULL : l->classes->name[truth],
                           .votes = votes_for(l, near, label),
                           .nearest = l->known->image[near[0]],
                           .distance = sqrt(l->distances[i * l->most_k])};
        (l->known->set->common->json ? put_json : put_csv)(l, &v, text.to);
        keep(l, i, truth);
    }
    return cli_text_write(&text, &sink);
}

/* --- searching --- */

static unsigned search_threads(const cli_common *common) {
    enum { MOST = 256 };
    return (unsigned)formats_smaller(cli_threads(common), MOST);
}

static taper_status search_rows(cli_labelling *l, const float *queries, size_t first, size_t n,
                                taper_error *error) {
    const cli_labelled_codes *known = l->known;
    const taper_search search = {.references = known->codes,
                                 .n_references = known->n,
                                 .queries = queries,
                                 .n_queries = n,
                                 .first = first,
                                 .width = known->width,
                                 .k = l->most_k,
                                 .threads = search_threads(l->known->set->common)};
    TAPER_TRY(taper_nearest(&search, l->neighbours, l->distances, error));
    for (size_t k = 0; k < l->n_k; k++) {
        const taper_votes votes = {l->neighbours,
                                   n,
                                   l->most_k,
                                   l->k[k],
                                   known->label,
                                   known->n,
                                   (uint32_t)l->classes->count};
        TAPER_TRY(taper_vote(&votes, l->voted + k * l->searched, error));
    }
    return TAPER_OK;
}

/* Label images of the set by their codes; codes NULL: labelled ones, from `first` on, by the
 * others. */
static int label_rows(cli_labelling *l, const cli_code_set *set, const size_t *image, size_t n,
                      const float *codes, size_t first) {
    for (size_t i = 0; i < n; i += l->searched) {
        taper_error error = {0};
        const size_t some = formats_smaller(l->searched, n - i);
        taper_status status = search_rows(l, codes ? codes + i * l->known->width : NULL,
                                          codes ? 0 : first + i, some, &error);
        if (status != TAPER_OK) return cli_fail(verb_of(l), NULL, status, &error);
        status = put_rows(l, set, image + i, some);
        if (status == TAPER_OK) continue;
        return l->out ? cli_output_close(l->out, NULL, status, NULL)
                      : (int)cli_fail(verb_of(l), NULL, status, NULL);
    }
    return CLI_DONE;
}

int cli_labelling_take(cli_labelling *l, const cli_code_set *set, const size_t *image, size_t n,
                       const float *codes) {
    return label_rows(l, set, image, n, codes, 0);
}

int cli_labelling_leave_one_out(cli_labelling *l) {
    const cli_labelled_codes *known = l->known;
    cli_progress progress;
    int code = CLI_DONE;
    cli_progress_start(&progress, l->known->set->common, "searching", known->n, "images");
    for (size_t i = 0; i < known->n && code == CLI_DONE; i += SEARCHED) {
        const size_t n = formats_smaller(SEARCHED, known->n - i);
        code = label_rows(l, known->set, known->image + i, n, NULL, i);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    return code;
}

/* --- errors --- */

static taper_status count_errors(cli_labelling *l, uint64_t *confusion, taper_error_rate *rate,
                                 taper_error *error) {
    for (size_t k = 0; k < l->n_k; k++)
        TAPER_TRY(taper_count_errors(l->guess + k * l->room, l->truth, l->tested,
                                     (uint32_t)l->classes->count, k ? NULL : confusion, &rate[k],
                                     error));
    return TAPER_OK;
}

static taper_status report_json(cli_labelling *l, const cli_error_report *report) {
    cli_text text;
    const taper_sink sink = sink_of(l);
    TAPER_TRY(cli_text_open(&text));
    cli_error_report_json(report, text.to);
    return cli_text_write(&text, &sink);
}

taper_status cli_labelling_report(cli_labelling *l, taper_error *error) {
    taper_error_rate rate[CLI_MAX_NUMBERS];
    const size_t n = l->classes->count;
    uint64_t *confusion = n <= CLI_MOST_CONFUSED ? malloc(n * n * sizeof *confusion) : NULL;
    const bool is_short = n <= CLI_MOST_CONFUSED && !confusion;
    taper_status status = is_short    ? TAPER_ERR_NOMEM
                          : l->tested ? count_errors(l, confusion, rate, error)
                                      : TAPER_OK;
    const cli_error_report report = {l->n_k, l->k, rate, l->classes->name, n, confusion};
    if (l->strangers)
        cli_warning(verb_of(l), NULL,
                    "%zu input%s of a class that no labelled image has: counted as wrong",
                    l->strangers, l->strangers == 1 ? " is" : "s are");
    if (status == TAPER_OK && l->tested && l->known->set->common->json)
        status = report_json(l, &report);
    else if (status == TAPER_OK && l->tested && !l->known->set->common->quiet) {
        fflush(stdout); /* first the labels, where both are one file */
        cli_error_report_print(&report, stderr);
    }
    free(confusion);
    return status;
}

/* --- from the first to the last --- */

static int take_room(cli_labelling *l, size_t images) {
    l->searched = formats_larger(1, formats_smaller(SEARCHED, MOST_FOUND / l->most_k));
    l->room = l->has_truth ? images : 1;
    l->neighbours = malloc(l->searched * l->most_k * sizeof *l->neighbours);
    l->distances = malloc(l->searched * l->most_k * sizeof *l->distances);
    l->voted = malloc(l->searched * l->n_k * sizeof *l->voted);
    l->truth = malloc(l->room * sizeof *l->truth);
    l->guess = malloc(l->room * l->n_k * sizeof *l->guess);
    if (l->neighbours && l->distances && l->voted && l->truth && l->guess) return CLI_DONE;
    return cli_fail(verb_of(l), NULL, TAPER_ERR_NOMEM, NULL);
}

static int put_heading(cli_labelling *l) {
    static const char heading[] = "name,label,votes,of,nearest,distance";
    const taper_sink sink = sink_of(l);
    if (l->known->set->common->json) return CLI_DONE;
    taper_status status = sink.write(sink.user, heading, sizeof heading - 1);
    const char *rest = l->has_truth ? ",truth\n" : "\n";
    if (status == TAPER_OK) status = sink.write(sink.user, rest, strlen(rest));
    return status ? cli_output_close(l->out, NULL, status, NULL) : CLI_DONE;
}

int cli_labelling_begin(cli_labelling *l, size_t images) {
    const int code = take_room(l, images);
    return code == CLI_DONE ? put_heading(l) : code;
}

void cli_labelling_free(cli_labelling *l) {
    free(l->neighbours), free(l->distances), free(l->voted), free(l->truth), free(l->guess);
}
