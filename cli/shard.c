/* shard.c -- see shard.h. */
#include "cli/shard.h"
#include "cli/common/inputs.h"
#include "cli/common/progress.h"
#include "codec/taper_index.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- which images ------------------------------------------------------------------------- */

/* Digits alone; 0 for anything else, and for numbers beyond the most parts. */
static uint64_t read_number(const char *text, const char **end) {
    uint64_t number = 0;
    for (*end = text; **end >= '0' && **end <= '9'; ++*end)
        if (number <= TAPER_MOST_PARTS) number = 10 * number + (uint64_t)(**end - '0');
    return number <= TAPER_MOST_PARTS ? number : 0;
}

int cli_shard_parse(const cli_verb *verb, const char *text, int resume, cli_kind makes,
                    cli_shard *shard) {
    const char *slash, *end;
    *shard = (cli_shard){.is_shard = text != NULL, .resumes = resume, .makes = makes};
    shard->part = (taper_part){.size = sizeof shard->part, .parts = 1};
    if (!text) return CLI_DONE;
    const uint64_t part = read_number(text, &slash);
    const uint64_t parts = *slash == '/' ? read_number(slash + 1, &end) : 0;
    if (slash == text || *slash != '/' || end == slash + 1 || *end)
        return cli_usage(verb, "--shard is I/N, such as 1/8, not %s", text);
    if (!parts)
        return cli_usage(verb, "--shard %s: the number of shards is 1 to %u", text,
                         TAPER_MOST_PARTS);
    if (!part || part > parts)
        return cli_usage(verb,
                         "--shard %s: shards count from 1, so the first is 1/%llu and the last "
                         "%llu/%llu; with Slurm give --array=1-%llu",
                         text, (unsigned long long)parts, (unsigned long long)parts,
                         (unsigned long long)parts, (unsigned long long)parts);
    shard->part.part = (uint32_t)part - 1, shard->part.parts = (uint32_t)parts;
    return CLI_DONE;
}

bool cli_shard_is_told(const cli_shard *shard) { return shard->is_shard || shard->resumes; }

/* As SPEC 5.12 defines it. */
size_t cli_shard_first(uint64_t images, const taper_part *p, uint32_t part) {
    return (size_t)(images * part / p->parts);
}

int cli_shard_take(cli_shard *shard, const char *verb, const formats_imageset *set, const char *how,
                   const cli_common *common) {
    taper_part *p = &shard->part;
    taper_error error = {0};
    cli_progress progress;
    p->images = formats_imageset_count(set);
    shard->first = cli_shard_first(p->images, p, p->part);
    shard->end = cli_shard_first(p->images, p, p->part + 1);
    if (!cli_shard_is_told(shard)) return CLI_DONE;
    p->how_digest = formats_digest_text(how);
    taper_status status = formats_imageset_digest(set, &p->set_digest, &error);
    cli_progress_start(&progress, common, "reading the inputs", 0, "images");
    if (status == TAPER_OK)
        status = formats_imageset_digest_inputs(set, shard->first, shard->end, &p->inputs_digest,
                                                &error);
    cli_progress_end(&progress);
    return status == TAPER_OK ? CLI_DONE : (int)cli_fail(verb, NULL, status, &error);
}

taper_part cli_shard_part(const cli_shard *shard, uint64_t stored) {
    taper_part part = shard->part;
    part.left_out = cli_shard_first(part.images, &part, part.part + 1) -
                    cli_shard_first(part.images, &part, part.part) - stored;
    return part;
}

/* --- is it made already? ------------------------------------------------------------------ */

/* What a container says it is, if it is whole and all its checksums are right. */
static taper_status read_stream(const cli_stream *stream, const taper_limits *limits,
                                taper_part *part) {
    const taper_open_options how = {.size = sizeof how, .limits = limits, .without_model = 1};
    taper_container *container;
    taper_container_info info = {.size = sizeof info};
    taper_verify_report report = {.size = sizeof report};
    TAPER_TRY(taper_container_open(&container, &stream->source, &how, NULL));
    taper_status status = taper_container_get_part(container, part, NULL);
    if (status == TAPER_OK) status = taper_container_get_info(container, &info, NULL);
    taper_container_close(container);
    TAPER_TRY(status);
    if (stream->source.size != info.file_bytes) return TAPER_ERR_TRUNCATED;
    return taper_verify(&stream->source, &report, limits, NULL);
}

/* Both: TAPER_ERR_IO: the file cannot be read. */
static taper_status read_container(const char *path, const taper_limits *limits, taper_part *part) {
    cli_stream stream;
    if (cli_stream_try(&stream, path, NULL) != TAPER_OK) return TAPER_ERR_IO;
    const taper_status status = read_stream(&stream, limits, part);
    cli_stream_close(&stream);
    return status;
}

static taper_status read_index(const char *path, const taper_limits *limits, taper_part *part) {
    taper_index *index;
    TAPER_TRY(taper_index_open_file(&index, path, limits, NULL));
    taper_status status = taper_index_get_part(index, part, NULL);
    if (status == TAPER_OK) status = taper_index_check(index, NULL);
    taper_index_close(index);
    return status;
}

/* What a container or index says it is, as read_stream. */
static taper_status read_output(const cli_shard *shard, const char *output,
                                const cli_common *common, taper_part *is) {
    const taper_limits limits = cli_limits(common);
    *is = (taper_part){.size = sizeof *is};
    return shard->makes == CLI_IS_INDEX ? read_index(output, &limits, is)
                                        : read_container(output, &limits, is);
}

/* Why what is there is not the output of this run; NULL: it is. */
static const char *compare(const cli_shard *shard, taper_status status, taper_part is) {
    const taper_part *want = &shard->part;
    if (status == TAPER_ERR_IO) return "it cannot be read";
    if (status != TAPER_OK) return "it is damaged or cut";
    if (!is.parts) return "it does not say what it was made of";
    if (is.how_digest != want->how_digest) return "the model or options are others";
    if (is.set_digest != want->set_digest || is.images != want->images)
        return "the list of inputs is another";
    if (is.parts != want->parts || is.part != want->part) return "it is another shard";
    if (is.inputs_digest != want->inputs_digest) return "an input has changed";
    return is.left_out > want->left_out ? "it lacks images that could not be used" : NULL;
}

/* A shard without images has no file. One from before would be taken for it. */
static int clear_empty(const cli_shard *shard, const char *verb, const char *output, bool is_ours,
                       const cli_common *common) {
    const bool removes = is_ours && (shard->resumes || common->force);
    if (removes && unlink(output) != 0) {
        taper_error error = {0};
        const taper_status status = formats_fail_errno(&error, errno, "remove");
        return cli_fail(verb, output, status, &error);
    }
    cli_note(common, verb,
             "shard %u of %u has no images, as there are only %llu: nothing is written%s, and "
             "`%s` knows that it is none",
             shard->part.part + 1, shard->part.parts, (unsigned long long)shard->part.images,
             removes ? ", what was there is removed" : "",
             shard->makes == CLI_IS_INDEX ? "index" : "merge");
    return CLI_DONE;
}

/* What is of another kind, or what another run or verb made, is not replaced without being asked.
 * is: whether it is of the kind that is made; why: what follows that. */
static int refuse(const cli_shard *shard, const char *verb, const char *output, const char *is,
                  const char *why) {
    cli_error(
        verb, output,
        "exists, and %s %s%s, so it is left as it is; choose another name, or replace it (-f)", is,
        shard->makes == CLI_IS_INDEX ? "an index" : "a container", why);
    return CLI_IO;
}

int cli_shard_look(const cli_shard *shard, const char *verb, const char *output, cli_common *common,
                   bool *done) {
    struct stat st;
    const bool is_file = strcmp(output, "-") && stat(output, &st) == 0 && S_ISREG(st.st_mode);
    const bool is_ours = is_file && (!st.st_size || cli_kind_of(output) == shard->makes);
    *done = shard->first == shard->end;
    if (*done) return clear_empty(shard, verb, output, is_ours, common);
    if (!shard->resumes) return CLI_DONE;
    const bool is_forced = common->force;
    if (is_file && !is_ours && !is_forced) return refuse(shard, verb, output, "is not", "");
    common->force = 1; /* also where another process makes the same shard meanwhile */
    if (!is_file) return CLI_DONE;
    taper_part is;
    const taper_status status = read_output(shard, output, common, &is);
    if (status == TAPER_OK && !is.parts && !is_forced)
        return refuse(shard, verb, output, "is", " that does not say what it was made of");
    const char *why = compare(shard, status, is);
    *done = !why;
    if (why)
        cli_note(common, verb, "%s is made again: %s", output, why);
    else
        cli_note(common, verb, "%s is made already, of the same inputs", output);
    return CLI_DONE;
}
