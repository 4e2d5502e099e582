/* class_links.c -- see class_links.h. */
#define _GNU_SOURCE /* realpath */
#include "cli/search/class_links.h"
#include "formats/file.h"
#include "formats/imageset/folder_walk.h"
#include "formats/imageset/imageset.h"
#include "formats/name_escape.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- names --- */

/* A label as one part of a path: malloc'd, NULL without memory. */
static char *folder_of(const char *label) {
    const bool is_plain = label && *label && strcmp(label, ".") && strcmp(label, "..");
    char *folder = strdup(is_plain ? label : label ? "class" : "unlabelled");
    for (char *at = folder; at && *at; at++)
        if (*at == '/' || (unsigned char)*at < 0x20 || *at == 0x7f) *at = '_';
    return folder;
}

/* FOLDER/LABEL/NAME. */
static char *link_path(const cli_class_links *links, const char *label, const char *name) {
    char *folder = folder_of(label), *plain = formats_name_unescape(name);
    char *below = folder && plain ? formats_path_join(folder, plain) : NULL;
    char *path = below ? formats_path_join(links->folder, below) : NULL;
    free(folder), free(plain), free(below);
    return path;
}

/* --- links --- */

/* Make the folders of the file `path`. Returns 0 or an errno. */
static int make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        const int failed = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        *slash = '/';
        if (failed) return failed;
    }
    return 0;
}

/* True if `path` is a link; *same: it has this target. */
static bool is_link(const char *path, const char *target, bool *same) {
    char there[PATH_MAX];
    const ssize_t n = readlink(path, there, sizeof there);
    *same = n >= 0 && (size_t)n == strlen(target) && !memcmp(there, target, (size_t)n);
    return n >= 0;
}

static taper_status put_link(const cli_class_links *links, const char *path, const char *target,
                             taper_error *error) {
    bool same = false;
    const bool link = is_link(path, target, &same);
    if (same) return TAPER_OK;
    if (link && links->force && unlink(path) != 0)
        return formats_fail_errno(error, errno, "replace the link");
    if (symlink(target, path) == 0) return TAPER_OK;
    if (errno != EEXIST) return formats_fail_errno(error, errno, "make the link");
    return formats_fail(error, TAPER_ERR_EXISTS,
                        link ? "is a link to another file; give -f to replace it"
                             : "is a file that is no link: it is not replaced; remove it, or give "
                               "another --link");
}

int cli_class_links_open(cli_class_links *links, const cli_code_set *set, const char *folder) {
    taper_error error = {0};
    links->folder = folder;
    links->force = set->common->force;
    if (!set->set || !formats_imageset_count(set->set) || !formats_imageset_name(set->set, 0) ||
        access(formats_imageset_path(set->set, 0), F_OK) != 0) {
        cli_error(set->verb, cli_code_set_path(set),
                  "--link links to files of one image each; `taper decode` writes them");
        return CLI_USAGE;
    }
    char *path = formats_path_join(folder, "x");
    const int failed = path ? make_folders(path) : ENOMEM;
    free(path);
    if (!failed) return CLI_DONE;
    return cli_fail(set->verb, folder, formats_fail_errno(&error, failed, "make the folder"),
                    &error);
}

void cli_class_links_add(cli_class_links *links, const cli_code_set *set, size_t i,
                         const char *label) {
    taper_error error = {0};
    const char *name = formats_imageset_name(set->set, i);
    char *path = name ? link_path(links, label, name) : NULL;
    char *target = realpath(formats_imageset_path(set->set, i), NULL);
    taper_status status = TAPER_OK;
    if (!path || !target)
        status = formats_fail_errno(&error, target ? ENOMEM : errno, "find the file");
    const int failed = status == TAPER_OK ? make_folders(path) : 0;
    if (failed) status = formats_fail_errno(&error, failed, "make the folder");
    if (status == TAPER_OK) status = put_link(links, path, target, &error);
    if (status != TAPER_OK) cli_fail(set->verb, path ? path : name, status, &error);
    links->made += status == TAPER_OK;
    links->failed += status != TAPER_OK;
    free(path), free(target);
}
