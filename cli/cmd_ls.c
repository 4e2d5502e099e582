/* cmd_ls.c -- lists the images of containers. */
#include "cli/cli.h"
#include "cli/common/plain_text.h"
#include "cli/image_lines.h"
#include <stdio.h>
#include <unistd.h>

typedef struct settings {
    cli_common common;
    cli_strings images;
    int is_long;
} settings;

static const cli_option options[] = {
    {"long", 'l', CLI_FLAG, .offset = offsetof(settings, is_long),
     .help = "also print number, size, kind, bytes, class and time of each image"},
    {"image", 'i', CLI_STRINGS, "LIST", offsetof(settings, images),
     .help =
         "only these images, by number from 1, range, name, end of a name or pattern: 3,7-9,*.jpg"},
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_ls = {
    .name = "ls",
    .run = cmd_ls,
    .what = "list the images of a container",
    .synopsis = "[options] CONTAINER...",
    .options = options,
    .about =
        "Prints the names of the images, one per line, in the order of the container; of a "
        "container without names, numbers. The file may be cut, as long as its front matter is "
        "complete. No image is decoded and no model is needed.\n\n"
        "-l prints a table. The number counts from 1, as in `extract`, `decode --image`, "
        "`remove` and `search --image`. Bytes are those of the image's data; those of the front "
        "matter are not among them. Images that are coded together have no bytes of their own: "
        "a ~ stands before the share of the group's bytes that an image has by its pixels. "
        "In a cut file the bytes that are here stand before all: 500/2000. Files that `encode "
        "--dedup` stored as another image come last; =7 means that this is image 7.\n\n"
        "The quality is `exact` where an image is known to equal its original in all pixels: "
        "drawings that are kept by their colours, and all images of `encode --lossless`, if no "
        "byte of them is missing. That of others is not in the file: `encode` and `truncate` tell "
        "it, and `compare` measures it against the originals.\n\n"
        "--json prints a line per image with schema (1), kind (image), file, image (the number), "
        "name, width, height, channels, depth, class, bytes, bytes_here, exact, coded_together, "
        "same_as and modified. coded_together is the number of images in the group: if that is 1, "
        "the bytes are exact. same_as is the number of the image that the file is stored as, or "
        "null. modified is the time of the image's file, in UTC; -l prints local time.",
    .examples = "taper ls photos.taper\n"
                "taper ls -l -i '*.jpg' photos.taper\n"
                "taper ls --json photos.taper\n"};

static void print(const settings *s, const char *path, const cli_image_lines *lines,
                  const cli_chosen *chosen) {
    if (s->common.json)
        cli_image_lines_json(lines, chosen, path);
    else if (s->is_long)
        cli_image_lines_table(lines, chosen);
    else
        cli_image_lines_names(lines, chosen);
}

static int list_container(const settings *s, const char *path) {
    cli_container container;
    cli_chosen chosen = {0};
    cli_image_lines lines = {0};
    int code = cli_container_open(&container, "ls", path, &s->common);
    if (code != CLI_DONE) return code;
    code = cli_chosen_make(&chosen, "ls", path, container.open, s->images.item, s->images.count);
    if (code == CLI_DONE && cli_image_lines_open(&lines, &container) != TAPER_OK)
        code = cli_fail("ls", path, TAPER_ERR_NOMEM, NULL);
    if (code == CLI_DONE) print(s, path, &lines, &chosen);
    cli_image_lines_close(&lines);
    cli_chosen_free(&chosen);
    cli_container_close(&container);
    return code;
}

static int list_all(const settings *s, char **path, size_t n) {
    int code = CLI_DONE;
    for (size_t i = 0; i < n; i++) {
        if (n > 1 && !s->common.json) {
            if (i) putchar('\n');
            cli_put_plain(stdout, path[i]);
            printf(":\n");
        }
        const int own = list_container(s, path[i]);
        if (i && own == CLI_IO && access(path[i], F_OK) != 0)
            cli_note(&s->common, "ls", "images are chosen with -i: taper ls -i '%.200s' %s",
                     path[i], path[0]);
        if (code == CLI_DONE) code = own;
    }
    return code;
}

int cmd_ls(int argc, char **argv) {
    settings s = {0};
    int first, code = cli_options_parse(&cli_verb_ls, argc, argv, &s, &first);
    if (code >= 0) return code;
    code = first == argc ? cli_usage(&cli_verb_ls, "give a container, or -")
                         : list_all(&s, argv + first, (size_t)(argc - first));
    cli_options_free(&cli_verb_ls, &s);
    return code;
}
