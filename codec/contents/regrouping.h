/* regrouping.h -- what the functions that code a group again are given. */
#ifndef CODEC_REGROUPING_H
#define CODEC_REGROUPING_H
#include "codec/model/model.h"
#include "formats/container.h"

typedef struct codec_regrouping {
    const formats_front *front;
    const taper_source *source; /* complete, its checksums tested; without stages of the model */
    const taper_source *file;   /* the same as it is */
    const taper_model *model;   /* the front's, with all stages */
    const uint8_t *keep;        /* [images] 1: the image stays */
    formats_account *account;   /* charged with the memory of a group */
} codec_regrouping;

#endif
