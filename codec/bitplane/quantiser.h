/* quantiser.h -- real numbers to codes and back, as code_tables.h defines them. */
#ifndef CODEC_QUANTISER_H
#define CODEC_QUANTISER_H
#include "codec/bitplane/group.h"

/* The signed magnitude of x at the finest step of unit u, clamped to its planes. For a binary
 * model: the bit x > 0. */
int16_t codec_quantise(const codec_code_tables *tables, uint32_t u, float x);
/* The same, clamped to CODEC_MAX_PLANES planes: for groups that may raise some. */
int16_t codec_quantise_wide(const codec_code_tables *tables, uint32_t u, float x);

/* Reconstruct x[n][units], the codes of n positions from `first`, from all known bits, including
 * those of the incomplete pass; without the head (head.h). */
void codec_dequantise(const codec_group *group, uint32_t first, uint32_t n, float *x);

#endif
