/* decoding.c -- names, folders and files for decoded images; see decoding.h. */
#define _XOPEN_SOURCE 700 /* sync */
#include "decoding.h"
#include "../formats/atomic_file.h"
#include "../formats/file.h"
#include "../formats/folder_walk.h"
#include "../formats/image_names.h"
#include "../formats/png.h"
#include "../formats/pnm.h"
#include "outputs.h"
#include "signals.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- which images --- */

static uint64_t image_count(const taper_decoder *decoder) {
    taper_container_info info;
    return taper_decoder_get_info(decoder, &info) == TAPER_OK ? info.images : 0;
}

/* The image that a word means: a number from 1, or a name. */
static bool find_image(const taper_decoder *decoder, const char *word, uint64_t *i) {
    uint64_t count = image_count(decoder);
    int64_t number;
    taper_image_info info;
    if (cli_parse_int(word, &number)) {
        *i = (uint64_t)number - 1;
        return number >= 1 && (uint64_t)number <= count;
    }
    for (*i = 0; *i < count; ++*i)
        if (taper_decoder_image_info(decoder, *i, &info) == TAPER_OK && info.name &&
            strcmp(info.name, word) == 0)
            return true;
    return false;
}

static int choose_images(cli_picture_plan *plan, const cli_decode_request *q,
                         const taper_decoder *decoder) {
    uint64_t count = image_count(decoder);
    plan->first = 0;
    plan->count = count;
    if (!q->image) return CLI_DONE;
    plan->count = 1;
    if (find_image(decoder, q->image, &plan->first)) return CLI_DONE;
    cli_error("decode", q->input,
              "there is no image '%s'; give a number from 1 to %llu, or a name that `taper info "
              "-v` lists",
              q->image, (unsigned long long)count);
    return CLI_USAGE;
}

/* --- their files --- */

/* The name of image i: unique among those given so far; NULL without memory. */
static char *name_image(const taper_decoder *decoder, formats_image_names *names, uint64_t i) {
    taper_image_info info;
    char number[32];
    snprintf(number, sizeof number, "%06llu", (unsigned long long)i + 1);
    bool named = taper_decoder_image_info(decoder, i, &info) == TAPER_OK && info.name;
    return formats_image_names_next(names, named ? info.name : number);
}

static taper_status name_files(cli_picture_plan *plan, const cli_decode_request *q,
                               const taper_decoder *decoder) {
    plan->path = calloc(plan->count + 1, sizeof *plan->path);
    formats_image_names *names = formats_image_names_make();
    taper_status status = plan->path && names ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint64_t k = 0; k < plan->count && status == TAPER_OK; k++) {
        plan->path[k] = name_image(decoder, names, plan->first + k);
        if (!plan->path[k]) status = TAPER_ERR_NOMEM;
    }
    formats_image_names_free(names); /* it points to the names: from here on they may go */
    for (uint64_t k = 0; k < plan->count && status == TAPER_OK; k++) {
        char *name = plan->path[k];
        if (q->format == CLI_PICTURE_PNM) memcpy(name + strlen(name) - 3, "pnm", 3);
        plan->path[k] = formats_path_join(q->output, name);
        free(name);
        if (!plan->path[k]) status = TAPER_ERR_NOMEM;
    }
    return status;
}

/* 0, or why there is no such folder and none can be made. */
static int make_folder(const char *path) {
    struct stat st;
    if (mkdir(path, 0777) == 0) return 0;
    int failed = errno;
    if (stat(path, &st) != 0) return failed;
    return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

/* The same with the folders above it. */
static int make_folders(char *path) {
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        int failed = make_folder(path);
        *at = '/';
        if (failed) return failed;
    }
    return make_folder(path);
}

/* The folder of each file, each made once as long as neighbours share it. */
static int make_all_folders(char **path, uint64_t n) {
    size_t last = 0; /* length of the folder that was made last */
    for (uint64_t k = 0; k < n; k++) {
        char *slash = strrchr(path[k], '/');
        size_t length = slash ? (size_t)(slash - path[k]) : 0;
        if (!length || (k && length == last && !strncmp(path[k], path[k - 1], length))) continue;
        *slash = 0;
        int failed = make_folders(path[k]);
        if (failed) {
            taper_error error;
            taper_status status = formats_fail_errno(&error, failed, "make the folder");
            return cli_fail("decode", path[k], status, &error);
        }
        *slash = '/';
        last = length;
    }
    return CLI_DONE;
}

/* Refuse before the first file is written rather than in the middle. */
static int check_targets(const cli_decode_request *q, char **path, uint64_t n) {
    for (uint64_t k = 0; k < n; k++) {
        struct stat st;
        if (lstat(path[k], &st) != 0) continue;
        if (cli_output_check("decode", path[k], q->input) != CLI_DONE) return CLI_USAGE;
        if (q->common->force) continue;
        cli_error("decode", path[k], "exists already; give -f to overwrite, or another -o");
        return CLI_IO;
    }
    return CLI_DONE;
}

int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *q,
                          const taper_decoder *decoder) {
    *plan = (cli_picture_plan){0};
    int code = choose_images(plan, q, decoder);
    if (code != CLI_DONE || q->one_file) return code;
    struct stat st;
    bool is_new = stat(q->output, &st) != 0;
    if (name_files(plan, q, decoder) != TAPER_OK)
        code = cli_fail("decode", q->input, TAPER_ERR_NOMEM, NULL);
    if (code == CLI_DONE && !is_new) code = check_targets(q, plan->path, plan->count);
    if (code == CLI_DONE) code = make_all_folders(plan->path, plan->count);
    if (code != CLI_DONE) cli_picture_plan_free(plan);
    return code;
}

void cli_picture_plan_free(cli_picture_plan *plan) {
    for (uint64_t k = 0; plan->path && k < plan->count; k++) free(plan->path[k]);
    free(plan->path);
    *plan = (cli_picture_plan){0};
}

/* --- writing --- */

taper_status cli_picture_encode(cli_picture_format format, const taper_image *image,
                                uint8_t **bytes, size_t *size, taper_error *error) {
    if (format == CLI_PICTURE_PNM) return formats_pnm_encode(image, bytes, size, error);
    return formats_png_encode(image, bytes, size, error);
}

taper_status cli_picture_write(const char *path, cli_picture_format format,
                               const taper_image *image, unsigned flags, taper_error *error) {
    uint8_t *bytes;
    size_t size;
    TAPER_TRY(cli_picture_encode(format, image, &bytes, &size, error));
    taper_status status = formats_file_write(path, bytes, size, flags | FORMATS_ATOMIC_NO_SYNC,
                                             cli_signals_watch(), error);
    free(bytes);
    return status;
}

void cli_pictures_settle(void) { sync(); }

/* --- rendering --- */

taper_status cli_canvas_render(cli_canvas *canvas, taper_decoder *decoder, uint64_t i,
                               taper_completeness *done, taper_error *error) {
    taper_image_info info;
    if (taper_decoder_image_info(decoder, i, &info) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_ARG, "there is no image %llu",
                            (unsigned long long)i + 1);
    if (info.bytes > canvas->room) {
        free(canvas->image.pixels);
        canvas->room = 0;
        canvas->image.pixels = info.bytes <= SIZE_MAX ? malloc((size_t)info.bytes) : NULL;
        if (!canvas->image.pixels)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u x %u pixels", info.width,
                                info.height);
        canvas->room = (size_t)info.bytes;
    }
    return taper_decoder_render(decoder, i, &canvas->image, done, error);
}

void cli_canvas_free(cli_canvas *canvas) {
    free(canvas->image.pixels);
    *canvas = (cli_canvas){0};
}
