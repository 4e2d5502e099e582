/* no_models.c -- for the decoder alone (tests/decoder_sources.txt), which carries no models: it
 * takes the place of builtin_models.c and models.S. The library is made without it. */
#include "codec/model/builtin_models.h"

int codec_builtin_model_of(uint64_t id, codec_builtin_model *out) {
    (void)id, (void)out;
    return 0;
}
