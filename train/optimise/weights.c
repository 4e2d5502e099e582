/* weights.c -- see weights.h. */
#include "train/optimise/weights.h"
#include <stdlib.h>

taper_status train_weights_download(const train_weights *w, train_stream *stream, float **host) {
    *host = malloc(w->n * sizeof **host);
    if (!*host) return TAPER_ERR_NOMEM;
    taper_status status = train_download(stream, *host, w->parameter, w->n * sizeof **host);
    if (status == TAPER_OK) return status;
    free(*host);
    *host = NULL;
    return status;
}
