/* container_set.h -- containers as sets of codes. Codes are read from the files; pixels are decoded
 * only for pictures.
 *
 * Several containers form one set, with their images in order. Classes with equal names are one.
 *
 *     int code = cli_container_set_open(&set, verb, paths, n, common);
 *     ... a model: cli_container_set_model, or another of the same id ...
 *     if (code == CLI_DONE) code = cli_container_set_bind(set, model);
 *     ... cli_container_set_code of each image, ascending ...
 *     cli_container_set_close(set);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0. */
#ifndef CLI_CONTAINER_SET_H
#define CLI_CONTAINER_SET_H
#include "cli/common/inputs.h"

typedef struct cli_container_set cli_container_set;

/* Read the front matter of each container. On failure *out is NULL. */
int cli_container_set_open(cli_container_set **out, const char *verb, char **paths, size_t n,
                           const cli_common *common);
void cli_container_set_close(cli_container_set *set); /* NULL is fine */

size_t cli_container_set_images(const cli_container_set *set);
size_t cli_container_set_classes(const cli_container_set *set);
const char *cli_container_set_class(const cli_container_set *set, size_t k);
int32_t cli_container_set_label(const cli_container_set *set, size_t i);    /* -1: none */
const char *cli_container_set_name(const cli_container_set *set, size_t i); /* NULL: none */
/* Path of the file with image i; *part: number of the image in that file, from 0. */
const char *cli_container_set_path(const cli_container_set *set, size_t i, size_t *part);

/* A number that tells whether the containers are the same: of their front matter, which has
 * checksums of all else, and of how much of each is there. TAPER_ERR_IO, _NOMEM. */
taper_status cli_container_set_digest(const cli_container_set *set, uint64_t *digest,
                                      taper_error *error);
/* The part of a set that the container says it is, if it is the only one; else .parts is 0. */
taper_part cli_container_set_part(const cli_container_set *set);

/* Open the model of the codes: that of the codes for search, if all containers have these by one
 * model; else that of the first container. It must be embedded or built in. CLI_USAGE: it is
 * neither, and -m is needed. */
int cli_container_set_model(const cli_container_set *set, cli_model *model);
/* The id of the model of the codes for search (`encode --embed-with`), if all containers have these
 * by one model; else 0. */
uint64_t cli_container_set_search_model(const cli_container_set *set);
/* Use the codes of this model, which is borrowed. If it is the model of the codes for search, these
 * are used, and images may have any size. Containers of another model are refused
 * (TAPER_ERR_MODEL). */
int cli_container_set_bind(cli_container_set *set, const taper_model *model);

/* Geometry and channels of image i; pixels are NULL. *windows: number of its codes. */
taper_status cli_container_set_shape(cli_container_set *set, size_t i, taper_image *shape,
                                     uint32_t *windows, taper_error *error);
/* The first `units` numbers of the code of image i, which must be one window, as precise as the
 * available bytes allow. *known: number of known bits of the code, 0: none. Otherwise as
 * taper_decoder_codes. */
taper_status cli_container_set_code(cli_container_set *set, size_t i, uint32_t units, float *code,
                                    uint32_t *known, taper_error *error);
/* Render image i; pixels are malloc'd and the caller's to free. */
taper_status cli_container_set_picture(cli_container_set *set, size_t i, taper_image *out,
                                       taper_error *error);

/* For pictures alone: use this model, which is borrowed, instead of codes; NULL: those of the
 * containers. */
int cli_container_set_show(cli_container_set *set, const taper_model *model);
/* Image i at 1 / 1, 1 / 2, ... 1 / 16 of its size, so that the shorter side has at least `least`
 * pixels if it can. Only what shows at this size is decoded. *size: that of the image, without
 * pixels. *has_data: false if the bytes that are there hold nothing of it. Otherwise as
 * cli_container_set_picture. After cli_container_set_show. */
taper_status cli_container_set_small(cli_container_set *set, size_t i, uint32_t least,
                                     taper_image *out, taper_image *size, bool *has_data,
                                     taper_error *error);

/* Mean number of known bits of the codes that were read, without those of 0 bits. */
double cli_container_set_bits(const cli_container_set *set);
/* The least number of known bits of these; UINT32_MAX: no code had any. */
uint32_t cli_container_set_least_bits(const cli_container_set *set);
/* Print one line per container: how much of it is present, and the mean number of known bits of the
 * codes that were read. */
void cli_container_set_report(const cli_container_set *set);

#endif
