/* picture_plan.h -- what `taper decode` is asked for, and the images and files that follow from it:
 * decoding.h makes the plan, picture_files.h carries it out. */
#ifndef CLI_PICTURE_PLAN_H
#define CLI_PICTURE_PLAN_H
#include "cli/common/options.h"
#include "codec/taper.h"

typedef enum cli_picture_format {
    CLI_PICTURE_PNG,
    CLI_PICTURE_PNM,
    CLI_PICTURE_IDX,  /* these two hold all images in one file */
    CLI_PICTURE_CIFAR
} cli_picture_format;

typedef struct cli_decode_request {
    const cli_verb *verb; /* for what is said of its usage */
    const cli_common *common;
    const char *input, *output;  /* paths, or "-" */
    cli_strings images;          /* as image_choice.h has them; none: all */
    cli_picture_format format;
    bool format_given;           /* else the output's name may say another */
    bool class_folders;          /* files go into folders named after their classes */
    bool progressive, strict;
    const taper_model *model;    /* NULL: the container carries its own */
    taper_limits limits;
} cli_decode_request;

/* The images to write and their files. */
typedef struct cli_picture_plan {
    uint64_t count;
    uint64_t *image; /* [count] rising; NULL: all */
    cli_picture_format format;
    bool one_file;   /* the output is the file itself, not a folder */
    char **name;     /* [count] below the output folder; NULL with one_file */
    uint8_t *change; /* [count] formats_name_change; NULL with one_file */
    bool *refused;   /* [count] the file system does not take the name, and that was said */
    int folder;      /* the output folder, open; -1 with one_file */
} cli_picture_plan;

static inline uint64_t cli_picture_plan_image(const cli_picture_plan *plan, uint64_t k) {
    return plan->image ? plan->image[k] : k;
}

#endif
