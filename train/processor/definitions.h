/* definitions.h -- the processor's operations in plain C, the reference implementation of
 * train/device/operations.h. */
#ifndef TRAIN_DEFINITIONS_H
#define TRAIN_DEFINITIONS_H
#include "train/device/operations.h"

/* Rows of a block: threads share a task's blocks. */
enum { TRAIN_ROW_BLOCK = 16 };
static inline size_t train_row_blocks(size_t rows) {
    return (rows + TRAIN_ROW_BLOCK - 1) / TRAIN_ROW_BLOCK;
}
static inline size_t train_row_block_end(size_t rows, size_t block) {
    size_t end = (block + 1) * TRAIN_ROW_BLOCK;
    return end < rows ? end : rows;
}

/* products.c */
train_gemm_fn train_plain_gemm;
train_add_gram_fn train_plain_add_gram;
train_bias_fn train_plain_bias;
train_affine_fn train_plain_affine;
train_bias_backward_fn train_plain_bias_backward;
train_weight_gradient_fn train_plain_weight_gradient;
/* rows.c */
train_centre_rows_fn train_plain_centre_rows;
train_gather_rows_fn train_plain_gather_rows;
train_jitter_fn train_plain_jitter;
train_scatter_rows_fn train_plain_scatter_rows;
train_copy_columns_fn train_plain_copy_columns;
train_step_rows_fn train_plain_step_rows;
train_gather_sides_fn train_plain_gather_sides;
train_conditional_inputs_fn train_plain_conditional_inputs;
/* layers.c */
train_clip_fn train_plain_clip;
train_clip_backward_fn train_plain_clip_backward;
train_clip_added_fn train_plain_clip_added;
train_clip_added_backward_fn train_plain_clip_added_backward;
train_relu_added_fn train_plain_relu_added;
train_relu_added_backward_fn train_plain_relu_added_backward;
train_normalise_fn train_plain_normalise;
train_normalise_backward_fn train_plain_normalise_backward;
/* noise.c */
train_corrupt_fn train_plain_corrupt;
train_dropout_fn train_plain_dropout;
train_perturb_fn train_plain_perturb;
train_sample_fn train_plain_sample;
/* codes.c */
train_quantise_fn train_plain_quantise;
train_rate_fn train_plain_rate;
train_rate_gradient_fn train_plain_rate_gradient;
/* units.c */
train_unit_values_fn train_plain_unit_values;
train_unit_gradient_fn train_plain_unit_gradient;
train_decide_fn train_plain_decide;
train_mix_fn train_plain_mix;
train_set_lower_fn train_plain_set_lower;
train_unit_moves_fn train_plain_unit_moves;
/* losses.c */
train_errors_fn train_plain_errors;
train_mean_errors_fn train_plain_mean_errors;
train_pixel_entropy_fn train_plain_pixel_entropy;
train_error_losses_fn train_plain_error_losses;
train_weigh_errors_fn train_plain_weigh_errors;
train_log_errors_fn train_plain_log_errors;
train_error_gradient_fn train_plain_error_gradient;
train_add_doubles_fn train_plain_add_doubles;
train_sum_doubles_fn train_plain_sum_doubles;
/* classes.c */
train_softmax_fn train_plain_softmax;
train_cross_entropy_fn train_plain_cross_entropy;
train_class_entropy_fn train_plain_class_entropy;
train_class_divergence_fn train_plain_class_divergence;
train_distances_fn train_plain_distances;
/* neighbours.c */
train_neighbour_sums_fn train_plain_neighbour_sums;
train_neighbour_losses_fn train_plain_neighbour_losses;
/* pulls.c */
train_neighbour_pulls_fn train_plain_neighbour_pulls;
/* predictions.c */
train_bits_fn train_plain_bits;
train_head_fn train_plain_head;
train_restored_fn train_plain_restored;
train_add_ratio_fn train_plain_add_ratio;
/* vectors.c */
train_scale_fn train_plain_scale;
train_exponential_fn train_plain_exponential;
train_add_products_fn train_plain_add_products;
train_axpy_fn train_plain_axpy;
train_interpolate_fn train_plain_interpolate;
train_standardise_fn train_plain_standardise;
train_transpose_fn train_plain_transpose;
train_sum_squares_fn train_plain_sum_squares;
train_combine_fn train_plain_combine;
train_add_difference_fn train_plain_add_difference;
train_dot_fn train_plain_dot;
train_distance_fn train_plain_distance;
train_decay_fn train_plain_decay;
train_judge_fn train_plain_judge;
train_adam_fn train_plain_adam;
/* quantiles.c */
train_follow_quantiles_fn train_plain_follow_quantiles;

#endif
