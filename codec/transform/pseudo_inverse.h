/* pseudo_inverse.h -- computing the analysis matrix of a synthesis matrix. */
#ifndef CODEC_PSEUDO_INVERSE_H
#define CODEC_PSEUDO_INVERSE_H
#include "codec/backend/backend.h"

/* Compute analysis[units][inputs] = (G G^T)^-1 G for G = synthesis[units][inputs], whose rows are
 * nearly orthonormal. x = analysis (y - mean) are the codes with the least squared error, although
 * G was rounded for storage. Uses Newton's iteration (Schulz 1933): A <- (2 I - A G^T) A from A =
 * G, which converges quadratically in the distance of G G^T from I. TAPER_ERR_NOMEM.
 * TAPER_ERR_CORRUPT: the rows are too far from orthonormal. */
taper_status codec_pseudo_inverse(codec_backend *be, const float *synthesis, uint32_t units,
                                  uint32_t inputs, float *analysis);

/* The same for a tied model, which stores only the synthesis, in new memory, with this number of
 * threads. cannot: the consequence, for the message of TAPER_ERR_CORRUPT, e.g. "it has no codes".
 * TAPER_ERR_NOMEM. *analysis: NULL, or memory that the caller frees, also after a failure. */
taper_status codec_make_analysis(const float *synthesis, uint32_t units, uint32_t inputs,
                                 unsigned threads, const char *cannot, float **analysis,
                                 taper_error *error);

#endif
