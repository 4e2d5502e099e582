/* labelling.c -- see labelling.h. */
#include "cli/search/labelling.h"
#include "cli/common/json.h"
#include "cli/common/options.h"
#include "cli/common/progress.h"
#include "cli/search/error_report.h"
#include "cli/search/label_line.h"
#include "cli/labels/label_warnings.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>

enum { AT_ONCE = 1024 }; /* labelled images between updates of the progress */

static const char *verb_of(const cli_labelling *l) { return l->known->set->verb; }

/* --- a line for each image --- */

/* The class of the true label of an image, or -1. */
static int32_t truth_of(const cli_labelling *l, const cli_code_set *set, size_t number) {
    const int32_t label = cli_code_set_label(set, number);
    return label < 0 || set == l->known->set ? label : l->classes->second[label];
}

/* Keep the labels of row i, to count errors. */
static taper_status keep(cli_labelling *l, const cli_code_set *set, size_t image, size_t i,
                         int32_t truth) {
    if (truth < 0) return TAPER_OK;
    l->unknown += (size_t)truth >= l->classes->of_first;
    for (size_t k = 0; k < l->votes.n_k; k++)
        l->guess[k * l->room + l->tested] = l->votes.label[k * l->votes.room + i];
    l->truth[l->tested++] = truth;
    return l->page ? cli_error_page_take(l->page, set, image, truth, &l->votes, i) : TAPER_OK;
}

/* Output n rows of a search, which are these images of the set. */
static taper_status put_rows(cli_labelling *l, const cli_code_set *set, const size_t *image,
                             size_t n) {
    cli_text text;
    const cli_neighbour_votes *v = &l->votes;
    const taper_sink sink = cli_output_text_sink(l->out);
    taper_status status = cli_text_open(&text);
    if (status != TAPER_OK) return status;
    for (size_t i = 0; i < n && status == TAPER_OK; i++) {
        const int32_t truth = truth_of(l, set, image[i]);
        const cli_label_line line = {.set = set,
                                     .image = image[i],
                                     .label = l->classes->name[v->label[i]],
                                     .votes = cli_neighbour_votes_for(v, i),
                                     .of = v->k[0],
                                     .known = l->known->set,
                                     .nearest = l->known->image[v->neighbour[i * v->most_k]],
                                     .distance = sqrt(v->distance[i * v->most_k]),
                                     .with_truth = l->has_truth,
                                     .truth = truth < 0 ? NULL : l->classes->name[truth]};
        (set->common->json ? cli_label_line_json : cli_label_line_csv)(&line, text.to);
        status = keep(l, set, image[i], i, truth);
        if (l->links) cli_class_links_add(l->links, set, image[i], line.label);
    }
    const taper_status written = cli_text_write(&text, &sink);
    return status == TAPER_OK ? written : status;
}

/* --- searching --- */

static int close_failed(cli_labelling *l, taper_status status) {
    return l->out ? cli_output_close(l->out, NULL, status, NULL)
                  : (int)cli_fail(verb_of(l), NULL, status, NULL);
}

/* Label images of the set by their codes. codes NULL: label the labelled images from `first` on by
 * the others. */
static int label_rows(cli_labelling *l, const cli_code_set *set, const size_t *image, size_t n,
                      const float *codes, size_t first) {
    for (size_t i = 0; i < n; i += l->votes.room) {
        taper_error error = {0};
        const size_t some = formats_smaller(l->votes.room, n - i);
        taper_status status =
            cli_neighbour_votes_find(&l->votes, codes ? codes + i * l->known->width : NULL,
                                     codes ? 0 : first + i, some, &error);
        if (status != TAPER_OK) return cli_fail(verb_of(l), NULL, status, &error);
        status = put_rows(l, set, image + i, some);
        if (status == TAPER_OK) continue;
        return close_failed(l, status);
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
    for (size_t i = 0; i < known->n && code == CLI_DONE; i += AT_ONCE) {
        const size_t n = formats_smaller(AT_ONCE, known->n - i);
        code = label_rows(l, known->set, known->image + i, n, NULL, i);
        cli_progress_add(&progress, n);
    }
    cli_progress_end(&progress);
    return code;
}

/* --- errors --- */

static taper_status count_errors(cli_labelling *l, uint64_t *confusion, taper_error_rate *rate,
                                 taper_error *error) {
    for (size_t k = 0; k < l->votes.n_k; k++) {
        rate[k].size = sizeof rate[k];
        TAPER_TRY(taper_count_errors(l->guess + k * l->room, l->truth, l->tested,
                                     (uint32_t)l->classes->count, k ? NULL : confusion, &rate[k],
                                     error));
    }
    return TAPER_OK;
}

/* Errors by class with k[k] votes, of the classes that images have as true labels. */
static taper_status count_classes(const cli_labelling *l, size_t k, cli_class_errors *out,
                                  taper_error *error) {
    const size_t n = l->classes->count;
    const int32_t *guess = l->guess + k * l->room;
    uint64_t *wrong = calloc(2 * (n + 1), sizeof *wrong), *tested = wrong + n;
    const bool has_room = cli_class_errors_open(out, n) && wrong;
    for (size_t i = 0; i < l->tested && has_room; i++) {
        tested[l->truth[i]]++;
        wrong[l->truth[i]] += guess[i] != l->truth[i];
    }
    for (size_t c = 0; c < n && has_room; c++)
        if (tested[c]) cli_class_errors_add(out, l->classes->name[c], wrong[c], tested[c]);
    free(wrong);
    if (!has_room) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for errors by class");
    return cli_class_errors_balance(out, error);
}

/* The balanced error for each number of votes, and the errors by class for the first. */
static taper_status balance(const cli_labelling *l, taper_error_rate *balanced,
                            cli_class_errors *by_class, taper_error *error) {
    for (size_t k = l->votes.n_k; k-- > 0;) {
        cli_class_errors_free(by_class);
        TAPER_TRY(count_classes(l, k, by_class, error));
        balanced[k] = by_class->balanced;
    }
    return TAPER_OK;
}

static taper_status report_json(cli_labelling *l, const cli_error_report *report) {
    cli_text text;
    const taper_sink sink = cli_output_text_sink(l->out);
    TAPER_TRY(cli_text_open(&text));
    cli_error_report_json(report, text.to);
    return cli_text_write(&text, &sink);
}

/* The tested images are those that remain labelled, or those of the inputs. */
static void warn_few(const cli_labelling *l) {
    if (l->tested) cli_warn_few_tested(verb_of(l), l->tested, "give more images with true labels");
}

taper_status cli_labelling_report(cli_labelling *l, taper_error *error) {
    taper_error_rate rate[CLI_MAX_NUMBERS], balanced[CLI_MAX_NUMBERS];
    cli_class_errors by_class = {.n = 0};
    const size_t n = l->classes->count;
    uint64_t *confusion = n <= CLI_MOST_CONFUSED ? malloc(n * n * sizeof *confusion) : NULL;
    const bool is_short = n <= CLI_MOST_CONFUSED && !confusion;
    taper_status status = is_short    ? TAPER_ERR_NOMEM
                          : l->tested ? count_errors(l, confusion, rate, error)
                                      : TAPER_OK;
    if (status == TAPER_OK && l->tested) status = balance(l, balanced, &by_class, error);
    const cli_common *common = l->known->set->common;
    const cli_error_report report = {.n = l->votes.n_k,
                                     .k = l->votes.k,
                                     .rate = rate,
                                     .balanced = balanced,
                                     .by_class = &by_class,
                                     .all_classes = common->verbose > 0,
                                     .name = l->classes->name,
                                     .classes = n,
                                     .confusion = confusion};
    if (l->unknown)
        cli_warning(verb_of(l), NULL,
                    "%zu input%s of a class that no labelled image has: counted as wrong",
                    l->unknown, l->unknown == 1 ? " is" : "s are");
    if (status == TAPER_OK) warn_few(l);
    if (status == TAPER_OK && l->tested && common->json)
        status = report_json(l, &report);
    else if (status == TAPER_OK && l->tested && !common->quiet) {
        fflush(stdout); /* flush the labels first, because both may be one file */
        cli_error_report_print(&report, stderr);
    }
    if (status == TAPER_OK && l->page && l->tested)
        cli_error_page_write(l->page, &report, l->about);
    cli_class_errors_free(&by_class);
    free(confusion);
    return status;
}

/* --- public functions --- */

static int take_room(cli_labelling *l, size_t images) {
    l->votes = (cli_neighbour_votes){.known = l->known,
                                     .k = l->k,
                                     .n_k = l->n_k,
                                     .most_k = l->most_k,
                                     .classes = l->classes->count,
                                     .weights = l->weights};
    l->room = l->has_truth ? images : 1;
    l->truth = malloc(l->room * sizeof *l->truth);
    l->guess = malloc(l->room * l->n_k * sizeof *l->guess);
    if (l->truth && l->guess && cli_neighbour_votes_open(&l->votes) == TAPER_OK) return CLI_DONE;
    return cli_fail(verb_of(l), NULL, TAPER_ERR_NOMEM, NULL);
}

static int put_heading(cli_labelling *l) {
    cli_text text;
    const taper_sink sink = cli_output_text_sink(l->out);
    if (l->known->set->common->json) return CLI_DONE;
    taper_status status = cli_text_open(&text);
    if (status == TAPER_OK) {
        cli_label_heading_csv(l->has_truth, text.to);
        status = cli_text_write(&text, &sink);
    }
    return status == TAPER_OK ? CLI_DONE : close_failed(l, status);
}

int cli_labelling_begin(cli_labelling *l, size_t images) {
    const int code = take_room(l, images);
    return code == CLI_DONE ? put_heading(l) : code;
}

void cli_labelling_free(cli_labelling *l) {
    cli_neighbour_votes_close(&l->votes);
    free(l->truth), free(l->guess);
}
