/* cmd_remove.c -- removes images from a container. */
#include "cli/changing.h"
#include "cli/cli.h"
#include "cli/common/spool.h"
#include <stdlib.h>

typedef struct settings {
    cli_common common;
    const char *output, *model;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the result here, - is standard output; default: change the container itself"},
    {"model", 'm', CLI_STRING, "MODEL", offsetof(settings, model),
     .help = "the model, unless it is in the container or built in"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_remove = {
    .name = "remove",
    .run = cmd_remove,
    .what = "remove images from a container",
    .synopsis = "[options] CONTAINER IMAGE...",
    .options = options,
    .about =
        "IMAGE is a name, the end of a name, a pattern such as '*.jpg', a number from 1, or a "
        "range such as 3-7, as of `extract`; `taper ls -l` lists names and numbers. Later images "
        "move up: their numbers change. The container is replaced in one step, once the new one "
        "is complete on the disk; -o leaves it as it is.\n\n"
        "Nothing of a removed image stays in the file: neither data nor name, label or code for "
        "search. (The disk may keep the blocks of the old file until they are used again.) The "
        "names of classes stay.\n\n"
        "The other images are not encoded again: they decode as before, with one exception. Groups "
        "that keep all images are copied. Groups that lose some of their images are decoded to "
        "their codes, and the codes of the others are written again, which takes as long as "
        "decoding these groups twice. The exception: in a container that was encoded at a "
        "quality, which is the default, or with a size limit, or that was truncated, images end "
        "within planes of bits. The others of such a group may gain or lose bits of these planes. "
        "Many of them may then change by a few levels, at the same mean PSNR. With the layouts "
        "`image` and `gallery` every image is a group, so no pixel changes; nor with --best or "
        "--lossless.\n\n"
        "A container that was cut by other means than `taper truncate` is refused.",
    .examples = "taper remove photos.taper blurred.png\n"
                "taper remove -o public.taper photos.taper 'private/*' 3 7-9\n"};

/* Mark the images of which nothing stays: neither their own name nor a further one. */
static void mark_gone(const cli_change *change, const cli_chosen *chosen, bool *gone) {
    const taper_container_info *info = &change->container.info;
    uint64_t next = 0;
    for (; next < chosen->count && cli_chosen_image(chosen, next) < info->images; next++)
        gone[cli_chosen_image(chosen, next)] = true;
    for (uint64_t i = info->images; i < cli_images_in(info); i++) {
        taper_image_info of = {.size = sizeof of};
        const bool is_chosen = next < chosen->count && cli_chosen_image(chosen, next) == i;
        next += is_chosen;
        if (!is_chosen && !taper_container_get_image(change->container.open, i, &of, NULL))
            gone[of.same_as] = false;
    }
}

/* Groups that lose some of their images; they are coded again. */
static uint64_t count_recoded(const cli_change *change, const cli_chosen *chosen) {
    const taper_container *open = change->container.open;
    const taper_container_info *info = &change->container.info;
    uint32_t *lost = calloc((size_t)info->groups + 1, sizeof *lost);
    bool *gone = calloc((size_t)info->images + 1, sizeof *gone);
    taper_image_info of = {.size = sizeof of};
    uint64_t n = 0, first, count;
    if (lost && gone) mark_gone(change, chosen, gone);
    for (uint64_t i = 0; lost && gone && i < info->images; i++)
        if (gone[i] && !taper_container_get_image(open, i, &of, NULL)) lost[of.group]++;
    for (uint32_t g = 0; lost && g < info->groups; g++)
        n += lost[g] && !taper_container_group(open, g, &first, &count, NULL) && lost[g] < count;
    free(lost), free(gone);
    return n;
}

static int remove_images(const settings *s, cli_change *change, const cli_chosen *chosen,
                         const taper_model *model) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(&s->common);
    const uint64_t recoded = count_recoded(change, chosen), was = change->container.source.size;
    taper_remove_options how = {.size = sizeof how, .model = model, .limits = &limits};
    taper_status status = cli_spool_open(&how.spool, &error);
    if (status != TAPER_OK) return cli_fail("remove", NULL, status, &error);
    int code = cli_change_begin(change);
    if (code == CLI_DONE) {
        const taper_sink sink = cli_output_sink(&change->out);
        status = taper_remove(&change->container.source, chosen->image, (size_t)chosen->count,
                              &sink, &how, &error);
        code = cli_change_end(change, status, &error);
    }
    fclose(how.spool);
    if (code == CLI_DONE)
        cli_note(&s->common, "remove",
                 "%llu of %llu images removed, %llu bytes of %llu left, in %s; %llu of %u groups "
                 "coded again",
                 (unsigned long long)chosen->count,
                 (unsigned long long)cli_images_in(&change->container.info),
                 (unsigned long long)change->out.written, (unsigned long long)was,
                 cli_change_target(change), (unsigned long long)recoded,
                 change->container.info.groups);
    return code;
}

static int run(const settings *s, char **operand, size_t n) {
    cli_change change;
    cli_chosen chosen = {0};
    cli_model model = {0};
    int code = s->model ? cli_coder_open(&model, "remove", s->model, &s->common) : CLI_DONE;
    if (code != CLI_DONE) return code;
    code = cli_change_open(&change, "remove", operand[0], s->output, &s->common);
    if (code == CLI_DONE) {
        code = cli_chosen_make(&chosen, "remove", operand[0], change.container.open,
                               (const char *const *)operand + 1, n - 1);
        if (code == CLI_DONE) code = remove_images(s, &change, &chosen, model.model);
        cli_chosen_free(&chosen);
        cli_change_close(&change);
    }
    cli_model_close(&model);
    return code;
}

int cmd_remove(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_remove, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (argc - first < 2)
        return cli_usage(&cli_verb_remove, "give a container, and the images to remove from it");
    return run(&s, argv + first, (size_t)(argc - first));
}
