/* left_out.c -- see left_out.h. */
#include "cli/common/left_out.h"
#include "cli/common/outputs.h"
#include "formats/images/foreign.h"
#include <stdio.h>
#include <string.h>

static void count(cli_alike *a, const char *path, const taper_error *why) {
    if (a->count++) return;
    snprintf(a->sentence, sizeof a->sentence, "%s", cli_explain(why).text);
    snprintf(a->first, sizeof a->first, "%s", path);
}

/* The failures with this text; NULL if there are too many different texts to collect. */
static cli_alike *alike(cli_left_out *l, const taper_error *why) {
    const cli_sentence said = cli_explain(why);
    for (size_t i = 0; i < l->kinds; i++)
        if (!strcmp(l->alike[i].sentence, said.text)) return &l->alike[i];
    return l->kinds < CLI_ALIKE_MOST ? &l->alike[l->kinds++] : NULL;
}

/* The exit code if all failures agree, else CLI_USAGE. */
static void note_code(cli_left_out *l, taper_status status) {
    cli_exit code = cli_exit_code(status);
    l->code = !l->failed || l->code == code ? code : CLI_USAGE;
    l->failed++;
}

/* Count and report an input that cannot be used. */
static void leave_out(cli_left_out *l, const char *path, const taper_error *why) {
    note_code(l, why->status);
    cli_alike *same = why->status == TAPER_ERR_UNSUPPORTED ? alike(l, why) : NULL;
    if (same)
        count(same, path, why);
    else
        l->reported++;
    if (!same || l->common->verbose) cli_fail(l->verb, path, why->status, why);
}

int cli_left_out_image(cli_left_out *l, const char *path, taper_status status,
                       const taper_error *why) {
    if (formats_is_system_error(status)) return cli_fail(l->verb, path, status, why);
    leave_out(l, path, why);
    return CLI_DONE;
}

void cli_left_out_file(void *user, formats_skip what, const char *path, const taper_error *why) {
    cli_left_out *l = user;
    if (l->output && cli_is_same_file(path, l->output)) return;
    if (what == FORMATS_SKIP_FAILED) {
        l->files++;
        leave_out(l, path, why);
        return;
    }
    count(what == FORMATS_SKIP_LINK     ? &l->links
          : what == FORMATS_SKIP_HIDDEN ? &l->hidden
                                        : &l->no_image,
          path, why);
    if (l->common->verbose) cli_note(l->common, l->verb, "%s: %s", path, cli_explain(why).text);
}

/* With -v each was printed before. */
static void tell_alike(cli_left_out *l, const cli_alike *a, size_t inputs) {
    if (l->common->verbose) {
        l->reported += a->count;
        return;
    }
    if (a->count > 1)
        cli_error(l->verb, NULL, "%zu of %zu inputs were left out (the first: %s): %s", a->count,
                  inputs, a->first, a->sentence);
    else
        cli_error(l->verb, a->first, "%s", a->sentence);
    l->reported += a->count == 1;
}

static void tell_passed_over(const cli_left_out *l) {
    const cli_alike *a = &l->no_image;
    if (a->count && !l->common->verbose)
        cli_note(l->common, l->verb, "%zu file%s no image%s passed over (%s%s)", a->count,
                 a->count == 1 ? " that is" : "s that are", a->count == 1 ? " was" : "s were",
                 a->count == 1 ? "" : "the first: ", a->first);
    a = &l->hidden;
    if (a->count)
        cli_note(l->common, l->verb,
                 "%zu hidden file%s or system folder%s passed over (%s%s): name %s to read it",
                 a->count, formats_plural(a->count, "s"), a->count == 1 ? " was" : "s were",
                 a->count == 1 ? "" : "the first: ", a->first, a->count == 1 ? "it" : "one");
    a = &l->links;
    if (a->count)
        cli_warning(l->verb, NULL, "%zu link%s not followed (%s%s): %s", a->count,
                    a->count == 1 ? " to a folder was" : "s to folders were",
                    a->count == 1 ? "" : "the first: ", a->first, a->sentence);
}

static void tell_profiles(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    size_t n = formats_imageset_profiles(set, &first);
    if (l->stores && l->keeps != CLI_KEEPS_NOTHING) return;
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu image%s a colour profile other than sRGB, which is not kept (%s%s): "
                    "convert %s to sRGB first if colours matter, for example " FORMATS_TO_SRGB,
                    n, n == 1 ? " has" : "s have", n == 1 ? "" : "the first: ", first,
                    n == 1 ? "it" : "them");
}

static void tell_orientations(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_orientations(set, &first);
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu image%s an orientation in EXIF or XMP that is not used, because it is "
                    "damaged or another one contradicts it (%s%s): see that %s upright",
                    n, n == 1 ? " has" : "s have", n == 1 ? "" : "the first: ", first,
                    n == 1 ? "it is" : "they are");
}

static void tell_more_pictures(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_more_pictures(set, &first);
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu file%s more than one picture (previews, depth maps), of which the first "
                    "is taken (%s%s)",
                    n, n == 1 ? " has" : "s have", n == 1 ? "" : "the first: ", first);
}

static void tell_more_frames(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    uint64_t frames;
    const size_t n = formats_imageset_more_frames(set, &first, &frames);
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu file%s %llu frames or pages%s, of which the first is taken (%s%s): "
                    "--frames all makes an image of each",
                    n, n == 1 ? " has" : "s have", (unsigned long long)frames,
                    n == 1 ? "" : " together", n == 1 ? "" : "the first: ", first);
}

/* Payloads of metadata that are damaged or too large. */
static void tell_payloads(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_left_out(set, &first);
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu image%s a colour profile, EXIF or XMP that is not kept, because it is "
                    "damaged, above 16 MiB or for other colours (%s%s)",
                    n, n == 1 ? " has" : "s have", n == 1 ? "" : "the first: ", first);
}

/* Report metadata of the files, which a container does not keep. */
static void tell_not_stored(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_exifs(set, &first);
    int files = 0;
    for (size_t i = 0; i < formats_imageset_count(set) && !files; i++)
        files = formats_imageset_name(set, i) != NULL;
    if (n)
        cli_note(l->common, l->verb,
                 "not kept: file times, and EXIF or XMP data, such as the capture date, of %zu "
                 "image%s (%s%s); keep the files where these matter",
                 n, formats_plural(n, "s"), n == 1 ? "" : "the first: ", first);
    else if (files)
        cli_note(l->common, l->verb, "not kept: file times");
}

static void tell_lines(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_unmatched_lines(set, &first);
    if (n)
        cli_note(l->common, l->verb, "%zu line%s of the label file name%s no image here (%s%s)", n,
                 formats_plural(n, "s"), n == 1 ? "s" : "", n == 1 ? "" : "the first: ", first);
}

static void tell_contradictions(const cli_left_out *l, const formats_imageset *set) {
    const char *first;
    const size_t n = formats_imageset_overridden_lines(set, &first);
    if (n)
        cli_warning(l->verb, NULL,
                    "%zu line%s of the label file give%s a label that a later line of the same "
                    "name contradicts (%s%s): the last line of a name counts",
                    n, formats_plural(n, "s"), n == 1 ? "s" : "",
                    n == 1 ? "" : "the first: ", first);
}

static void tell_all(cli_left_out *l, const formats_imageset *set, size_t inputs) {
    for (size_t i = 0; i < l->kinds; i++) tell_alike(l, &l->alike[i], inputs);
    tell_passed_over(l);
    if (set) tell_profiles(l, set);
    if (set) tell_orientations(l, set);
    if (set) tell_more_pictures(l, set);
    if (set) tell_more_frames(l, set);
    if (set && l->stores) tell_payloads(l, set);
    if (set && l->stores && l->keeps != CLI_KEEPS_ALL && l->failed < inputs)
        tell_not_stored(l, set);
    if (set) tell_lines(l, set);
    if (set) tell_contradictions(l, set);
    /* one line about several inputs has the reason */
    bool is_said = !l->reported && l->kinds == 1;
    if (l->failed && l->failed < inputs && !is_said)
        cli_error(l->verb, NULL, "%zu of %zu inputs failed and %s left out", l->failed, inputs,
                  l->failed == 1 ? "was" : "were");
}

void cli_left_out_report(cli_left_out *l, const formats_imageset *set) {
    tell_all(l, set, (set ? formats_imageset_count(set) : 0) + l->files);
}

void cli_left_out_report_of(cli_left_out *l, size_t images) {
    tell_all(l, NULL, images + l->files);
}
