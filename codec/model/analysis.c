/* analysis.c -- the network of a model for encoding; see model.h. */
#include "codec/model/model.h"
#include "codec/transform/pseudo_inverse.h"

taper_status codec_model_encoder(const taper_model *m, unsigned threads, const char *cannot,
                                 codec_network *net, float **made, taper_error *error) {
    *net = m->network;
    *made = NULL;
    if (!m->tied) return TAPER_OK;
    net->analysis = m->analysis;
    if (net->analysis) return TAPER_OK;
    TAPER_TRY(
        codec_make_analysis(net->synthesis, net->units, net->inputs, threads, cannot, made, error));
    net->analysis = *made;
    return TAPER_OK;
}
