/* labels_errors.c -- see labels_errors.h. */
#include "cli/train/labels_errors.h"
#include "cli/labels/class_errors.h"
#include "cli/labels/label_warnings.h"

static bool is_searched(const train_embedding_report *r) { return r->found.trials > 0; }

/* The error to expect of new images, and the same by class. */
static const taper_error_rate *error_of(const train_embedding_report *r) {
    return is_searched(r) ? &r->found.expected : &r->held_out;
}

static const train_class_tally *tally_of(const train_embedding_report *r) {
    return is_searched(r) ? &r->found.expected_classes : &r->held_out_classes;
}

/* Of the classes that have images. False: there are none, or no memory. Free it in any case. */
static bool count(const train_embedding_report *r, const cli_labelled_set *labels,
                  cli_class_errors *out) {
    const train_class_tally *tally = tally_of(r);
    taper_error error = {0};
    bool done = error_of(r)->tested && cli_class_errors_open(out, labels->classes);
    for (size_t c = 0; c < labels->classes && done; c++)
        if (labels->members[c] && c < tally->classes)
            cli_class_errors_add(out, labels->name[c], tally->wrong[c], tally->tested[c]);
    return done && out->n && cli_class_errors_balance(out, &error) == TAPER_OK;
}

static void put_note(void *user, const char *line) {
    const cli_train_reporter *t = user;
    cli_note(t->common, t->verb, "%s", line);
}

void cli_labels_errors_say(const cli_train_reporter *t, const train_embedding_report *r,
                           const cli_labelled_set *labels) {
    cli_class_errors e = {.n = 0};
    if (count(r, labels, &e)) {
        cli_class_errors_say_balanced(&e, put_note, (void *)t);
        cli_class_errors_say_classes(&e, t->common->verbose > 0, put_note, (void *)t);
    }
    cli_class_errors_free(&e);
}

/* --- warnings ---------------------------------------------------------------------------- */

static bool has_few(const train_embedding_report *r) {
    return error_of(r)->tested && error_of(r)->tested < CLI_FEW_TESTED;
}

/* The last epoch is the best, or as good as the best, which came in the second half. Where the
 * fewest errors came early and nothing changed since, more epochs do not help. */
static bool needs_epochs(const train_embedding_report *r) {
    const train_embedding_result *l = &r->learned;
    return r->held_out.wrong && l->epochs && !l->stopped && l->best_epoch == l->epochs &&
           (uint64_t)l->first_best * 2 > l->epochs;
}

static bool has_good_pixels(const train_embedding_report *r) {
    if (is_searched(r)) return r->found.pixels_judged <= r->found.judged;
    return r->pixels.tested && r->pixels_judged <= r->judged;
}

static void warn_pixels(const cli_train_reporter *t, const train_embedding_report *r) {
    if (is_searched(r) || !has_good_pixels(r)) return; /* the report of a search says so itself */
    cli_warning(
        t->verb, t->output,
        "nearest neighbours by pixels are as good or better: %.2f %% errors on %zu held-out "
        "image%s, and %.2f %% by this embedding; leave out --objective, which tries several "
        "objectives and settings, or compare pixels (`taper classify` without -m)",
        100.0 * r->pixels.rate, (size_t)r->pixels.tested,
        formats_plural((size_t)r->pixels.tested, "s"), 100.0 * r->held_out.rate);
}

void cli_labels_errors_warn(const cli_train_reporter *t, const train_embedding_report *r) {
    const train_embedding_result *l = &r->learned;
    if (has_few(r))
        cli_warn_few_tested(t->verb, error_of(r)->tested,
                            is_searched(r) ? "label more images"
                                           : "hold more out (--hold-out 0.3), label more images, "
                                             "or leave out --objective, which tests each image");
    if (needs_epochs(r))
        cli_warning(t->verb, t->output,
                    "the best epoch, %u, is the last one: more epochs may help; give -e %llu",
                    l->epochs, 2ull * l->epochs);
    warn_pixels(t, r);
}

/* --- for programs ------------------------------------------------------------------------ */

void cli_labels_errors_json(const train_embedding_report *r, const cli_labelled_set *labels,
                            cli_json *to) {
    cli_class_errors e = {.n = 0};
    if (count(r, labels, &e)) {
        cli_json_number(to, "balanced_error_percent", 100.0 * e.balanced.rate);
        cli_json_number(to, "balanced_error_percent_low", 100.0 * e.balanced.low);
        cli_json_number(to, "balanced_error_percent_high", 100.0 * e.balanced.high);
        cli_class_errors_json_classes(&e, to);
    }
    cli_class_errors_free(&e);
    cli_json_uint(to, "small_classes", labels->small);
    cli_json_uint(to, "images_under_two_labels", labels->twins);
    cli_json_bool(to, "few_tested", has_few(r));
    if (r->held_out.tested) {
        cli_json_uint(to, "first_best_epoch", r->learned.first_best);
        cli_json_bool(to, "more_epochs_may_help", needs_epochs(r));
    }
    if (r->pixels.tested || is_searched(r))
        cli_json_bool(to, "pixels_are_as_good", has_good_pixels(r));
    if (r->found.classifier.tested)
        cli_json_bool(to, "classifier_is_better", r->found.classifier_judged < r->found.judged);
}
