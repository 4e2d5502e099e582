/* pseudo_inverse.h -- the analysis that belongs to a synthesis. */
#ifndef CODEC_PSEUDO_INVERSE_H
#define CODEC_PSEUDO_INVERSE_H
#include "codec/backend/backend.h"

/* analysis[units][inputs] = (G G^T)^-1 G for G = synthesis[units][inputs], whose rows are nearly
 * orthonormal. It gives the codes of least squared error, x = analysis (y - mean), although G was
 * rounded for storage. By Newton's iteration (Schulz 1933): A <- (2 I - A G^T) A from A = G,
 * quadratic in the distance of G G^T from I. TAPER_ERR_NOMEM; TAPER_ERR_CORRUPT: the rows are too
 * far from orthonormal to converge. */
taper_status codec_pseudo_inverse(codec_backend *be, const float *synthesis, uint32_t units,
                                  uint32_t inputs, float *analysis);

/* The same of a tied model, which stores its synthesis alone, in new memory, on so many threads.
 * TAPER_ERR_NOMEM; TAPER_ERR_CORRUPT, whose sentence has what the model cannot do: "it has no
 * codes". *analysis is NULL then, or to be freed. */
taper_status codec_make_analysis(const float *synthesis, uint32_t units, uint32_t inputs,
                                 unsigned threads, const char *cannot, float **analysis,
                                 taper_error *error);

#endif
