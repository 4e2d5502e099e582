/* changing.c -- see changing.h. */
#include "cli/changing.h"
#include <string.h>
#include <sys/stat.h>

static bool is_in_place(const cli_change *c) {
    return !c->output || cli_is_same_file(c->output, c->path);
}

/* A file that nobody may write was protected on purpose; renaming over it would still succeed. */
static bool is_protected(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & 0222);
}

int cli_change_open(cli_change *c, const char *verb, const char *path, const char *output,
                    const cli_common *common) {
    *c = (cli_change){.verb = verb, .path = path, .output = output, .common = common};
    if (!output && !strcmp(path, "-")) {
        cli_error(verb, path, "cannot be changed in its place; give -o FILE");
        return CLI_USAGE;
    }
    if (is_in_place(c) && remote_is_url(path)) {
        cli_error(verb, path, "is a URL, whose file cannot be changed; give -o FILE");
        return CLI_USAGE;
    }
    if (is_in_place(c) && !common->force && is_protected(path)) {
        cli_error(verb, path,
                  "is write-protected; give -f to change it all the same, or -o FILE to leave it");
        return CLI_IO;
    }
    return cli_container_open(&c->container, verb, path, common);
}

void cli_change_close(cli_change *c) {
    formats_atomic_file_abort(c->out.file); /* NULL once closed */
    cli_container_close(&c->container);
    *c = (cli_change){0};
}

int cli_change_begin(cli_change *c) {
    cli_common common = *c->common;
    if (is_in_place(c)) common.force = 1;
    return cli_output_open(&c->out, c->verb, is_in_place(c) ? c->path : c->output, &common);
}

int cli_change_end(cli_change *c, taper_status status, const taper_error *error) {
    return cli_output_close(&c->out, c->path, status, error);
}

const char *cli_change_target(const cli_change *c) {
    return is_in_place(c) ? c->path : cli_output_name(c->output);
}
