/* linear_rows.h -- the serialised rows of a linear path, set after set (SPEC.md, 6.3). Rows of the
 * first sets may lack the last bits of their integers, which suffices for the few passes of these
 * sets; a later set brings them. */
#ifndef CODEC_LINEAR_ROWS_H
#define CODEC_LINEAR_ROWS_H
#include "codec/bitplane/unit_sets.h"
#include "codec/model/model.h"

/* Compute the step of each row of the linear path. The rounding error of row u reaches a pixel
 * multiplied by the unit's value, so rows of strong units get smaller steps. Units share the
 * allowed error equally: sum over u of scale_u^2 step_u^2 / 12 = mse. */
void codec_linear_rows_steps(const taper_model *model, double mse, float *step);

/* Append the rows of set s of G and, if it is stored, of the analysis; before them the last bits
 * that come with this set. The model's rows are rounded to all their bits. step: [units]. Nothing
 * of a direct network. TAPER_ERR_NOMEM, or the status of out. */
taper_status codec_linear_rows_write(taper_model *model, const float *step,
                                     const codec_unit_sets *sets, uint32_t s, formats_buffer *out);
/* Read the same. Sets must be read in order. TAPER_ERR_CORRUPT: also last bits that do not fit. */
taper_status codec_linear_rows_read(taper_model *model, const codec_unit_sets *sets, uint32_t s,
                                    formats_cursor *in, taper_error *error);

#endif
