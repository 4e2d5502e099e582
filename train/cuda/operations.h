/* operations.h -- the GPU's operations, as specified in train/device/operations.h. */
#ifndef TRAIN_CUDA_OPERATIONS_H
#define TRAIN_CUDA_OPERATIONS_H
#include "train/cuda/cuda.h"
#include "train/device/operations.h"
#ifdef __cplusplus
extern "C" {
#endif

extern const train_operations train_cuda_operations;
train_precision cuda_precision(const train_device *device);

/* kernels/products.cu */
train_gemm_fn train_cuda_gemm;
train_add_gram_fn train_cuda_add_gram;
train_bias_fn train_cuda_bias;
train_affine_fn train_cuda_affine;
train_bias_backward_fn train_cuda_bias_backward;
train_weight_gradient_fn train_cuda_weight_gradient;
/* kernels/rows.cu */
train_centre_rows_fn train_cuda_centre_rows;
train_gather_rows_fn train_cuda_gather_rows;
train_jitter_fn train_cuda_jitter;
train_scatter_rows_fn train_cuda_scatter_rows;
train_copy_columns_fn train_cuda_copy_columns;
train_step_rows_fn train_cuda_step_rows;
train_gather_sides_fn train_cuda_gather_sides;
train_conditional_inputs_fn train_cuda_conditional_inputs;
/* kernels/layers.cu */
train_clip_fn train_cuda_clip;
train_clip_backward_fn train_cuda_clip_backward;
train_clip_added_fn train_cuda_clip_added;
train_clip_added_backward_fn train_cuda_clip_added_backward;
train_relu_added_fn train_cuda_relu_added;
train_relu_added_backward_fn train_cuda_relu_added_backward;
train_normalise_fn train_cuda_normalise;
train_normalise_backward_fn train_cuda_normalise_backward;
/* kernels/noise.cu */
train_corrupt_fn train_cuda_corrupt;
train_dropout_fn train_cuda_dropout;
train_perturb_fn train_cuda_perturb;
train_sample_fn train_cuda_sample;
/* kernels/codes.cu */
train_quantise_fn train_cuda_quantise;
train_rate_fn train_cuda_rate;
train_rate_gradient_fn train_cuda_rate_gradient;
/* kernels/units.cu */
train_unit_values_fn train_cuda_unit_values;
train_unit_gradient_fn train_cuda_unit_gradient;
train_decide_fn train_cuda_decide;
train_mix_fn train_cuda_mix;
train_set_lower_fn train_cuda_set_lower;
train_unit_moves_fn train_cuda_unit_moves;
/* kernels/losses.cu */
train_errors_fn train_cuda_errors;
train_mean_errors_fn train_cuda_mean_errors;
train_pixel_entropy_fn train_cuda_pixel_entropy;
train_error_losses_fn train_cuda_error_losses;
train_weigh_errors_fn train_cuda_weigh_errors;
train_log_errors_fn train_cuda_log_errors;
train_error_gradient_fn train_cuda_error_gradient;
train_add_doubles_fn train_cuda_add_doubles;
train_sum_doubles_fn train_cuda_sum_doubles;
/* kernels/classes.cu */
train_softmax_fn train_cuda_softmax;
train_cross_entropy_fn train_cuda_cross_entropy;
train_class_entropy_fn train_cuda_class_entropy;
train_class_divergence_fn train_cuda_class_divergence;
train_distances_fn train_cuda_distances;
/* kernels/neighbours.cu */
train_neighbour_sums_fn train_cuda_neighbour_sums;
train_neighbour_losses_fn train_cuda_neighbour_losses;
/* kernels/pulls.cu */
train_neighbour_pulls_fn train_cuda_neighbour_pulls;
/* kernels/predictions.cu */
train_bits_fn train_cuda_bits;
train_head_fn train_cuda_head;
train_restored_fn train_cuda_restored;
train_add_ratio_fn train_cuda_add_ratio;
/* kernels/vectors.cu */
train_scale_fn train_cuda_scale;
train_exponential_fn train_cuda_exponential;
train_add_products_fn train_cuda_add_products;
train_axpy_fn train_cuda_axpy;
train_interpolate_fn train_cuda_interpolate;
train_standardise_fn train_cuda_standardise;
train_transpose_fn train_cuda_transpose;
train_sum_squares_fn train_cuda_sum_squares;
train_combine_fn train_cuda_combine;
train_add_difference_fn train_cuda_add_difference;
train_dot_fn train_cuda_dot;
train_distance_fn train_cuda_distance;
train_decay_fn train_cuda_decay;
train_judge_fn train_cuda_judge;
train_adam_fn train_cuda_adam;
/* kernels/quantiles.cu */
train_follow_quantiles_fn train_cuda_follow_quantiles;

#ifdef __cplusplus
}
#endif
#endif
