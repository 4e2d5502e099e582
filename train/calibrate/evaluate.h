/* evaluate.h -- rate and distortion of a model on images, at the ends of its layers, with the
 * encoder's own arithmetic. */
#ifndef TRAIN_EVALUATE_H
#define TRAIN_EVALUATE_H
#include "train/calibrate/calibrate.h"
#include "train/sampling/dataset.h"

typedef struct train_rd_point {
    /* Of entropy-coded data: ideal code lengths. */
    double bytes_per_image;
    /* Mean over images of the PSNR; images without error count as 100 dB. */
    double psnr_db;
} train_rd_point;

typedef struct train_rd_curve {
    uint32_t n;
    train_rd_point point[CODEC_MAX_LAYERS_IN_MODEL];
} train_rd_curve;

/* model->network.analysis must be the exact analysis (pseudo_inverse.h). */
taper_status train_evaluate(const taper_model *model, codec_backend *be, const train_dataset *data,
                            const train_selection *selection, train_rd_curve *curve,
                            taper_error *error);

/* Bytes per image at a PSNR, linear in (dB, log bytes); NAN outside the curve. */
double train_bytes_at(const train_rd_curve *curve, double psnr_db);

/* Mean log ratio of bytes of a to bytes of b, at equal quality over their common range; below 0: a
 * is smaller. */
double train_compare_curves(const train_rd_curve *a, const train_rd_curve *b);

/* Codes of a selection's windows, malloc'd [windows][units]. */
taper_status train_encode_selection(const taper_model *model, codec_backend *be,
                                    const train_dataset *data, const train_selection *selection,
                                    float **codes, taper_error *error);

#endif
