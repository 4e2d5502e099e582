/* encode_report.c -- see encode_report.h. */
#include "cli/encode_report.h"
#include "cli/common/outputs.h"
#include "cli/name_case.h"
#include "formats/image.h"
#include <stdlib.h>
#include <sys/stat.h>

/* Number in the set of image or further name k. */
static size_t number_in_set(const cli_encode_run *st, size_t k) {
    return k < st->count ? st->kept[k] : st->same[k - st->count];
}

/* Total size of the input files; 0: not known for all. */
static uint64_t input_bytes(const cli_encode_run *st) {
    const char *before = NULL;
    uint64_t bytes = 0;
    struct stat file;
    for (size_t k = 0; k < st->count + st->sames; k++) {
        const char *path = formats_imageset_path(st->set, number_in_set(st, k));
        if (path == before) continue;
        if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
        bytes += (uint64_t)file.st_size;
        before = path;
    }
    return bytes;
}

/* The PSNR of a limited output, for the end of the last line. */
static void tell_cut(const cli_encode_run *st, char *words, size_t room) {
    if (st->found.images)
        cli_psnr_words(&st->found, st->count, "",
                       formats_imageset_name(st->set, st->kept[st->found.least_image]), words,
                       room);
    else if (st->no_psnr.status)
        cli_warning("encode", st->s.output, "the PSNR of the output could not be measured: %s",
                    cli_explain(&st->no_psnr).text);
}

/* The lowest PSNR of the set, for the end of the last line; a warning if it is low. */
static void tell_quality(const cli_encode_run *st, char *words, size_t room) {
    taper_encode_quality q = {.size = sizeof q};
    char number[32], exact[48] = "";
    *words = 0;
    if (cli_cut_count()) {
        tell_cut(st, words, room);
        return;
    }
    if (taper_encoder_quality(st->encoder, &q, NULL) != TAPER_OK) return;
    snprintf(number, sizeof number, "image %llu", (unsigned long long)q.least_image + 1);
    const char *whose = q.least_name ? q.least_name : number;
    if (q.exact) snprintf(exact, sizeof exact, "; %llu exact", (unsigned long long)q.exact);
    if (q.exact == st->count)
        snprintf(words, room, "; exact");
    else if (!(q.mean_psnr_db > 0))
        snprintf(words, room, "%s", exact);
    else if (!st->has_aims)
        snprintf(words, room, "; least quality at full length: %.1f dB, %s", q.least_psnr_db,
                 whose);
    else if (st->count == 1)
        snprintf(words, room, "; %.1f dB", q.least_psnr_db);
    else
        snprintf(words, room, "%s; %.1f dB in the mean%s, the least %.1f dB, %s", exact,
                 q.mean_psnr_db, q.exact ? " of the others" : "", q.least_psnr_db, whose);
    if (q.poor)
        cli_warning("encode", whose,
                    "has the lowest PSNR at full length, %.1f dB; %llu image%s end%s below %g dB: "
                    "train a model on images of this kind",
                    q.least_psnr_db, (unsigned long long)q.poor, q.poor == 1 ? "" : "s",
                    q.poor == 1 ? "s" : "", TAPER_POOR_PSNR_DB);
}

/* The price of a floor of quality, and whether it holds. */
static void tell_floor(const cli_encode_run *st) {
    taper_aim_report r = {.size = sizeof r};
    const unsigned long long count = st->count;
    if (!st->s.least_psnr || taper_encoder_aims(st->encoder, &r, NULL) != TAPER_OK) return;
    if (r.ahead && !r.below)
        cli_note(&st->s.common, "encode",
                 "%llu of %llu images have more passes than the others, to reach %g dB; these take "
                 "about %llu bytes",
                 (unsigned long long)r.ahead, count, st->s.least_psnr,
                 (unsigned long long)r.ahead_bytes);
    if (r.below)
        cli_warning("encode", st->s.output, "%llu of %llu images may end below %g dB: %s",
                    (unsigned long long)r.below, count, st->s.least_psnr,
                    cli_cut_count() ? "the limit is too small for all to reach it"
                                    : "the model does not reach it on these");
}

/* Print sizes and quality in one line, and compare them with the input files. */
void cli_encode_tell_result(const cli_encode_run *st, uint64_t bytes) {
    char quality[4300] = ""; /* a name has up to 4,095 bytes */
    char inputs[48] = "", same[64] = "";
    /* files of many images may be of other shards, too */
    const uint64_t before = st->shard.is_shard ? 0 : input_bytes(st);
    tell_quality(st, quality, sizeof quality);
    if (st->sames) snprintf(same, sizeof same, " and %zu equal to one of them", st->sames);
    if (before) snprintf(inputs, sizeof inputs, " for %llu of inputs", (unsigned long long)before);
    cli_note(&st->s.common, "encode",
             "%zu image%s%s, %llu bytes%s, %.1f per image%s, %.4g bpp, in %s%s", st->count,
             formats_plural(st->count, "s"), same, (unsigned long long)bytes, inputs,
             (double)bytes / (double)st->count, st->count == 1 ? "" : " in the mean",
             (double)bytes * 8 / (double)st->pixels, cli_output_name(st->s.output), quality);
    tell_floor(st);
    if (before && bytes > before && !st->s.common.quiet)
        cli_warning(
            "encode", st->s.output,
            st->s.lossless
                ? "the container is larger than its inputs, as it keeps the pixels of lossy "
                  "files such as JPEG exactly: without --lossless it is smaller"
                : "the container is larger than its inputs, and lossy: --psnr 40 or another "
                  "limit makes it smaller");
}

/* Report names that were changed to make them unique. */
static void tell_changed_names(const cli_encode_run *st) {
    const char *first;
    size_t n = formats_imageset_prefixed(st->set, &first);
    if (n)
        cli_note(
            &st->s.common, "encode",
            "%zu name%s a prefix, the folder of the input, because inputs have equal names: %s%s",
            n, n == 1 ? " has" : "s have", first, n > 1 ? ", ..." : "");
    n = formats_imageset_numbered(st->set, &first);
    if (n)
        cli_warning("encode", st->s.output,
                    "%zu name%s a number, because the same name occurs twice: %s%s", n,
                    n == 1 ? " has" : "s have", first, n > 1 ? ", ..." : "");
}

/* Warnings about the names in the container, before it is written. */
int cli_encode_look_at_names(const cli_encode_run *st) {
    tell_changed_names(st);
    const size_t n = st->count + st->sames;
    const char **name = malloc(n * sizeof *name);
    if (!name) return cli_fail("encode", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t k = 0; k < n; k++) name[k] = formats_imageset_name(st->set, number_in_set(st, k));
    int code = cli_name_case_look("encode", st->s.output, name, n);
    free(name);
    return code;
}
