/* operations.h -- the operations of a device: its second table (device.h has the first).
 *
 * The processor's functions (train/processor/) are the reference implementation. Another device
 * gives the same numbers up to the order of sums and the last places of exp, log and the like.
 * Unless a comment says otherwise:
 *   addresses          are on the device; plain numbers are the host's
 *   matrices           are dense and row-major
 *   outputs            are overwritten, even if they hold NaN, and do not overlap inputs
 *   no rows, columns   nothing is done, and sums become 0
 * Included by C11 and by nvcc (C++17).
 *
 * Factors (train_keep): products take them and do not make them. Other operations take them as
 * inputs, or make them as outputs, only if documented. They are rounded once, when written.
 *
 * Floats are not checked: NaN and infinity propagate to the losses and to the gradient's norm,
 * where `judge` detects them. */
#ifndef TRAIN_OPERATIONS_H
#define TRAIN_OPERATIONS_H
#include "codec/backend/operations.h"
#include "codec/transform/convolution.h"
#include "codec/transform/gradients.h"
#include "train/device/device.h"
#include "train/sampling/corruption.h"
#include "train/sampling/jitter.h"
#include "train/sampling/truncation.h"
#ifdef __cplusplus
extern "C" {
#endif

/* --- products ------------------------------------------------------------------------- */

/* As codec_gemm_fn: C[m][n] = beta C + op(A) op(B). beta 0 overwrites. Makes factors of C. */
typedef taper_status train_gemm_fn(train_stream *s, int transpose_a, int transpose_b, size_t m,
                                   size_t n, size_t k, const float *a, const float *b, float beta,
                                   float *c);
/* gram[width][width] += x^T x of x[rows][width]; only elements [i][j] with j <= i are used. Factors
 * are never rounded. Products and sums are float32 within TRAIN_GRAM_ROWS rows; these sums are
 * added in double, rows ascending. Integers of magnitude at most 255 are therefore exact, because
 * 256 x 255^2 is below 2^24, and every device gives the same bits.
 * step: 0, or a power of two to whose multiples the float32 sums are rounded. Their sum in double
 * is then exact, whatever the order, while it stays below 2^53 steps. TAPER_ERR_NOMEM. */
enum { TRAIN_GRAM_ROWS = 256 };
typedef taper_status train_add_gram_fn(train_stream *s, size_t rows, size_t width, const float *x,
                                       float step, double *gram);
/* As codec_bias_fn: y[rows][width] = activation(y + bias[width]); bias may be NULL. Takes factors
 * and makes them. */
typedef taper_status train_bias_fn(train_stream *s, size_t rows, size_t width, const float *bias,
                                   codec_activation activation, float *y);
/* A layer: C[m][n] = activation(beta C + op(A) op(B) + bias[n]), as gemm and bias. A device may
 * fuse them. Makes factors of C; the bias is rounded too. */
typedef struct train_affine {
    int transpose_a, transpose_b;
    size_t m, n, k;
    const float *a, *b;
    float beta;
    const float *bias; /* may be NULL */
    codec_activation activation;
    float *c;
} train_affine;
typedef taper_status train_affine_fn(train_stream *s, const train_affine *layer);
/* The gradient of bias. y[rows][width] is its output, dy the gradient by y. In place: dy = 0 where
 * activation is CODEC_RELU and y <= 0, dy *= y (1 - y) where it is CODEC_LOGISTIC; dbias[width] (or
 * NULL) = add_to dbias + column sums of the new dy, rows ascending, add_to 0 or 1. With
 * CODEC_LINEAR y is not read and may be NULL. Takes factors and makes them. */
typedef taper_status train_bias_backward_fn(train_stream *s, size_t rows, size_t width,
                                            codec_activation activation, const float *y, float *dy,
                                            int add_to, float *dbias);
/* The gradient of a layer's weights and bias: C[m][n] += A^T B of A[rows][m] and B[rows][n], and
 * sums += column sums of A, or of B if of_b is 1: gemm, and bias_backward with CODEC_LINEAR. A
 * device may fuse them, with the factors rounded as for products. */
typedef struct train_weight_gradient {
    size_t rows, m, n;
    const float *a, *b;
    float *c;
    int of_b;
    float *sums; /* [m], or [n] for those of B; NULL: none */
} train_weight_gradient;
typedef taper_status train_weight_gradient_fn(train_stream *s, const train_weight_gradient *g);

/* --- rows ----------------------------------------------------------------------------- */

/* Rows of bytes as numbers: element [i][j] is (pixels[order[i]][j] - mean[j]) inverse_scale. order
 * NULL: row i of pixels. */
typedef struct train_inputs {
    size_t rows, width;
    const uint8_t *pixels;
    const uint32_t *order;
    const float *mean;
    float inverse_scale;
} train_inputs;
/* to[rows][width] = the values that train_inputs defines for these arguments. Makes factors. */
typedef taper_status train_centre_rows_fn(train_stream *s, size_t rows, size_t width,
                                          const uint8_t *pixels, const uint32_t *order,
                                          const float *mean, float inverse_scale, float *to);
/* to[i] = from[order[i]], rows of `bytes` bytes. order NULL: to[i] = from[i]. */
typedef taper_status train_gather_rows_fn(train_stream *s, size_t rows, size_t bytes,
                                          const void *from, const uint32_t *order, void *to);
/* to[i] = from[order[i]] moved as jitter.h defines, by the random numbers of (seed, step,
 * position[i]). */
typedef taper_status train_jitter_fn(train_stream *s, const train_jitter *jitter, size_t rows,
                                     const uint8_t *pixels, const uint32_t *order, uint64_t seed,
                                     uint64_t step, uint8_t *to);

/* to[i][codec_gradients_count] = codec_gradients of window order[i] of pixels; order NULL: window
 * i. The cells must be legal. */
typedef struct train_gradients {
    codec_window window;
    codec_cells cells;
    size_t rows;
    const uint8_t *pixels;
    const uint32_t *order;
    uint32_t
        *votes; /* [rows][across * down][CODEC_GRADIENT_SIGNED] scratch; may be left as it is */
    uint8_t *to;
} train_gradients;
typedef taper_status train_gradients_fn(train_stream *s, const train_gradients *g);

/* to[order[i]][j] += from[i][j], j < width. Additions to one row are in ascending order of i. */
typedef taper_status train_scatter_rows_fn(train_stream *s, size_t rows, size_t width,
                                           const float *from, const uint32_t *order, float *to);
/* to[i][j] = from[i][j], j < width. Rows are from_stride and to_stride elements apart. Packs
 * columns or unpacks them. Takes factors. */
typedef taper_status train_copy_columns_fn(train_stream *s, size_t rows, size_t width,
                                           const float *from, size_t from_stride, float *to,
                                           size_t to_stride);
/* y[rows][width] = x + length g / |g| for each row; x if g is 0 or |g|^2 is not finite. */
typedef taper_status train_step_rows_fn(train_stream *s, size_t rows, size_t width, float length,
                                        const float *x, const float *g, float *y);

/* --- grids: a window and the eight around it --------------------------------------------- */

/* neighbour[TRAIN_SIDES][rows]: the row next to each row at each side, or `rows` if there is none.
 * Side 3 (dy + 1) + dx + 1; TRAIN_SELF is the row itself. */
enum { TRAIN_SIDES = 9, TRAIN_SELF = 4 };

/* to[rows][side][width] = from[neighbour[side][row]][width], zeros if there is no neighbour.
 * mirrored: the opposite side's neighbour, for the backward pass of a convolution. */
typedef taper_status train_gather_sides_fn(train_stream *s, size_t rows, size_t width,
                                           const uint32_t *neighbour, int mirrored,
                                           const float *from, float *to);
/* Inputs of a conditional model from seen[rows][own], where an integer a stands for a / 32. A row
 * of x[rows][2 (own + 8 neighbour_units) + 9] consists of
 *   [a |a|] of all `own` units of the row itself;
 *   [a |a|] of the first `neighbour_units` of each side but TRAIN_SELF, zeros without a neighbour;
 *   a 1 for each side with a neighbour, else 0. */
typedef taper_status train_conditional_inputs_fn(train_stream *s, size_t rows, uint32_t own,
                                                 uint32_t neighbour_units, const int8_t *seen,
                                                 const uint32_t *neighbour, float *x);

/* --- convolutional layers (codec/transform/convolution.h) -------------------------------- */

/* to[rows][places][taps][channels] = codec_map_patches of each row of from[rows][values]. */
typedef taper_status train_patches_fn(train_stream *s, codec_map map, size_t rows,
                                      const float *from, float *to);
/* Its adjoint: to[rows][values] = the sum of the elements of from[rows][places][taps][channels]
 * that are copies of it, taps descending. */
typedef taper_status train_add_patches_fn(train_stream *s, codec_map map, size_t rows,
                                          const float *from, float *to);
/* codec_map_pool of each row: from[rows][places][channels]; to, which[rows][pooled
 * places][channels]. */
typedef taper_status train_pool_fn(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                                   const float *from, float *to, uint8_t *which);
/* Its adjoint: to[rows][places][channels] = from[rows][pooled places][channels] where `which` says,
 * elsewhere 0. */
typedef taper_status train_unpool_fn(train_stream *s, codec_map map, uint32_t channels, size_t rows,
                                     const float *from, const uint8_t *which, float *to);

/* --- clipped layers --------------------------------------------------------------------- */

/* Sums over rows are taken in blocks of TRAIN_SUM_ROWS and then over the blocks;
 * scratch[blocks][width] holds the block sums. clip(z) = min(max(z, 0), top). */
enum { TRAIN_SUM_ROWS = 64 };
static inline size_t train_sum_blocks(size_t rows) {
    return (rows + TRAIN_SUM_ROWS - 1) / TRAIN_SUM_ROWS;
}

/* y[rows][width] = clip(y + bias[width]). */
typedef taper_status train_clip_fn(train_stream *s, size_t rows, size_t width, const float *bias,
                                   float top, float *y);
/* Its gradient, given its output y: dy becomes 0 where y is 0 or top; dbias += column sums of the
 * new dy. */
typedef taper_status train_clip_backward_fn(train_stream *s, size_t rows, size_t width, float top,
                                            const float *y, float *dy, float *dbias,
                                            float *scratch);
/* A residual layer: added = clip(added + bias[width]); to = min(from + added, top). All are
 * [rows][width]. */
typedef struct train_residual {
    size_t rows, width;
    float top;
    const float *bias, *from;
    float *added, *to;
} train_residual;
typedef taper_status train_clip_added_fn(train_stream *s, const train_residual *layer);
/* Its gradient, given its outputs. dto becomes 0 where `to` is top; this is the gradient of `from`.
 * dadded = dto, but 0 where `added` is 0 or top. dbias += column sums of dadded. */
typedef taper_status train_clip_added_backward_fn(train_stream *s, const train_residual *layer,
                                                  float *dto, float *dadded, float *dbias,
                                                  float *scratch);
/* h = min(max(h + bias[width] + before, -top), top), before[rows][width] or NULL; a = max(h, 0). */
typedef taper_status train_relu_added_fn(train_stream *s, size_t rows, size_t width,
                                         const float *bias, float top, const float *before,
                                         float *h, float *a);
/* Its gradient: dh = (dh + da where h > 0) where |h| < top, else 0. */
typedef taper_status train_relu_added_backward_fn(train_stream *s, size_t n, float top,
                                                  const float *h, const float *da, float *dh);

/* --- normalised layers ----------------------------------------------------------------- */

/* Batch normalisation (Ioffe & Szegedy 2015, algorithm 1), then a bias and ReLU. There is no gain,
 * because ReLU and the next layer make it redundant. Statistics are those of the given rows. */
#define TRAIN_NORMALISE_LEAST 1e-5f
typedef struct train_normalised {
    size_t rows, width;
    const float *bias; /* [width] */
    /* [rows][width] in: pre-activations; out: (unit - mean) inverse */
    float *unit;
    float *y; /* [rows][width] = max(unit + bias, 0) */
    /* [width] of each input column, and 1 / sqrt(variance + TRAIN_NORMALISE_LEAST) */
    float *mean, *inverse;
} train_normalised;
typedef taper_status train_normalise_fn(train_stream *s, const train_normalised *n);
/* Its gradient, given its outputs unit, y and inverse. With d = dy where y > 0, else 0, and means
 * over rows: dy becomes inverse (d - mean(d) - unit mean(d unit)), the gradient by the
 * pre-activation; dbias[width] += column sums of d. */
typedef taper_status train_normalise_backward_fn(train_stream *s, const train_normalised *n,
                                                 float *dy, float *dbias);

/* --- noise, as defined in train/sampling/corruption.h ------------------------------------ */

/* corrupted[rows][width] = rows as centre_rows gives them, with each element set to 0 with
 * probability p. Makes factors. */
typedef struct train_corruption {
    train_inputs inputs;
    train_noise noise;
    float p;
    float *corrupted;
} train_corruption;
typedef taper_status train_corrupt_fn(train_stream *s, const train_corruption *c);
/* Dropout with probability p on x[rows][width] of hidden layer `layer`, or on its gradient. Takes
 * factors and makes them. */
typedef taper_status train_dropout_fn(train_stream *s, const train_noise *noise, uint32_t layer,
                                      float p, size_t rows, size_t width, float *x);
/* y = x + normal noise; squares[rows] = |noise|^2 of each row. Takes factors and makes them. */
typedef taper_status train_perturb_fn(train_stream *s, const train_noise *noise, double variance,
                                      size_t rows, size_t width, const float *x, float *y,
                                      double *squares);
/* to[rows][width] = states of stochastic units with these means; to may be mean. Takes factors and
 * makes them. */
typedef taper_status train_sample_fn(train_stream *s, const train_noise *noise, train_states states,
                                     size_t rows, size_t width, const float *mean, float *to);

/* --- codes ---------------------------------------------------------------------------- */

/* Codes x[rows][units], and a cut of each. */
typedef struct train_cut_codes {
    size_t rows;
    uint32_t units;
    const float *x;
    const train_cut *cuts; /* [rows]; thresholds are in units of `scale` x */
    float scale;
} train_cut_codes;
/* The quantiser of train/objectives/reconstruction.h, row by row: x_q[rows][units] and
 * gradient[rows][units] = d x_q / d x. */
typedef taper_status train_quantise_fn(train_stream *s, const train_cut_codes *codes,
                                       float gradient_floor, float *x_q, float *gradient);
/* The rate of train/objectives/rate.h: bits[rows], and dlog_scale[rows][units] = weight d bits /
 * d log b. inverse_scale[units] is 1 / b. */
typedef taper_status train_rate_fn(train_stream *s, const train_cut_codes *codes,
                                   const float *inverse_scale, float weight, double *bits,
                                   float *dlog_scale);
/* dx[rows][units] += weight d bits / d x. */
typedef taper_status train_rate_gradient_fn(train_stream *s, const train_cut_codes *codes,
                                            const float *inverse_scale, float weight, float *dx);

/* The values of whole units, from their pre-activations a:
 *   binary 0   x = activation(a); the logistic function uses expf
 *   binary 1   x = (1 where a > -bias, else 0) - centre. d x / d a is taken as 0 if spread is NULL,
 *              else as p (1 - p) 2 / w with p = 1 / (1 + exp(-2 (a + bias) / w)), w = spread, or 1
 *              where spread is not above 0 */
typedef struct train_units {
    size_t rows;
    uint32_t units;
    /* [rows] on the device: values from unit kept[row] on are 0; NULL: none are */
    const uint32_t *kept;
    int binary;
    codec_activation activation;
    float centre;
    const float *bias, *spread; /* [units] on the device; ignored unless binary */
} train_units;
/* x[rows][units] from a. Makes factors. */
typedef taper_status train_unit_values_fn(train_stream *s, const train_units *u, const float *a,
                                          float *x);
/* From d x to d a, for units first .. units - 1: da[rows][units - first] = dx d x / d a, 0 from
 * unit kept[row] on. a[rows][units]. da may be dx. Takes factors of dx and makes them. */
typedef taper_status train_unit_gradient_fn(train_stream *s, const train_units *u, uint32_t first,
                                            const float *a, const float *dx, float *da);
/* Binary units with decision feedback from earlier units (codec/transform/triangle.h). In order of
 * k, a_k of a[rows][units] becomes a_k - sum_(j<k) feedback[k stride + j] x_j, and x_k is decided
 * from it as above. Then units of x[rows][units] from kept[row] on become 0. Makes factors of
 * x. */
typedef taper_status train_decide_fn(train_stream *s, const train_units *u, const float *feedback,
                                     size_t stride, float *a, float *x);
/* z[rows][units] = x_k + sum_(j<k) mixing[k stride + j] x_j. */
typedef taper_status train_mix_fn(train_stream *s, size_t rows, uint32_t units, const float *mixing,
                                  size_t stride, const float *x, float *z);
/* Rows first .. first + rows - 1 of a lower triangle without its diagonal: to[k stride + j] =
 * from[(k - first) columns + j] for j < k, 0 for k <= j < stride. */
typedef taper_status train_set_lower_fn(train_stream *s, size_t first, size_t rows, size_t columns,
                                        const float *from, float *to, size_t stride);
/* The change of codes under a perturbation. moved[rows] = sum of the units' changes / noise, in
 * double, units ascending. For units first .. units - 1, the gradient of weight / of times the sum
 * of moved is added to da[rows][units - first] and overwrites dnear. a, near: [rows][units] of the
 * rows and of their perturbed copies. noise[rows] is |epsilon|^2, to which 1e-30 is added.
 *   The change of a real-valued unit is (x(near) - x(a))^2. The bits of a binary unit have no
 * slope, so its change is the relative one of its margins p = a + bias and q = near + bias,
 *     (q - p)^2 / (p^2 + q^2 + (w / 2)^2),       w = spread, or 1 if there is none above 0.
 * Apart from w it is above 1 if the bit flips and below 1 if not. It does not depend on a common
 * scale of a, bias and spread. bias and spread have no gradient. Takes factors of da; makes factors
 * of da and dnear. */
#define TRAIN_BIT_MOVE_LEAST 2.0
typedef struct train_moves {
    train_units units; /* kept is ignored */
    uint32_t first;
    double weight, of;
    const double *noise;
    const float *a, *near;
    float *da, *dnear;
    double *moved;
} train_moves;
typedef taper_status train_unit_moves_fn(train_stream *s, const train_moves *m);

/* --- losses --------------------------------------------------------------------------- */

/* y[rows][width] -= target, and square[rows] = |y|^2 of each row, summed in single precision. */
typedef taper_status train_errors_fn(train_stream *s, size_t rows, size_t width,
                                     const float *target, float *y, double *square);
/* mean[rows] = |y - target|^2 / width of each row, summed in double; e[rows][width] = factor (y -
 * target). Factor 1 gives the errors, 2 / (rows width) the gradient of the mean of mean[]. e may be
 * y. Takes factors of y, makes factors of e. */
typedef taper_status train_mean_errors_fn(train_stream *s, const train_inputs *target, float factor,
                                          const float *y, float *e, double *mean);
/* The cross-entropy of pixels 0..1 predicted by logits (Salakhutdinov & Hinton 2007, equation 18).
 * x is the target, a[rows][width] the logits, s = 1 / (1 + e^-a):
 *     cost[rows] = - sum over the row of x log s + (1 - x) log(1 - s), in double
 *     e[rows][width] = factor (s - x), which is factor times the gradient
 * e may be a. */
typedef taper_status train_pixel_entropy_fn(train_stream *s, const train_inputs *target,
                                            float factor, const float *a, float *e, double *cost);
/* Adds some rows to the losses of a step of `of` rows. E is the sum of error[rows], M that of
 * moved[rows] (NULL: 0), rows ascending:
 *     losses[0] += (E + weight M) / of;  losses[1] += E / of scale^2;  losses[2] += M / of. */
typedef taper_status train_error_losses_fn(train_stream *s, size_t rows, const double *error,
                                           const double *moved, double weight, double scale,
                                           double of, double *losses);
/* The weight of each row's error, weight[rows], and loss[rows] += weight x error. T is the row's
 * threshold in units of `scale`:
 *     weight = (mean error at this T / error)^balance / T^2, the ratio between 0.1 and 10.
 * The mean is over rows whose T lies in the same eighth of the batch's range of log T. */
typedef taper_status train_weigh_errors_fn(train_stream *s, size_t rows, const train_cut *cuts,
                                           float scale, float balance, const double *error,
                                           double *weight, double *loss);
/* The same for the logarithm of an error: loss += log(error + least), weight = 1 / (error +
 * least). */
typedef taper_status train_log_errors_fn(train_stream *s, size_t rows, double least,
                                         const double *error, double *weight, double *loss);
/* e[rows][width] *= 2 weight[row] / rows: turns errors into the gradient of the mean over rows of
 * weight |e|^2. */
typedef taper_status train_error_gradient_fn(train_stream *s, size_t rows, size_t width,
                                             const double *weight, float *e);
/* Cross-entropy of labels under the softmax p of logits: loss[rows] += -log p[row][label], and
 * gradient[rows][classes] = (p - [class = label]) / rows. A row whose label is not below `classes`
 * is unlabelled: its loss is not changed, its gradient is 0. */
typedef taper_status train_cross_entropy_fn(train_stream *s, size_t rows, size_t classes,
                                            const float *logit, const uint32_t *label, double *loss,
                                            float *gradient);
/* Losses without labels. The entropy H of the softmax p of logits: loss[rows] += H(p[row]), and
 * gradient[rows][classes] = -p (log p + H) / rows. */
typedef taper_status train_class_entropy_fn(train_stream *s, size_t rows, size_t classes,
                                            const float *logit, double *loss, float *gradient);
/* The divergence of q, the softmax of `logit`, from p, the softmax of `believed`, which is treated
 * as a constant: loss[rows] += KL(p || q), and gradient[rows][classes] = (q - p) / rows. */
typedef taper_status train_class_divergence_fn(train_stream *s, size_t rows, size_t classes,
                                               const float *believed, const float *logit,
                                               double *loss, float *gradient);

/* Codes of a batch, each of which selects another as its neighbour: losses and gradients as derived
 * in train/objectives/neighbours.h. TRAIN_UNLABELLED rows are ignored. */
#define TRAIN_UNLABELLED UINT32_MAX
typedef enum train_neighbour_loss {
    TRAIN_NCA = 0,     /* minus the sum of probabilities */
    TRAIN_LOG_NCA = 1, /* minus the sum of their logarithms */
    TRAIN_MCML = 2     /* KL(P || Q) */
} train_neighbour_loss;
/* Sums of a row over the others: log of the sum of kernels; the same over rows with its label
 * (-INFINITY: there are none); the sum of the logarithms of these kernels; their number; and the
 * sum of squared hinges. */
enum { TRAIN_ALL = 0, TRAIN_SAME, TRAIN_LOGS, TRAIN_COUNT, TRAIN_HINGES, TRAIN_NEIGHBOUR_SUMS };
/* Values of a row that its pairs need (train_share in elements_neighbours.h). */
enum { TRAIN_SHARES = 3 };
typedef struct train_neighbours {
    size_t rows, units;
    const float *code;     /* [rows][units] */
    const float *across;   /* [units][rows] the same, transposed */
    const uint32_t *label; /* [rows] */
    train_neighbour_loss loss;
    /* 1: all pairs are normalised together, 0: each row by itself */
    int all_pairs;
    /* 1: Student's t with alpha e^*number degrees, 0: the Gaussian */
    int student;
    double alpha;
    const float *number; /* [1] on the device; NULL: 0 */
    /* Weight of max(0, 1 - D)^2 of pairs with different labels; 0: none. */
    double hinge;
    double *sums; /* [rows][TRAIN_NEIGHBOUR_SUMS] */
    float *share; /* [TRAIN_SHARES][rows] */
    /* [rows] parts of the gradient by *number; NULL: not computed */
    float *by_number;
} train_neighbours;
/* Computes sums from code, across and label. TAPER_ERR_NOMEM. */
typedef taper_status train_neighbour_sums_fn(train_stream *s, const train_neighbours *n);
/* Computes share from sums and label; loss[rows] += the loss of each row. */
typedef taper_status train_neighbour_losses_fn(train_stream *s, const train_neighbours *n,
                                               double *loss);
/* pull[rows][n->rows] for rows first .. first + rows - 1. The gradient of the mean loss by code i
 * is the sum over j of pull[i][j] code[j]. Rows of pull sum to 0. Also fills by_number of these
 * rows. */
typedef taper_status train_neighbour_pulls_fn(train_stream *s, const train_neighbours *n,
                                              size_t first, size_t rows, float *pull);
/* y[i] += factor x[i]. */
typedef taper_status train_add_doubles_fn(train_stream *s, size_t n, double factor, const double *x,
                                          double *y);
/* *sum = sum of x[i], i ascending. */
typedef taper_status train_sum_doubles_fn(train_stream *s, size_t n, const double *x, double *sum);

/* A bit that a model predicts, and what else is known of it. */
enum { TRAIN_BIT_KINDS = 3, TRAIN_BIT_SIGN = 1 };
typedef struct train_bit {
    /* The contexts' logits of the magnitude bit and of the sign. */
    float offset[2];
    /* Of the magnitude bit: 0 significance, 2 refinement; 1: none is sent. */
    uint8_t kind;
    uint8_t bit;
    int8_t sign; /* 0: none is sent, else 1 or -1 */
} train_bit;

/* The bits of `passes` passes of each row. Logits are offset + logit + bias, for the magnitude
 * those of its kind, for the sign those of TRAIN_BIT_SIGN. */
typedef struct train_bits {
    size_t rows, passes;
    float weight;
    const train_bit *bit; /* [rows][passes] */
    /* [TRAIN_BIT_KINDS] rows of [passes], `stride` elements apart */
    const float *bias;
    size_t stride;
    float *logit; /* [rows][passes][TRAIN_BIT_KINDS]; becomes weight d bits / d logit */
    /* As bias: weight d bits / d bias is added. */
    float *dbias;
    /* [2] weight x bits and weight x bits by the offset alone are added */
    double *losses;
    /* Scratch: [train_sum_blocks(rows)][TRAIN_BIT_KINDS][passes]. */
    float *column_sums;
    double *sums; /* scratch: [train_sum_blocks(rows)][2] */
} train_bits;
typedef taper_status train_bits_fn(train_stream *s, const train_bits *bits);

/* The errors that remain after a reconstruction head: e = missing - uncertainty z. *loss += weight
 * x sum of worth e^2, and z becomes the gradient of that. */
typedef struct train_head {
    size_t rows, units;
    double weight;
    /* [rows][units] error of a code decoded without a head */
    const float *missing;
    const uint8_t *more;      /* [rows][units] index into uncertainty: 0 or 1 */
    const float *uncertainty; /* [units][2] */
    const double *worth;      /* [units] weight of a squared error */
    float *z;                 /* [rows][units] */
    double *loss;             /* added to */
    double *sums;             /* scratch: [train_sum_blocks(rows)] */
} train_head;
typedef taper_status train_head_fn(train_stream *s, const train_head *head);

/* Restored numbers decoded[rows][width]: errors[0] = sum of (decoded - target + levels gain z)^2,
 * errors[1] the same without z. dz = weight x the gradient of errors[0] by z, *dgain that by the
 * gain. Sums are taken in blocks of TRAIN_RESTORED_ROWS rows. */
enum { TRAIN_RESTORED_ROWS = 256 };
typedef struct train_restored {
    size_t rows, width;
    double weight;
    float levels;
    const float *decoded, *target, *z, *gain; /* gain: [1] */
    float *dz, *dgain;
    double *errors; /* [2] */
    double *sums;   /* scratch: [blocks][3] */
} train_restored;
typedef taper_status train_restored_fn(train_stream *s, const train_restored *restored);

/* *sum += factor x *a / (*b + least). */
typedef taper_status train_add_ratio_fn(train_stream *s, double factor, const double *a,
                                        const double *b, double least, double *sum);

/* --- vectors -------------------------------------------------------------------------- */

/* y[i] = factor x[i]. y may be x. */
typedef taper_status train_scale_fn(train_stream *s, size_t n, float factor, const float *x,
                                    float *y);
/* y[i] = e^(factor x[i]), clamped as train_exp (train/sampling/numbers.h). */
typedef taper_status train_exponential_fn(train_stream *s, size_t n, float factor, const float *x,
                                          float *y);
/* y[i] += a[i] b[i]. */
typedef taper_status train_add_products_fn(train_stream *s, size_t n, const float *a,
                                           const float *b, float *y);
/* y[i] += factor x[i]. */
typedef taper_status train_axpy_fn(train_stream *s, size_t n, float factor, const float *x,
                                   float *y);
/* to[i] = a[i] + part (b[i] - a[i]). b may be a. */
typedef taper_status train_interpolate_fn(train_stream *s, size_t n, float part, const float *a,
                                          const float *b, float *to);
/* y[i] = (x[i] - centre) / scale, clamped to -most .. most. */
typedef taper_status train_standardise_fn(train_stream *s, size_t n, float centre, float scale,
                                          float most, const float *x, float *y);
/* to[i][column][row] = from[i][row][column] for each of n matrices. */
typedef taper_status train_transpose_fn(train_stream *s, size_t n, size_t rows, size_t columns,
                                        const float *from, float *to);
/* *sum = add_to *sum + sum of x[i]^2 in double, add_to 0 or 1. */
typedef taper_status train_sum_squares_fn(train_stream *s, size_t n, const float *x, int add_to,
                                          double *sum);

/* to[i] = alpha x[i] + beta y[i], in double, rounded once. to may be x or y. */
typedef taper_status train_combine_fn(train_stream *s, size_t n, double alpha, const float *x,
                                      double beta, const float *y, float *to);
/* y[i] += a[i] - b[i], in double, rounded once. */
typedef taper_status train_add_difference_fn(train_stream *s, size_t n, const float *a,
                                             const float *b, float *y);
/* *sum = sum of a[i] b[i] in double. a may be b. */
typedef taper_status train_dot_fn(train_stream *s, size_t n, const float *a, const float *b,
                                  double *sum);
/* squares[0] = |a - b|^2, squares[1] = |a|^2, in double. */
typedef taper_status train_distance_fn(train_stream *s, size_t n, const float *a, const float *b,
                                       double *squares);

/* Weight decay of rows, lambda |w|. The gradient of the penalty is sign(w), 0 at 0, for L1, and w
 * for L2 (sum of w^2 / 2). */
typedef enum train_penalty {
    TRAIN_PENALTY_NONE = 0,
    TRAIN_PENALTY_L1 = 1,
    TRAIN_PENALTY_L2 = 2
} train_penalty;
typedef enum train_coefficient {
    TRAIN_COEFFICIENT_FIXED = 0,    /* lambda = strength */
    TRAIN_COEFFICIENT_ADAPTIVE = 1, /* strength |row of gradient| / |penalty's gradient|, or 0 */
    TRAIN_COEFFICIENT_GIVEN = 2     /* lambda[rows] is an input; rows of 0 are not changed */
} train_coefficient;
/* gradient[rows][width] += lambda[row] (penalty's gradient at weight), in double, rounded once. */
typedef struct train_decay {
    train_penalty penalty; /* not NONE */
    train_coefficient coefficient;
    double strength;
    size_t rows, width;
    const float *weight;
    float *gradient;
    double *lambda; /* [rows] becomes the coefficients; NULL, unless GIVEN: they are not returned */
    double *value;  /* NULL, or += sum of lambda[row] |w|, rows ascending */
} train_decay;
typedef taper_status train_decay_fn(train_stream *s, const train_decay *d);

/* The result of checking a step's loss and gradient. */
typedef struct train_verdict {
    /* First step, from 1, whose loss or gradient was not finite; 0: none. */
    uint64_t diverged;
    /* Factor of this step's gradient: 1, or less if it is clipped. */
    float scale;
} train_verdict;
/* Checks step `step` (from 1). It has diverged unless |*loss| < most_loss (which may be INFINITY)
 * and the norm, sqrt(*squares), is finite. The first such step is kept. scale limits the norm to
 * max_norm (0: no limit). */
typedef taper_status train_judge_fn(train_stream *s, uint64_t step, const double *loss,
                                    double most_loss, const double *squares, float max_norm,
                                    train_verdict *verdict);
/* One step of Adam (Kingma & Ba 2015, algorithm 1, with the bias corrections folded into `rate` and
 * `epsilon`):
 *   g' = scale g;  m = beta1 m + (1 - beta1) g';  v = beta2 v + (1 - beta2) g'^2
 *   w = w - rate m / (sqrt(v) + epsilon)
 * where scale is the verdict's, rate = alpha sqrt(1 - beta2^t) / (1 - beta1^t) and epsilon =
 * epsilon0 sqrt(1 - beta2^t). Values of g', m and v below these magnitudes become 0, so that none
 * is ever subnormal. If the run has diverged, nothing is done. A rounded copy of w (train_keep) is
 * kept up to date. */
#define TRAIN_ADAM_LEAST_GRADIENT 1e-16f
#define TRAIN_ADAM_LEAST_M        1e-30f
#define TRAIN_ADAM_LEAST_V        1e-35f
typedef struct train_adam_step {
    float rate, beta1, beta2, epsilon;
} train_adam_step;
typedef taper_status train_adam_fn(train_stream *s, size_t n, const train_adam_step *step,
                                   const train_verdict *verdict, const float *g, float *w, float *m,
                                   float *v);

/* --- quantiles ------------------------------------------------------------------------- */

/* Tracks the (1 - beta)-quantile of each unit from batch to batch (stochastic approximation,
 * Robbins & Monro 1951):
 *     spread += (mean |a - threshold| - spread) / 10
 *     threshold += spread (fraction of the rows above it - beta)
 * A spread below 0 means that the unit has seen no batch. Its threshold becomes
 * train_exact_quantile (train/sampling/quantile.h) of this batch, its spread the mean distance from
 * it. A unit with a value that is not finite is not changed. No unit is changed if the verdict
 * (NULL: none) says that the run has diverged. */
typedef struct train_quantiles {
    size_t rows, stride, units;
    double beta;
    const float *a;       /* [rows] of the units' values, `stride` elements apart */
    float *bias, *spread; /* [units]; bias is the negative threshold */
} train_quantiles;
typedef taper_status train_follow_quantiles_fn(train_stream *s, const train_quantiles *q,
                                               const train_verdict *verdict);

/* Every operation, by the file of its implementations. train_NAME_fn is the type of NAME. The
 * table, the functions of each device and their tables are made from this list. */
/* clang-format off */
#define TRAIN_OPERATIONS(X) \
    /* products */ X(gemm) X(add_gram) X(bias) X(affine) X(bias_backward) X(weight_gradient) \
    /* rows */ X(centre_rows) X(gather_rows) X(jitter) X(scatter_rows) X(copy_columns) \
        X(step_rows) X(gather_sides) X(conditional_inputs) X(gradients) \
    /* layers */ X(clip) X(clip_backward) X(clip_added) X(clip_added_backward) X(relu_added) \
        X(relu_added_backward) X(normalise) X(normalise_backward) \
        /* kernels/convolution */ X(patches) X(add_patches) X(pool) X(unpool) \
    /* noise */ X(corrupt) X(dropout) X(perturb) X(sample) \
    /* codes */ X(quantise) X(rate) X(rate_gradient) \
    /* units */ X(unit_values) X(unit_gradient) X(decide) X(mix) X(set_lower) X(unit_moves) \
    /* losses */ X(errors) X(mean_errors) X(pixel_entropy) X(error_losses) X(weigh_errors) \
        X(log_errors) X(error_gradient) X(add_doubles) X(sum_doubles) \
    /* classes */ X(cross_entropy) X(class_entropy) X(class_divergence) \
    /* neighbours */ X(neighbour_sums) X(neighbour_losses) \
    /* pulls */ X(neighbour_pulls) \
    /* predictions */ X(bits) X(head) X(restored) X(add_ratio) \
    /* vectors */ X(scale) X(exponential) X(add_products) X(axpy) X(interpolate) X(standardise) \
        X(transpose) X(sum_squares) X(combine) X(add_difference) X(dot) X(distance) X(decay) \
        X(judge) X(adam) \
    /* quantiles */ X(follow_quantiles)
/* clang-format on */
#define TRAIN_OPERATION(name) train_##name##_fn *name;
struct train_operations {
    TRAIN_OPERATIONS(TRAIN_OPERATION)
};
#undef TRAIN_OPERATION

#ifdef __cplusplus
}
#endif
#endif
