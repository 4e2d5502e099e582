/* code_set.h -- a set of images and their codes: images are read ahead and embedded in blocks;
 * containers already have codes. For `embed`, `classify`, `index` and `search`.
 *
 *     cli_code_set set = {.common = &s->common, .verb = "embed", .output = s->output};
 *     int code = cli_code_set_open(&set, paths, n);
 *     if (code == CLI_DONE) code = cli_code_set_embed(&set, &embedder, take_rows, user);
 *     if (code == CLI_DONE && set.left.failed) code = CLI_SOME_FAILED;
 *     cli_code_set_close(&set);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0. */
#ifndef CLI_CODE_SET_H
#define CLI_CODE_SET_H
#include "cli/common/left_out.h"
#include "cli/search/container_set.h"
#include "cli/search/embedder.h"
#include "formats/image.h"

enum { CLI_IMAGE_NAME = 4200 }; /* size of a buffer for the name of any image */

typedef struct cli_code_set {
    /* Set by the verb. output, filelist and labels may be NULL. */
    const cli_common *common;
    const char *verb;
    const char *output;            /* not used as an input when it is found in a folder */
    const char *filelist, *labels; /* as in formats_imageset_options */
    int follow_links, null_list, frames;
    formats_alpha alpha;
    bool is_told; /* another run tells which files without an image are left out */
    /* Of an open set: only images first .. end - 1 are embedded; end 0: all. */
    size_t first, end;

    /* Read-only for the verb. Either set or containers is used; the other is NULL. */
    formats_imageset *set;
    uint64_t held; /* bytes charged for set by cli_memory_hold */
    cli_container_set *containers;
    cli_left_out left;
    size_t count;   /* images that have a code */
    size_t grey;    /* of those, grey images with a code in colour */
    size_t empty;   /* images without any data, in a truncated container */
    size_t damaged; /* images of a container whose data fails its checksum */
} cli_code_set;

/* Refuse negative numbers as labels: some programs write them for "no label", which must not become
 * a class. Returns CLI_DONE, or CLI_USAGE after a message. */
int cli_refuse_negative(const formats_imageset *set, const char *verb, const char *labels);

/* List the images and check their labels (cli_refuse_negative). CLI_USAGE also if only some of the
 * paths are containers, or if containers come with a label file or a file list. */
int cli_code_set_open(cli_code_set *set, char **paths, size_t n);
void cli_code_set_close(cli_code_set *set); /* one that was not opened is fine */

/* Check that `output` (may be NULL) is not one of the paths, the label file, the file list, or a
 * file of the set. CLI_DONE, or CLI_USAGE after a message. */
int cli_code_set_spares(const cli_code_set *set, char **paths, size_t n, const char *output);

/* Of an open set: the number of images, the path of the first, the number of classes (0: no labels)
 * and the name of a class. */
size_t cli_code_set_images(const cli_code_set *set);
const char *cli_code_set_path(const cli_code_set *set);
size_t cli_code_set_classes(const cli_code_set *set);
const char *cli_code_set_class(const cli_code_set *set, size_t k);
/* Of image i: its class, or -1; and its name, for IDX and CIFAR files "PATH#N" with N from 1.
 * Returns name. */
int32_t cli_code_set_label(const cli_code_set *set, size_t i);
const char *cli_code_set_name(const cli_code_set *set, size_t i, char name[CLI_IMAGE_NAME]);

/* Of a set of containers: open the model of its codes, if none was given. */
int cli_code_set_model(const cli_code_set *set, cli_model *model);
/* Make an embedder of the model, for the first `units` numbers of each code; 0: all. path: file of
 * the model, for messages; NULL: that of a container. Binds sets of containers to the model. There
 * is an encoder only if a set has images. Sets may be NULL or not open. */
int cli_code_sets_embedder(cli_code_set *const *sets, size_t n, const taper_model *model,
                           const char *path, size_t units, cli_embedder *embedder);

/* For pixels as codes: the size and channels that all images must have, those of the first readable
 * image. */
int cli_code_set_window(cli_code_set *set, cli_window *window);

/* Receives n images of the set and their codes[n][width]. number: [n] ascending; image: [n] as
 * read, or scaled to the window of the model; NULL for containers. Returns an exit code. */
typedef int cli_codes_fn(void *user, const size_t *number, const taper_image *image, size_t n,
                         const float *codes);

/* Compute the codes of all images in order, some hundreds at a time, in bounded memory. Images that
 * cannot be used are reported and skipped. If none can be used, the exit code says why. */
int cli_code_set_embed(cli_code_set *set, const cli_embedder *embedder, cli_codes_fn *take,
                       void *user);

/* Image i as a picture; pixels are the caller's to free. Errors are those of reading or
 * rendering. */
taper_status cli_code_set_picture(const cli_code_set *set, size_t i, taper_image *out,
                                  taper_error *error);

#endif
