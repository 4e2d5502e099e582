/* inputs.h -- opens containers and models from files and pipes, and computes sizes of cuts.
 *
 * Functions that return int return an exit code; CLI_DONE is 0. On failure they print a message
 * with the name of the file. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H
#include "cli/common/options.h"
#include "codec/taper.h"
#include "formats/file.h"
#include "remote/remote.h"

/* --- bytes and containers --- */

/* Before a verb runs: its URLs in argv are replaced by what may be shown of them, without
 * credentials; functions below find the real ones. Afterwards: with -v print what was fetched. */
int cli_inputs_begin(int argc, char **argv);
void cli_inputs_end(void);

/* Read the first bytes of each regular file and URL among the paths, to find failing disks and
 * servers before the files are recognised: such a failure ends the run. Files that cannot be opened
 * are reported later. */
int cli_inputs_check(const char *verb, char *const *paths, size_t n);

/* What a regular file, or the file behind a URL, is by its first bytes. */
typedef enum cli_kind {
    CLI_IS_UNKNOWN = -1, /* standard input, another stream, or a file that cannot be read */
    CLI_IS_OTHER,
    CLI_IS_CONTAINER,
    CLI_IS_MODEL,
    CLI_IS_INDEX
} cli_kind;
cli_kind cli_kind_of(const char *path);

/* Read up to n bytes from the start of a file or URL; *got is how many there are. */
taper_status cli_peek(const char *path, void *to, size_t n, size_t *got, taper_error *error);

/* A file; a URL; or "-" or another stream, which is first copied to a temporary file. */
typedef struct cli_stream {
    formats_file *file;
    remote_file *remote; /* NULL: no URL */
    FILE *spool;
    taper_source source;
} cli_stream;
int cli_stream_open(cli_stream *stream, const char *verb, const char *path);
/* The same without a message. */
taper_status cli_stream_try(cli_stream *stream, const char *path, taper_error *error);
void cli_stream_close(cli_stream *stream);          /* a zeroed one is fine */
bool cli_stream_is_model(const cli_stream *stream); /* by its first bytes */

typedef struct cli_container {
    cli_stream stream;
    taper_source source; /* if its size is below info.file_bytes, the file is truncated */
    taper_container *open;
    taper_container_info info;
    uint64_t held; /* bytes charged by cli_memory_hold */
} cli_container;
/* Open a container without its model. On failure it needs no close. */
int cli_container_open(cli_container *container, const char *verb, const char *path,
                       const cli_common *common);
/* The same from an open stream, which it owns, also on failure. */
int cli_container_take(cli_container *container, cli_stream *stream, const char *verb,
                       const char *path, const cli_common *common);
/* Find and check its model, for decoders: taper_container_bind. model: NULL means its own. */
int cli_container_bind(cli_container *container, const taper_model *model, const char *verb,
                       const char *path, const cli_common *common);
/* Put the same container without metadata in its place, in a temporary file (taper_strip). */
int cli_container_strip(cli_container *container, const char *verb, const char *path,
                        const cli_common *common);
/* Free the front matter of an open container; the source stays open. */
void cli_container_drop_front(cli_container *container);
void cli_container_close(cli_container *container); /* a zeroed one is fine */

/* --- models --- */

typedef struct cli_model {
    const taper_model *model; /* `own`, or that of a container */
    taper_model *own;
    const uint8_t *bytes; /* [size] of the file; NULL: of a container */
    size_t size;
    uint8_t *owned; /* the same bytes; NULL: they are the library's */
} cli_model;
#define CLI_DEFAULT_MODEL "photo"
#define CLI_SEARCH_MODEL  "search" /* of indexes of images */
/* path: a file, or the name of a built-in model (codec/model/builtin_models.h). */
int cli_model_open(cli_model *model, const char *verb, const char *path, const cli_common *common);
/* The same for verbs that need a decoder: CLI_USAGE for an embedding model. */
int cli_coder_open(cli_model *model, const char *verb, const char *path, const cli_common *common);
/* The same for decoding, for which the first stages of a model's file suffice: a warning says what
 * is missing. */
int cli_stages_open(cli_model *model, const char *verb, const char *path, const cli_common *common);
/* As cli_model_open, from an open stream, which stays the caller's; and with the stages that are
 * there. */
int cli_model_read(cli_model *model, const cli_stream *stream, const char *verb, const char *path,
                   const cli_common *common);
int cli_stages_read(cli_model *model, const cli_stream *stream, const char *verb, const char *path,
                    const cli_common *common);
void cli_model_close(cli_model *model); /* a zeroed one is fine */
/* taper_model_get_info by value. */
taper_model_info cli_model_info(const taper_model *model);

/* --- where to cut --- */

/* At most one member is not 0. */
typedef struct cli_cut {
    uint64_t bytes;
    double bpp, bytes_per_image;
} cli_cut;
#define CLI_CUT_OPTIONS(S)                                                             \
    {"bytes",                                                                          \
     'b',                                                                              \
     CLI_SIZE,                                                                         \
     "SIZE",                                                                           \
     offsetof(S, cut.bytes),                                                           \
     .help = "at most this many bytes in total"},                                      \
        {"bpp",                                                                        \
         0,                                                                            \
         CLI_DOUBLE,                                                                   \
         "R",                                                                          \
         offsetof(S, cut.bpp),                                                         \
         .min = 1e-9,                                                                  \
         .max = 1e6,                                                                   \
         .help = "at most R bits per pixel, counting the whole file"},                 \
    {                                                                                  \
        "bytes-per-image", 0, CLI_AMOUNT, "SIZE", offsetof(S, cut.bytes_per_image),    \
            .min = 1e-9, .max = 1e12,                                                  \
            .help = "at most SIZE bytes per image on average, counting the whole file" \
    }
#define CLI_FRACTION_OPTION(S)                                                         \
    {                                                                                  \
        "fraction", 0, CLI_DOUBLE, "F", offsetof(S, fraction),                         \
            .min = 0, .max = 1, .help = "at most this share of the whole file, 0 to 1" \
    }

/* How many of the options of CLI_CUT_OPTIONS, --fraction and --psnr were given, in the last
 * cli_options_parse. */
int cli_cut_count(void);
/* The size limit in bytes for a set of this many images and pixels; UINT64_MAX: none was given. */
uint64_t cli_cut_ceiling(const cli_cut *cut, uint64_t images, uint64_t pixels);
/* The same for a container; `fraction`, if not 0, is a share of the whole file. */
uint64_t cli_cut_of_container(const cli_cut *cut, double fraction, const cli_container *container);

#endif
