/* rival_fit.h -- a rival's best picture of an image within given numbers of bytes, for the page of
 * a comparison. */
#ifndef CLI_COMPARE_RIVAL_FIT_H
#define CLI_COMPARE_RIVAL_FIT_H
#include "cli/compare/rival.h"
#include <stdbool.h>

typedef struct cli_rival_fit {
    uint8_t *bytes; /* the file, owned; NULL: no file is so small */
    size_t size;    /* of the file */
    size_t counted; /* what was compared with the budget: the file or its payload */
    double mse;
} cli_rival_fit;

/* Fill fit[n] for budget[n]; *smallest becomes the smallest count. is_payload: count only the
 * payload. Tries all settings, at the rival's qualities and some between them. On failure nothing
 * is allocated. Safe from several threads at once. */
taper_status cli_rival_fit_all(const cli_rival *rival, const taper_image *image, bool is_payload,
                               const double *budget, size_t n, cli_rival_fit *fit, size_t *smallest,
                               taper_error *error);

void cli_rival_fit_free(cli_rival_fit *fit); /* leaves it zeroed */

/* The picture, as the rival decodes it: 8 bits. out->pixels is the caller's to free. */
taper_status cli_rival_fit_decode(const cli_rival *rival, const taper_image *image,
                                  const cli_rival_fit *fit, taper_image *out, taper_error *error);
#endif
