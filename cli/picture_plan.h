/* picture_plan.h -- the request of `taper decode`, and the plan of images and files made from it.
 * decoding.h makes the plan, picture_files.h writes the files. */
#ifndef CLI_PICTURE_PLAN_H
#define CLI_PICTURE_PLAN_H
#include "cli/common/options.h"
#include "codec/taper.h"

typedef enum cli_picture_format {
    CLI_PICTURE_PNG,
    CLI_PICTURE_PNM,
    CLI_PICTURE_JPEG,
    CLI_PICTURE_WEBP,
    CLI_PICTURE_TIFF,
    CLI_PICTURE_ORIGINAL, /* each file by the suffix of its name */
    CLI_PICTURE_IDX,      /* all images in one file, as CIFAR */
    CLI_PICTURE_CIFAR
} cli_picture_format;

/* How a file is written. */
typedef struct cli_picture_form {
    cli_picture_format format;
    int quality; /* of JPEG and WebP: 1..100 */
    bool is_pam; /* of PNM: PAM also without alpha */
} cli_picture_form;

typedef struct cli_decode_request {
    const cli_verb *verb; /* for usage messages */
    const cli_common *common;
    const char *input, *output; /* paths, or "-" */
    cli_strings images;         /* see search/image_choice.h; none: all */
    /* Not NULL: they choose these images [n_chosen], ascending, and no name of another image of the
     * container matters for those of their files. */
    const uint64_t *chosen;
    size_t n_chosen;
    cli_picture_format format;
    int quality;        /* of JPEG and WebP: 1..100 */
    bool format_given;  /* else the name of the output may determine it */
    bool class_folders; /* write files into folders named after their classes */
    bool progressive, strict;
    uint32_t scale;           /* 1, 2, 4, 8 or 16: images have 1 / scale of their size */
    uint32_t passes_scale;    /* they are decoded for this size (taper_decoder_set_scale) */
    const taper_crop *crop;   /* the rectangle of each image to render; NULL: all of it */
    const taper_model *model; /* NULL: the container has its own */
    taper_limits limits;
} cli_decode_request;

typedef struct cli_picture_metadata cli_picture_metadata; /* picture_metadata.h */

/* The images to write and their files. */
typedef struct cli_picture_plan {
    uint64_t count;
    uint64_t *image; /* [count] ascending; NULL: all */
    cli_picture_format format;
    bool one_file;                  /* the output is a file, not a folder */
    cli_picture_metadata *metadata; /* NULL: the container has none */
    /* The rest is for a folder; with one_file the pointers are NULL and folder is -1. */
    char **name;     /* [count] relative to the folder */
    uint8_t *change; /* [count] formats_name_change */
    bool *refused;   /* [count] the file system does not accept the name; already printed */
    int folder;      /* descriptor */
    uint64_t held;   /* bytes charged by cli_memory_hold for the names */
} cli_picture_plan;

/* How file k is written; its format is not CLI_PICTURE_ORIGINAL. */
cli_picture_form cli_picture_plan_form(const cli_picture_plan *plan, const cli_decode_request *q,
                                       uint64_t k);
/* The format by the suffix of a name; -1: unknown. */
int cli_picture_format_of(const char *name);

static inline uint64_t cli_picture_plan_image(const cli_picture_plan *plan, uint64_t k) {
    return plan->image ? plan->image[k] : k;
}

#endif
