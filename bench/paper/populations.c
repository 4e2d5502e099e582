/* populations.c -- see populations.h. */
#include "bench/paper/populations.h"
#include "formats/atomic_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double spread_evenly = 0.02;

static double log_normal(double b, double median) {
    double z = log(b / median) / 0.6;
    return exp(-0.5 * z * z) / b;
}

int paper_population(const char *spec, uint32_t units, double *mass) {
    double sum = 0.0;
    if (strncmp(spec, "log-normal:", 11) != 0) return 0;
    double median = strtod(spec + 11, NULL);
    if (!(median > 0.0)) return 0;
    for (uint32_t b = 1; b <= units; b++) sum += log_normal(b, median);
    for (uint32_t b = 1; b <= units; b++)
        mass[b - 1] = spread_evenly / units + (1.0 - spread_evenly) * log_normal(b, median) / sum;
    return 1;
}

/* Masses, none negative, not all 0, to the probabilities of *t. Tails are summed from the far end,
 * smallest first. */
static void take_masses(train_truncation *t, const double *mass) {
    double sum = 0.0;
    for (uint32_t i = t->units; i--;) sum += mass[i];
    for (uint32_t i = t->units; i--;) {
        t->mass[i] = mass[i] / sum;
        t->tail[i] = t->tail[i + 1] + t->mass[i];
    }
}

taper_status paper_truncation(train_truncation *t, const char *spec, uint32_t units,
                              taper_error *error) {
    double *mass = calloc(units, sizeof *mass);
    if (!mass) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a population");
    int population = paper_population(spec, units, mass);
    taper_status status = train_truncation_make(t, population ? "uniform" : spec, units, error);
    if (status == TAPER_OK && population) take_masses(t, mass);
    free(mass);
    return status;
}

double paper_mean_length(const train_truncation *t) {
    double sum = 0.0;
    for (uint32_t b = 1; b <= t->units; b++) sum += b * t->mass[b - 1];
    return sum;
}

/* The mean is the sum of the tails: 1 + rho + ... + rho^(units - 1). */
double paper_geometric_of_mean(double mean, uint32_t units) {
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 60; i++) {
        double rho = 0.5 * (low + high), sum = 0.0, tail = 1.0;
        for (uint32_t b = 0; b < units; b++) sum += tail, tail *= rho;
        if (sum < mean)
            low = rho;
        else
            high = rho;
    }
    return 0.5 * (low + high);
}

taper_status paper_write_histogram(const train_truncation *t, const char *path, const char *comment,
                                   taper_error *error) {
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a histogram");
    fprintf(to, "# %s\n", comment);
    for (uint32_t b = 0; b < t->units; b++) fprintf(to, "%.9g\n", t->mass[b]);
    fclose(to);
    taper_status status = formats_file_write(path, text, n, FORMATS_ATOMIC_OVERWRITE, NULL, error);
    free(text);
    return status;
}
