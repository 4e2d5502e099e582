/* infos.h -- properties of models and indexes by value. */
#ifndef TESTS_INFOS_H
#define TESTS_INFOS_H
#include "codec/taper.h"
#include <assert.h>

static inline taper_model_info info_of_model(const taper_model *model) {
    taper_model_info info = {.size = sizeof info};
    const taper_status status = taper_model_get_info(model, &info, NULL);
    assert(status == TAPER_OK);
    (void)status;
    return info;
}

static inline taper_index_info info_of_index(const taper_index *index) {
    taper_index_info info = {.size = sizeof info};
    const taper_status status = taper_index_get_info(index, &info, NULL);
    assert(status == TAPER_OK);
    (void)status;
    return info;
}

#endif
