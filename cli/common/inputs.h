/* inputs.h -- what the verbs read: containers and models, from files and pipes, and where to cut.
 *
 * Functions that return int print what went wrong, naming the file, and return an exit code;
 * CLI_DONE is 0. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H
#include "cli/common/options.h"
#include "codec/taper_model.h"
#include "formats/container.h"
#include "formats/file.h"

/* --- bytes and containers --- */

/* Read the first bytes of each regular file among the paths, before it is asked what they are: one
 * that cannot be read for a fault of the disk ends the run. What cannot be opened is told later. */
int cli_inputs_check(const char *verb, char *const *paths, size_t n);

/* A file, or "-" or another stream, which is spooled to the disk. */
typedef struct cli_stream {
    formats_file *file;
    FILE *spool;
    taper_source source;
} cli_stream;
int cli_stream_open(cli_stream *stream, const char *verb, const char *path);
void cli_stream_close(cli_stream *stream); /* a zeroed one is fine */
bool cli_stream_is_model(const cli_stream *stream); /* by its first bytes */

typedef struct cli_container {
    cli_stream stream;
    taper_source source;  /* its bytes; a size below whole_bytes is a cut file */
    formats_front front;
    uint64_t whole_bytes; /* of the whole file */
    uint64_t pixels;      /* of all images */
    uint64_t held;        /* bytes on the run's account */
} cli_container;
/* Open it and read its front matter. On failure nothing is held. */
int cli_container_open(cli_container *container, const char *verb, const char *path,
                       const cli_common *common);
/* The same from an open stream, which it takes over, also on failure. */
int cli_container_take(cli_container *container, cli_stream *stream, const char *verb,
                       const char *path, const cli_common *common);
/* Of an open one, the front matter is no longer needed; its source is. */
void cli_container_drop_front(cli_container *container);
void cli_container_close(cli_container *container); /* a zeroed one is fine */

/* --- models --- */

typedef struct cli_model {
    taper_model *model;
    uint8_t *bytes; /* of the file */
    size_t size;
} cli_model;
#define CLI_DEFAULT_MODEL "photo"
/* path: a file, or the name of a model that ships (codec/model/builtin_models.h). */
int cli_model_open(cli_model *model, const char *verb, const char *path, const cli_common *common);
/* The same for verbs that need a decoder: an embedding model is refused, CLI_USAGE. */
int cli_coder_open(cli_model *model, const char *verb, const char *path, const cli_common *common);
/* As cli_model_open from an open stream, which stays the caller's. */
int cli_model_read(cli_model *model, const cli_stream *stream, const char *verb, const char *path,
                   const cli_common *common);
/* Where no model is open yet: the one of this id, if it ships; otherwise none is, and that is for
 * others to find fault with. */
int cli_model_of(cli_model *model, const char *verb, uint64_t id, const cli_common *common);
/* The one of a container: that which it carries, else as cli_model_of. */
int cli_model_of_container(cli_model *model, const char *verb, const char *path,
                           const cli_container *container, const cli_common *common);
void cli_model_close(cli_model *model); /* a zeroed one is fine */

/* --- where to cut --- */

/* At most one of them is given; the others are 0. */
typedef struct cli_cut {
    uint64_t bytes;
    double bpp, bytes_per_image;
} cli_cut;
#define CLI_CUT_OPTIONS(S)                                                                         \
    {"bytes", 'b', CLI_SIZE, "SIZE", offsetof(S, cut.bytes),                                       \
     .help = "at most this many bytes in all"},                                                    \
    {"bpp", 0, CLI_DOUBLE, "R", offsetof(S, cut.bpp), .min = 1e-9, .max = 1e6,                     \
     .help = "at most R bits per pixel, everything in the file counted"},                          \
    {"bytes-per-image", 0, CLI_AMOUNT, "SIZE", offsetof(S, cut.bytes_per_image), .min = 1e-9,      \
     .max = 1e12, .help = "at most SIZE bytes per image in the mean, everything counted"}
#define CLI_FRACTION_OPTION(S)                                                                     \
    {"fraction", 0, CLI_DOUBLE, "F", offsetof(S, fraction), .min = 0, .max = 1,                    \
     .help = "at most this share of the whole file, 0 to 1"}

/* How many of the cut's options, --fraction and --psnr were given on the last command line. */
int cli_cut_count(void);
/* The ceiling that the cut means for so many images and pixels; UINT64_MAX when none was given. */
uint64_t cli_cut_ceiling(const cli_cut *cut, uint64_t images, uint64_t pixels);
/* The same for a container, where `fraction` of the whole is another way to say it. */
uint64_t cli_cut_of_container(const cli_cut *cut, double fraction, const cli_container *container);

#endif
