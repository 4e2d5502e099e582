/* container_set.h -- containers as sets of codes: what is in the file is read, and no pixel
 * decoded, unless pictures are asked for.
 *
 * Several containers are one set, their images in order; classes are the same where their names
 * are.
 *
 *     int code = cli_container_set_open(&set, verb, paths, n, common);
 *     ... a model: cli_container_set_model, or another of the same id ...
 *     if (code == CLI_DONE) code = cli_container_set_bind(set, model);
 *     ... cli_container_set_code of each image, rising ...
 *     cli_container_set_close(set);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0. */
#ifndef CLI_CONTAINER_SET_H
#define CLI_CONTAINER_SET_H
#include "cli/common/inputs.h"

typedef struct cli_container_set cli_container_set;

/* Does the path name a file that begins as a container does? Standard input is not looked at. */
bool cli_is_container(const char *path);

/* Read the front matter of each. On failure nothing is held, *out is NULL. */
int cli_container_set_open(cli_container_set **out, const char *verb, char **paths, size_t n,
                           const cli_common *common);
void cli_container_set_close(cli_container_set *set); /* NULL is fine */

size_t cli_container_set_images(const cli_container_set *set);
size_t cli_container_set_classes(const cli_container_set *set);
const char *cli_container_set_class(const cli_container_set *set, size_t k);
int32_t cli_container_set_label(const cli_container_set *set, size_t i);    /* -1: none */
const char *cli_container_set_name(const cli_container_set *set, size_t i); /* NULL: none */
/* The file that image i is in, and which one of it, from 0. */
const char *cli_container_set_path(const cli_container_set *set, size_t i, size_t *part);

/* The model of their codes for search, where all have such, of one model; else the model of the
 * first container. It is one that they carry, or that ships. CLI_USAGE: it is neither, and wants
 * -m. */
int cli_container_set_model(const cli_container_set *set, cli_model *model);
/* The model of their codes for search (`encode --embed-with`), where all have such codes, of one
 * model; else 0. */
uint64_t cli_container_set_search_model(const cli_container_set *set);
/* All codes are of this model from now on, which is borrowed. That may be the model
 * of their codes for search, which are then taken, whatever the images' sizes. A container of
 * another one is refused (TAPER_ERR_MODEL). */
int cli_container_set_bind(cli_container_set *set, const taper_model *model);

/* Geometry and channels of image i; pixels stay NULL. *windows: how many codes it has. */
taper_status cli_container_set_shape(cli_container_set *set, size_t i, taper_image *shape,
                                     uint32_t *windows, taper_error *error);
/* The first `units` numbers of the code of image i, which is one window, as far as the bytes at
 * hand say them; *known: how many bits of them these are, 0: nothing is known. As of
 * taper_decoder_codes. */
taper_status cli_container_set_code(cli_container_set *set, size_t i, uint32_t units, float *code,
                                    uint32_t *known, taper_error *error);
/* Image i as it is rendered; pixels are malloc'd and the caller's. */
taper_status cli_container_set_picture(cli_container_set *set, size_t i, taper_image *out,
                                       taper_error *error);

/* How many bits were known of a code, in the mean of those of which any were. */
double cli_container_set_bits(const cli_container_set *set);
/* And of the one of which fewest were; UINT32_MAX: of none any. */
uint32_t cli_container_set_least_bits(const cli_container_set *set);
/* For people, one line a container: how much of it is here, and how much its codes hold in the
 * mean, of those that were asked for. */
void cli_container_set_report(const cli_container_set *set);

#endif
