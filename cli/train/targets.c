/* targets.c -- see targets.h. */
#include "cli/train/targets.h"
#include "cli/common/signals.h"
#include "formats/file.h"
#include "train/optimise/checkpoint.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *cli_train_drawn(const cli_train_run *s, size_t i, char name[CLI_TRAIN_NAME]) {
    static const char *const end[CLI_TRAIN_DRAWN] = {
        ".csv", ".gp", ".svg", ".png", "-sweep.csv", "-sweep.gp", "-sweep.svg", "-sweep.png"};
    snprintf(name, CLI_TRAIN_NAME, "%.4180s%s", s->plot, end[i]);
    return name;
}

static int check_target(const char *verb, const char *path, bool force) {
    formats_atomic_file *file;
    taper_error error = {0};
    taper_status status = formats_atomic_file_open(
        &file, path, force ? FORMATS_ATOMIC_OVERWRITE : 0, cli_signals_watch(), &error);
    if (status != TAPER_OK) return cli_fail(verb, path, status, &error);
    formats_atomic_file_abort(file);
    return CLI_DONE;
}

/* An empty file, which an interrupted run can leave, may be replaced. Pipes and devices are not
 * opened here: their reader would see an end of file. */
static int refuse_existing(const char *verb, const char *path) {
    struct stat there;
    taper_error error = {0};
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode) || !there.st_size) return CLI_DONE;
    const taper_status status = formats_fail_errno(&error, EEXIST, "write");
    return cli_fail(verb, path, status, &error);
}

/* --- checkpoints ------------------------------------------------------------------------ */

/* Suffixes of the checkpoints of a run's networks: any of .8x8, .bits, .head, .conv, in this order.
 *  */
static bool is_of_a_network(const char *end) {
    static const char *const network[] = {".bits", ".head", ".conv"};
    const char digits[] = "0123456789";
    while (*end) {
        size_t n = 0;
        for (size_t i = 0; i < 3 && !n; i++)
            if (!strncmp(end, network[i], strlen(network[i]))) n = strlen(network[i]);
        if (!n && *end == '.') {
            const size_t width = strspn(end + 1, digits);
            if (!width || end[1 + width] != 'x') return false;
            n = 2 + width + strspn(end + 2 + width, digits);
        }
        if (!n) return false;
        end += n;
    }
    return true;
}

static int refuse_run(const char *verb, const char *path, const char *found) {
    cli_error(verb, path,
              "%s is the checkpoint of an earlier run, and would be lost; go on from it with "
              "--resume, give another name, or allow overwriting (-f)",
              found);
    return CLI_IO;
}

/* The checkpoints of the networks are in the same folder. */
static int refuse_earlier_run(const char *verb, const char *path) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(base - path)) : strdup(".");
    DIR *dir = folder ? opendir(folder) : NULL;
    const size_t n = strlen(base);
    int code = CLI_DONE;
    for (struct dirent *d; dir && code == CLI_DONE && (d = readdir(dir));) {
        char found[CLI_TRAIN_NAME];
        if (strncmp(d->d_name, base, n) != 0 || !is_of_a_network(d->d_name + n)) continue;
        snprintf(found, sizeof found, "%.*s%s", (int)(base - path), path, d->d_name);
        if (train_checkpoint_is_there(found)) code = refuse_run(verb, path, found);
    }
    if (dir) closedir(dir);
    free(folder);
    return code;
}

static int check_checkpoint(const char *verb, const cli_train_run *s) {
    taper_error error = {0};
    const taper_status status =
        s->resume ? TAPER_OK : train_checkpoint_replaces(s->checkpoint, &error);
    if (status != TAPER_OK) return cli_fail(verb, s->checkpoint, status, &error);
    if (!s->resume && !s->common.force) {
        const int code = refuse_earlier_run(verb, s->checkpoint);
        if (code != CLI_DONE) return code;
    }
    return check_target(verb, s->checkpoint, true);
}

int cli_train_check_targets(const char *verb, const cli_train_run *s) {
    const bool force = s->common.force;
    int code = check_target(verb, s->output, force);
    if (code == CLI_DONE && s->checkpoint) code = check_checkpoint(verb, s);
    if (code == CLI_DONE && s->log && !s->resume && !force) code = refuse_existing(verb, s->log);
    for (size_t i = 0; s->plot && !force && i < CLI_TRAIN_DRAWN && code == CLI_DONE; i++) {
        char name[CLI_TRAIN_NAME];
        code = refuse_existing(verb, cli_train_drawn(s, i, name));
    }
    return code;
}
