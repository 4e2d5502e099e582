/* cmd_rename.c -- gives an image of a container another name. */
#include "cli/changing.h"
#include "cli/cli.h"
#include "formats/name_escape.h"
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    cli_common common;
    const char *output;
} settings;

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
     .help = "write the result here, - is standard output; default: change the container itself"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_rename = {
    .name = "rename",
    .run = cmd_rename,
    .what = "give an image of a container another name",
    .synopsis = "[options] CONTAINER IMAGE NAME",
    .options = options,
    .about =
        "IMAGE is a name, the end of a name, a number from 1, or a pattern that fits one image, "
        "as of `extract`. NAME is a relative path, such as cats/1.png, that no other image has. "
        "The suffix is part of it; it changes what `extract` writes with --format original "
        "alone. The class stays, too.\n\n"
        "Only the front matter changes; the data of all images are copied as they are, also "
        "those of a cut file. The container is replaced in one step, once the new one is "
        "complete on the disk; -o leaves it as it is. If the container has no names, the other "
        "images get their numbers for names.",
    .examples = "taper rename photos.taper IMG_0001.jpg holiday/beach.jpg\n"
                "taper rename -o named.taper photos.taper 17 cat.png\n"};

static const char *name_of(const taper_container *container, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    return taper_container_get_image(container, i, &info, NULL) == TAPER_OK ? info.name : NULL;
}

/* The image that the word chooses. */
static int choose(const cli_change *change, const char *word, uint64_t *image) {
    cli_chosen chosen;
    int code = cli_chosen_make(&chosen, "rename", change->path, change->container.open, &word, 1);
    if (code != CLI_DONE) return code;
    if (chosen.count != 1) {
        cli_error("rename", change->path, "'%.200s' fits %llu images; a name is for one", word,
                  (unsigned long long)chosen.count);
        code = CLI_USAGE;
    } else
        *image = chosen.image[0];
    cli_chosen_free(&chosen);
    return code;
}

static int check_name(const cli_change *change, uint64_t image, const char *name) {
    if (!formats_name_is_legal(name)) {
        cli_error("rename", change->path,
                  "'%.200s' cannot be a name: give a relative path of up to 4,095 bytes, without "
                  "parts '.' and '..'",
                  name);
        return CLI_USAGE;
    }
    for (uint64_t i = 0; i < cli_images_in(&change->container.info); i++) {
        const char *other = i == image ? NULL : name_of(change->container.open, i);
        if (!other || strcmp(other, name) != 0) continue;
        cli_error("rename", change->path,
                  "image %llu is '%.200s' already; rename or remove that one first",
                  (unsigned long long)i + 1, name);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static int rename_image(const settings *s, cli_change *change, uint64_t image, const char *name) {
    taper_error error = {0};
    const taper_limits limits = cli_limits(&s->common);
    const taper_name names[] = {{image, name}};
    const char *before = name_of(change->container.open, image);
    int code = cli_change_begin(change);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&change->out);
    const taper_status status =
        taper_rename(&change->container.source, names, 1, &sink, &limits, &error);
    code = cli_change_end(change, status, &error);
    if (code == CLI_DONE)
        cli_note(&s->common, "rename", "image %llu, %.200s, is %.200s, in %s",
                 (unsigned long long)image + 1, before ? before : "without a name", name,
                 cli_change_target(change));
    return code;
}

static int run(const settings *s, char **operand) {
    cli_change change;
    uint64_t image = 0;
    /* as `ls` prints it, or as the name of a file with control characters */
    char *name =
        formats_name_is_legal(operand[2]) ? strdup(operand[2]) : formats_name_escape(operand[2]);
    if (!name) return cli_fail("rename", operand[0], TAPER_ERR_NOMEM, NULL);
    int code = cli_change_open(&change, "rename", operand[0], s->output, &s->common);
    if (code == CLI_DONE) {
        code = choose(&change, operand[1], &image);
        if (code == CLI_DONE) code = check_name(&change, image, name);
        if (code == CLI_DONE) code = rename_image(s, &change, image, name);
        cli_change_close(&change);
    }
    free(name);
    return code;
}

int cmd_rename(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_rename, argc, argv, &s, &first);
    if (code >= 0) return code;
    if (argc - first != 3)
        return cli_usage(&cli_verb_rename, "give a container, an image of it, and its new name");
    return run(&s, argv + first);
}
