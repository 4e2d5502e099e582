/* picture_files.c -- see picture_files.h. */
#define _GNU_SOURCE /* O_PATH; sync */
#include "cli/picture_files.h"
#include "cli/chosen_images.h"
#include "cli/common/outputs.h"
#include "cli/common/signals.h"
#include "cli/name_case.h"
#include "cli/picture_metadata.h"
#include "cli/picture_names.h"
#include "formats/atomic_file.h"
#include "formats/file.h"
#include "formats/imageset/folder_walk.h"
#include "formats/images/own_mark.h"
#include "formats/images/png.h"
#include "formats/images/pnm.h"
#include "formats/writers/picture_writer.h"
#include "formats/images/row_writer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders are opened for traversal only, which needs no read permission. */
#ifdef O_PATH
enum { TO_PASS = O_PATH | O_DIRECTORY | O_CLOEXEC };
#else
enum { TO_PASS = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
#endif

/* The mark in files of decode, so that -f replaces only these, and only unchanged ones. */
#define WRITTEN_BY "taper decode"
static const char marked[] = WRITTEN_BY FORMATS_OWN_MARK_EMPTY;

/* --- folders below the output folder --- */

static int fail_path(const cli_decode_request *q, const char *name, taper_status status,
                     const taper_error *error) {
    char *path = formats_path_join(q->output, name);
    int code = cli_fail("decode", path ? path : name, status, error);
    free(path);
    return code;
}

/* Open the folder of the file `name` without following a link below root. make: create missing
 * folders. Returns a descriptor, or -1 with errno; ELOOP: a link. */
static int open_below(int root, const char *name, bool make) {
    int at = root;
    char part[4096];
    for (const char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
        struct stat st;
        int below = -1, errnum = ENAMETOOLONG;
        size_t n = (size_t)(slash - name);
        if (n < sizeof part) {
            memcpy(part, name, n);
            part[n] = 0;
            if (make && mkdirat(at, part, 0777) != 0 && errno != EEXIST)
                errnum = errno;
            else if ((below = openat(at, part, TO_PASS | O_NOFOLLOW)) < 0)
                errnum = errno;
            if (below < 0 && fstatat(at, part, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISLNK(st.st_mode))
                errnum = ELOOP;
        }
        if (at != root) close(at);
        if (below < 0) {
            errno = errnum;
            return -1;
        }
        at = below;
    }
    return at == root ? fcntl(root, F_DUPFD_CLOEXEC, 0) : at;
}

static bool is_refusal(int errnum) {
    return errnum == ENAMETOOLONG || errnum == EILSEQ || errnum == EINVAL;
}

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Report why there is no folder for a file. TAPER_ERR_UNSUPPORTED: its name is refused. */
static taper_status no_folder(int errnum, taper_error *error) {
    if (errnum == ELOOP)
        return formats_fail(error, TAPER_ERR_IO,
                            "leads through a link, and none is followed below the output folder; "
                            "remove it, or give another -o");
    taper_status status = formats_fail_errno(error, errnum, "make the folder");
    if (!is_refusal(errnum)) return status;
    return formats_fail(error, TAPER_ERR_UNSUPPORTED, "the file system refuses this name: %.150s",
                        error->text);
}

static const char not_own[] =
    "exists, and is not as `taper decode` wrote it: it is not overwritten, "
    "even with -f; remove it, or give another -o";

/* True if this file in an open folder is unchanged since decode wrote it. */
static bool is_own(int folder, const char *name) {
    const int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    const bool is_own = formats_own_mark_holds(descriptor, WRITTEN_BY);
    close(descriptor);
    return is_own;
}

/* True if a file is there that decode did not write, or that was changed since. Links and devices
 * are none of these: they are replaced, and what a link leads to stays. */
static bool is_foreign(int folder, const char *name) {
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           !is_own(folder, name);
}

/* Check whether file k can be created. Called for all files before the first is written. */
static int check_target(const cli_picture_plan *plan, const cli_decode_request *q, uint64_t k) {
    struct stat st, input;
    taper_error error = {0};
    const char *name = plan->name[k];
    int folder = open_below(plan->folder, name, false);
    if (folder < 0 && errno == ELOOP) return fail_path(q, name, no_folder(ELOOP, &error), &error);
    if (folder < 0) return CLI_DONE;
    int there = fstatat(folder, last_part(name), &st, AT_SYMLINK_NOFOLLOW) == 0;
    const bool may_go = there && !is_foreign(folder, last_part(name));
    close(folder);
    if (!there) return CLI_DONE;
    taper_status status = TAPER_ERR_EXISTS;
    if (strcmp(q->input, "-") && stat(q->input, &input) == 0 && S_ISREG(st.st_mode) &&
        input.st_dev == st.st_dev && input.st_ino == st.st_ino)
        status = formats_fail(&error, TAPER_ERR_ARG,
                              "is an input too, and would be lost; give another name with -o");
    else if (!q->common->force)
        formats_fail(&error, status, "exists already; give -f to overwrite, or another -o");
    else if (S_ISDIR(st.st_mode))
        formats_fail(&error, status, "is a folder where a file should come; give another -o");
    else if (!may_go)
        formats_fail(&error, status, "%s", not_own);
    else
        return CLI_DONE;
    return fail_path(q, name, status, &error);
}

/* Create the folder of file k. */
static int make_folder(const cli_picture_plan *plan, const cli_decode_request *q, uint64_t k) {
    taper_error error = {0};
    int folder = open_below(plan->folder, plan->name[k], true);
    if (folder >= 0) {
        close(folder);
        return CLI_DONE;
    }
    taper_status status = no_folder(errno, &error);
    plan->refused[k] = status == TAPER_ERR_UNSUPPORTED;
    int code = fail_path(q, plan->name[k], status, &error);
    return plan->refused[k] ? CLI_DONE : code;
}

/* Consecutive files usually share a folder. */
static bool same_folder(const char *a, const char *b) {
    size_t n = (size_t)(last_part(a) - a);
    return n == (size_t)(last_part(b) - b) && !strncmp(a, b, n);
}

/* --- the output folder --- */

/* Create the folder if it does not exist; links are followed. Returns 0 or an errno. */
static int make_output(char *path) {
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/') continue;
        char end = *at;
        struct stat st;
        *at = 0;
        int failed = mkdir(path, 0777) == 0 ? 0 : errno;
        if (failed && stat(path, &st) == 0) failed = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
        *at = end;
        if (failed || !end) return failed;
    }
}

static int open_output(cli_picture_plan *plan, const cli_decode_request *q, bool *is_new) {
    struct stat st;
    taper_error error = {0};
    char *path = strdup(q->output);
    *is_new = stat(q->output, &st) != 0;
    int failed = !path ? ENOMEM : path[0] ? make_output(path) : ENOENT;
    free(path);
    if (failed)
        return cli_fail("decode", q->output, formats_fail_errno(&error, failed, "make the folder"),
                        &error);
    plan->folder = open(q->output, TO_PASS);
    if (plan->folder >= 0) return CLI_DONE;
    return cli_fail("decode", q->output, formats_fail_errno(&error, errno, "open the folder"),
                    &error);
}

/* --- case --- */

/* True if the file system ignores case. Tested with an empty file. */
static bool ignores_case(int folder) {
    char small[64], large[64];
    struct stat st;
    snprintf(small, sizeof small, ".taper-%ld-case.tmp", (long)getpid());
    snprintf(large, sizeof large, ".TAPER-%ld-CASE.TMP", (long)getpid());
    cli_signals_hold();
    int descriptor = openat(folder, small, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool same = descriptor >= 0 && fstatat(folder, large, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (descriptor >= 0) {
        close(descriptor);
        unlinkat(folder, small, 0);
    }
    cli_signals_let_go();
    return same;
}

/* Warn about names that differ by case only: other systems would have one file. */
static taper_status settle_case(cli_picture_plan *plan, const cli_decode_request *q,
                                const taper_container *container) {
    const char *example = NULL;
    uint64_t clashes =
        cli_name_case_clashes((const char *const *)plan->name, plan->count, &example);
    if (clashes == UINT64_MAX) return TAPER_ERR_NOMEM;
    if (!clashes) return TAPER_OK;
    bool folding = ignores_case(plan->folder);
    cli_name_case_warn("decode", q->input, clashes, example,
                       folding
                           ? "this file system ignores case, so that -2, -3 ... is put behind them"
                           : CLI_NAME_CASE_ELSEWHERE);
    return folding ? cli_picture_names_make(plan, q, container, true) : TAPER_OK;
}

/* --- the plan --- */

/* Charge the memory of the names: those of all images while they are chosen, as a name must not
 * depend on which images are decoded. */
static int hold_names(cli_picture_plan *plan, const cli_decode_request *q,
                      const taper_container *container, uint64_t images) {
    enum { EACH = 96, NUMBER = 12 }; /* bytes of a name beside its two texts; "000001.png" */
    const taper_limits limits = cli_limits(q->common);
    taper_error error = {0};
    uint64_t bytes = images * EACH;
    for (uint64_t i = 0; i < images; i++) {
        taper_image_info info = {.size = sizeof info};
        taper_container_get_image(container, q->chosen ? q->chosen[i] : i, &info, NULL);
        bytes += 2 * (info.name ? strlen(info.name) + 1 : NUMBER);
    }
    if (bytes > limits.max_memory)
        return cli_fail("decode", q->input,
                        formats_fail_fact(&error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                          formats_memory_needed(&limits, bytes),
                                          "the names of %llu files take %llu bytes of memory, and "
                                          "%llu are left",
                                          (unsigned long long)images, (unsigned long long)bytes,
                                          (unsigned long long)limits.max_memory),
                        &error);
    plan->held = cli_memory_hold(bytes);
    return CLI_DONE;
}

static int name_and_settle(cli_picture_plan *plan, const cli_decode_request *q,
                           const taper_container *container, bool *is_new) {
    plan->name = calloc((size_t)plan->count + 1, sizeof *plan->name);
    plan->change = calloc((size_t)plan->count + 1, sizeof *plan->change);
    plan->refused = calloc((size_t)plan->count + 1, sizeof *plan->refused);
    if (!plan->name || !plan->change || !plan->refused ||
        cli_picture_names_make(plan, q, container, false) != TAPER_OK)
        return cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    int code = open_output(plan, q, is_new);
    if (code == CLI_DONE && settle_case(plan, q, container) != TAPER_OK)
        code = cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    if (code == CLI_DONE) cli_picture_names_report(plan, q, container);
    return code;
}

int cli_picture_files_plan(cli_picture_plan *plan, const cli_decode_request *q,
                           const taper_container *container) {
    taper_container_info info = {.size = sizeof info};
    bool is_new = false;
    taper_container_get_info(container, &info, NULL);
    if (q->class_folders && !info.has_labels) {
        cli_error("decode", q->input, "has no labels, which --class-folders needs");
        return CLI_USAGE;
    }
    int code = hold_names(plan, q, container, q->chosen ? q->n_chosen : cli_images_in(&info));
    if (code == CLI_DONE) code = name_and_settle(plan, q, container, &is_new);
    for (uint64_t k = 0; k < plan->count && code == CLI_DONE && !is_new; k++)
        code = check_target(plan, q, k);
    for (uint64_t k = 0; k < plan->count && code == CLI_DONE; k++)
        if (!k || plan->refused[k - 1] || !same_folder(plan->name[k], plan->name[k - 1]))
            code = make_folder(plan, q, k);
    return code;
}

void cli_picture_files_free(cli_picture_plan *plan) {
    for (uint64_t k = 0; plan->name && k < plan->count; k++) free(plan->name[k]);
    if (plan->folder >= 0) close(plan->folder);
    cli_memory_release(plan->held);
    free(plan->name);
    free(plan->change);
    free(plan->refused);
}

/* --- writing --- */

/* A file of the plan that is being written. */
typedef struct target {
    formats_atomic_file *file;
    const char *last; /* its name in `folder`, -1: the only file, */
    const char *path; /* which has this path */
    int folder;
    unsigned flags;
    formats_metadata metadata;
} target;

static taper_status open_below_output(const cli_picture_plan *plan, const cli_decode_request *q,
                                      uint64_t k, target *t, taper_error *error) {
    const char *name = plan->name[k];
    t->last = last_part(name);
    char *path = formats_path_join(q->output, name);
    if (!path) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open the output");
    path[strlen(path) - strlen(t->last)] = 0; /* the folder, for the watch */
    t->folder = open_below(plan->folder, name, true);
    const taper_status status =
        t->folder < 0 ? no_folder(errno, error)
                      : formats_atomic_file_open_in(&t->file, t->folder, path, t->last, t->flags,
                                                    cli_signals_watch(), error);
    free(path);
    if (status != TAPER_OK && t->folder >= 0) close(t->folder);
    return status;
}

static taper_status open_target(const cli_picture_plan *plan, const cli_decode_request *q,
                                uint64_t k, bool overwrite, target *t, taper_error *error) {
    *t = (target){.folder = -1,
                  .path = q->output,
                  .flags = FORMATS_ATOMIC_NO_SYNC | (overwrite ? FORMATS_ATOMIC_OVERWRITE : 0)};
    cli_picture_metadata_get(plan->metadata, cli_picture_plan_image(plan, k), &t->metadata);
    const taper_status status =
        plan->one_file
            ? formats_atomic_file_open(&t->file, q->output, t->flags, cli_signals_watch(), error)
            : open_below_output(plan, q, k, t, error);
    if (status != TAPER_OK) formats_metadata_free(&t->metadata);
    return status;
}

/* Put the file in place, or remove it after a failure. */
static taper_status close_target(target *t, taper_status status, taper_error *error) {
    if (status == TAPER_OK && t->folder >= 0) status = formats_atomic_file_finish(t->file, error);
    /* checked again: the file may have been made or changed while this one was decoded */
    if (status == TAPER_OK && t->folder >= 0 && (t->flags & FORMATS_ATOMIC_OVERWRITE) &&
        is_foreign(t->folder, t->last))
        status = formats_fail(error, TAPER_ERR_EXISTS, "%s", not_own);
    if (status == TAPER_OK)
        status = formats_atomic_file_commit(t->file, error);
    else
        formats_atomic_file_abort(t->file);
    if (status == TAPER_OK) {
        const char *name = t->folder < 0 ? t->path : t->last;
        cli_picture_set_time(t->folder < 0 ? AT_FDCWD : t->folder, name, &t->metadata);
    }
    if (t->folder >= 0) close(t->folder);
    formats_metadata_free(&t->metadata);
    return status;
}

/* Report that file k was not written. */
static int fail_target(const cli_picture_plan *plan, const cli_decode_request *q, uint64_t k,
                       taper_status status, const taper_error *error) {
    if (status == TAPER_OK) return CLI_DONE;
    if (plan->one_file) return cli_fail("decode", q->output, status, error);
    int code = fail_path(q, plan->name[k], status, error);
    plan->refused[k] = status == TAPER_ERR_UNSUPPORTED;
    return plan->refused[k] ? CLI_SOME_FAILED : code;
}

taper_status cli_picture_encode(const cli_picture_form *form, const taper_image *image,
                                const formats_metadata *metadata, uint8_t **bytes, size_t *size,
                                taper_error *error) {
    static const formats_written written[] = {[CLI_PICTURE_JPEG] = FORMATS_WRITE_JPEG,
                                              [CLI_PICTURE_WEBP] = FORMATS_WRITE_WEBP,
                                              [CLI_PICTURE_TIFF] = FORMATS_WRITE_TIFF};
    if (form->format == CLI_PICTURE_PNM)
        return (form->is_pam ? formats_pam_encode : formats_pnm_encode)(image, bytes, size, error);
    taper_status status;
    if (form->format == CLI_PICTURE_PNG) {
        status = formats_png_encode_with(image, marked, metadata, bytes, size, error);
    } else {
        const formats_write_options how = {written[form->format], form->quality, marked, metadata};
        status = formats_write_picture(&how, image, bytes, size, error);
    }
    if (status == TAPER_OK) formats_own_mark_set(*bytes, *size, WRITTEN_BY);
    return status;
}

/* A PNM file in the output folder has a mark; a single PNM file named by -o has none. */
static taper_status encode_in_folder(const cli_picture_form *form, const taper_image *image,
                                     const formats_metadata *metadata, uint8_t **bytes,
                                     size_t *size, taper_error *error) {
    if (form->format != CLI_PICTURE_PNM)
        return cli_picture_encode(form, image, metadata, bytes, size, error);
    taper_status status = form->is_pam ? formats_pam_encode_by(image, marked, bytes, size, error)
                                       : formats_pnm_encode_by(image, marked, bytes, size, error);
    if (status == TAPER_OK) formats_own_mark_set(*bytes, *size, WRITTEN_BY);
    return status;
}

int cli_picture_put(const cli_picture_plan *plan, const cli_decode_request *q, uint64_t k,
                    const taper_image *image, bool overwrite) {
    taper_error error = {0};
    uint8_t *bytes = NULL;
    size_t size;
    target to;
    const cli_picture_form form = cli_picture_plan_form(plan, q, k);
    if (plan->refused && plan->refused[k]) return CLI_SOME_FAILED;
    taper_status status = open_target(plan, q, k, overwrite, &to, &error);
    if (status != TAPER_OK) return fail_target(plan, q, k, status, &error);
    status = plan->one_file ? cli_picture_encode(&form, image, &to.metadata, &bytes, &size, &error)
                            : encode_in_folder(&form, image, &to.metadata, &bytes, &size, &error);
    if (status == TAPER_OK) status = formats_atomic_file_write(to.file, bytes, size, &error);
    status = close_target(&to, status, &error);
    free(bytes);
    return fail_target(plan, q, k, status, &error);
}

/* --- row by row --- */

/* Where rows go, and what became of them. */
typedef struct row_output {
    formats_row_writer *writer;
    taper_status status; /* the first failure of writing */
    taper_error error;
} row_output;

static taper_status write_to_file(void *file, const void *bytes, size_t n) {
    return formats_atomic_file_write(file, bytes, n, NULL);
}

static taper_status put_rows(void *user, uint32_t first, const taper_image *rows) {
    row_output *o = user;
    (void)first;
    return o->status = formats_row_writer_put(o->writer, rows, &o->error);
}

/* Set the mark of a file that is complete; a stream keeps its empty mark. */
static taper_status set_mark(formats_atomic_file *file, taper_error *error) {
    int descriptor;
    TAPER_TRY(formats_atomic_file_read_back(file, &descriptor, error));
    if (descriptor < 0 || formats_own_mark_set_in(descriptor, WRITTEN_BY)) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_IO, "cannot read the file again to finish it");
}

/* Render the rows into the file. *rendered: what the decoder returned. */
static taper_status write_rows(const cli_picture_plan *plan, bool is_pnm,
                               const cli_picture_rows *of, target *to, taper_completeness *done,
                               taper_status *rendered, taper_error *error) {
    formats_atomic_file *file = to->file;
    const taper_sink sink = {file, write_to_file};
    row_output output = {0};
    const taper_row_sink rows = {&output, put_rows};
    const formats_rows_beside beside = {is_pnm && plan->one_file ? NULL : marked, &to->metadata};
    TAPER_TRY(formats_row_writer_open(&output.writer, is_pnm ? FORMATS_ROWS_PNM : FORMATS_ROWS_PNG,
                                      &of->size, &beside, &sink, error));
    *rendered =
        taper_decoder_render_rows(of->decoder, of->image, of->scale, of->crop, &rows, done, error);
    if (output.status != TAPER_OK) {
        const taper_error *problem = formats_atomic_file_problem(file);
        *error = problem->status ? *problem : output.error;
    }
    taper_status status = output.status;
    if (status == TAPER_OK && (*rendered == TAPER_OK || *rendered == TAPER_ERR_CORRUPT)) {
        status = formats_row_writer_finish(output.writer, &output.error);
        if (status == TAPER_OK) status = set_mark(file, &output.error);
        if (status != TAPER_OK) *error = output.error;
    }
    formats_row_writer_free(output.writer);
    return status;
}

int cli_picture_put_rows(const cli_picture_plan *plan, const cli_decode_request *q, uint64_t k,
                         const cli_picture_rows *of, taper_completeness *done,
                         taper_status *rendered, taper_error *error) {
    target to;
    *rendered = TAPER_OK;
    if (plan->refused && plan->refused[k]) return CLI_SOME_FAILED;
    taper_status status = open_target(plan, q, k, q->common->force, &to, error);
    if (status != TAPER_OK) return fail_target(plan, q, k, status, error);
    taper_error damage;
    const bool is_pnm = cli_picture_plan_form(plan, q, k).format == CLI_PICTURE_PNM;
    status = write_rows(plan, is_pnm, of, &to, done, rendered, error);
    const bool is_failed = *rendered != TAPER_OK && *rendered != TAPER_ERR_CORRUPT;
    damage = *error;
    if (status == TAPER_OK && is_failed) {
        close_target(&to, *rendered, error);
        *error = damage;
        return cli_fail("decode", q->input, *rendered, error);
    }
    status = close_target(&to, status, error);
    if (status == TAPER_OK) *error = damage;
    return fail_target(plan, q, k, status, error);
}

uint64_t cli_pictures_refused(const cli_picture_plan *plan, const cli_decode_request *q) {
    uint64_t n = 0;
    for (uint64_t k = 0; plan->refused && k < plan->count; k++) n += plan->refused[k];
    if (n)
        cli_error("decode", q->input,
                  "%llu image%s not written, as the file system refuses the name%s; the rest was",
                  (unsigned long long)n, n == 1 ? " was" : "s were", n == 1 ? "" : "s");
    return n;
}

void cli_pictures_sync(void) { sync(); }
