/* code_set.h -- a set of images whose codes are wanted: opened, read ahead, embedded block by
 * block; or of containers, which hold the codes. What `embed` writes and `classify` searches in.
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
#include "codec/model/embed.h"
#include "formats/image.h"

enum { CLI_IMAGE_NAME = 4200 }; /* room for the name of any image */

typedef struct cli_code_set {
    const cli_common *common; /* these by the verb, those that may be NULL left so */
    const char *verb;
    const char *output; /* an earlier result that is met in a folder is no input; or NULL */
    const char *filelist, *labels; /* as in formats_imageset_options */
    int follow_links, null_list;
    formats_alpha alpha;
    /* to read */
    formats_imageset *set;         /* either this ... */
    uint64_t held;                 /* bytes of it on the run's account */
    cli_container_set *containers; /* ... or this */
    cli_left_out left;
    size_t count;   /* images that have a code */
    size_t grey;    /* of those, grey ones with a code in colour */
    size_t empty;   /* of a cut container: images of which nothing is there */
    size_t damaged; /* of a container: images whose data fail their checksum */
} cli_code_set;

/* See that no label of the file `labels` is a negative number: some write one for "no label", which
 * must not become a class. CLI_DONE, or CLI_USAGE, which is said. */
int cli_refuse_negative(const formats_imageset *set, const char *verb, const char *labels);

/* List the images, and see to their labels likewise. CLI_USAGE, too, where some of the paths are
 * containers and others are not, or containers come with a label file or a file list. */
int cli_code_set_open(cli_code_set *set, char **paths, size_t n);
void cli_code_set_close(cli_code_set *set); /* one that was not opened is fine */

/* CLI_DONE, or CLI_USAGE with a sentence when `output` (NULL is fine) is one of the paths, the
 * label file, the file list, or a file of the set. */
int cli_code_set_spares(const cli_code_set *set, char **paths, size_t n, const char *output);

/* Of an open set: how many images it lists, where the first of them is, and how many classes it has
 * labels of, 0: no labels. */
size_t cli_code_set_images(const cli_code_set *set);
const char *cli_code_set_path(const cli_code_set *set);
size_t cli_code_set_classes(const cli_code_set *set);
const char *cli_code_set_class(const cli_code_set *set, size_t k);
/* Of image i: its class, or -1; and what it is called, its name, or of an IDX or CIFAR file
 * "PATH#N", N from 1 on. Returns name. */
int32_t cli_code_set_label(const cli_code_set *set, size_t i);
const char *cli_code_set_name(const cli_code_set *set, size_t i, char name[CLI_IMAGE_NAME]);

/* Of a set of containers: the model that its codes are of, where none is given. */
int cli_code_set_model(const cli_code_set *set, cli_model *model);
/* What makes codes of the model (from this file; NULL: a container's own), `units` numbers of each,
 * 0: all. Sets of containers are bound to the model; only where one is of images is there an
 * encoder. Any of the sets may be NULL or not be open. */
int cli_code_sets_embedder(cli_code_set *const *sets, size_t n, const taper_model *model,
                           const char *path, size_t units, codec_embedder *embedder);

/* What images must be for their pixels to be codes: as the first that can be read. */
int cli_code_set_window(cli_code_set *set, codec_window *window);

/* n images of the set, by number, rising, as they were read or scaled to the model's window, NULL
 * of containers, and their codes[n][width]; returns an exit code. */
typedef int cli_codes_fn(void *user, const size_t *number, const taper_image *image, size_t n,
                         const float *codes);

/* Codes of all images, in order, some hundreds at a time, in bounded memory. Images that cannot be
 * used are left out and told; when that is all of them, the exit code says why. */
int cli_code_set_embed(cli_code_set *set, const codec_embedder *embedder, cli_codes_fn *take,
                       void *user);

/* Image i to be looked at; pixels are the caller's. Whatever reading it or rendering it says. */
taper_status cli_code_set_picture(const cli_code_set *set, size_t i, taper_image *out,
                                  taper_error *error);

#endif
