/* stacks.c -- see stacks.h. A layer's file: 8 bytes of name, visible and hidden units and their
 * states as four uint32, then the machine's numbers (rbm.h) as float32, and their CRC-32C. */
#include "bench/paper-embedding/stacks.h"
#include "bench/figures/figures.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "train/rbm/rbm_trainer.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char k_name[8] = "rbm  1\n";

typedef struct head {
    char name[8];
    uint32_t visible, hidden, visible_states, hidden_states;
} head;

/* WORK/mnist-split0-seed1-rbm50-500-500-HASH.layer: HASH is of the rows' number and size. */
static char *path_of(const embedding *e, const embedding_cell *cell, const embedding_settings *s,
                     const train_pixels *rows, const uint32_t *width, uint32_t layers) {
    char widths[100] = "";
    uint64_t of_rows[2] = {rows->n, rows->inputs};
    for (uint32_t i = 0; i < layers; i++) {
        size_t used = strlen(widths);
        snprintf(widths + used, sizeof widths - used, "-%u", width[i]);
    }
    return figures_path(
        e->figures.work, "%s-split%u-seed%u-%s%u%s-%08x.layer", cell->set, cell->split, cell->seed,
        s->pretraining == EMBEDDING_DENOISING ? "denoising" : "rbm", s->pretraining_epochs, widths,
        (unsigned)formats_crc32c(layers > s->layers, of_rows, sizeof of_rows));
}

static void write_layer(const char *path, const train_rbm *rbm) {
    head h = {{0}, rbm->visible, rbm->hidden, rbm->visible_states, rbm->hidden_states};
    size_t numbers = train_rbm_numbers(rbm) * sizeof(float);
    uint8_t *bytes = figures_memory(sizeof h + numbers + sizeof(uint32_t), 1);
    memcpy(h.name, k_name, sizeof h.name);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, rbm->weight, numbers);
    uint32_t sum = formats_crc32c(0, bytes, sizeof h + numbers);
    memcpy(bytes + sizeof h + numbers, &sum, sizeof sum);
    figures_write(path, bytes, sizeof h + numbers + sizeof sum);
    free(bytes);
}

/* 0: it is not there. One of another shape or damaged ends the program. */
static int read_layer(const char *path, uint32_t visible, uint32_t hidden, train_rbm *rbm) {
    uint8_t *bytes;
    size_t n;
    uint32_t sum;
    head h;
    taper_error error = {0};
    if (access(path, R_OK) != 0) return 0;
    figures_check(formats_file_read(path, (uint64_t)1 << 30, &bytes, &n, &error), path, &error);
    if (n < sizeof h + sizeof sum) figures_die("%s is damaged: remove it", path);
    memcpy(&h, bytes, sizeof h);
    memcpy(&sum, bytes + n - sizeof sum, sizeof sum);
    if (memcmp(h.name, k_name, sizeof h.name) != 0 || h.visible != visible || h.hidden != hidden ||
        sum != formats_crc32c(0, bytes, n - sizeof sum))
        figures_die("%s is damaged: remove it", path);
    figures_check(train_rbm_alloc(rbm, visible, hidden, (train_states)h.visible_states,
                                  (train_states)h.hidden_states),
                  "layer", NULL);
    memcpy(rbm->weight, bytes + sizeof h, train_rbm_numbers(rbm) * sizeof(float));
    free(bytes);
    return 1;
}

static int on_progress(void *user, const train_rbm_progress *at) {
    const char *name = user;
    if (at->epoch % 10 == 0 || at->epoch == at->epochs)
        figures_say("  %s: layer %u, epoch %u of %u, %.1f s an epoch, error %.4g", name, at->layer,
                    at->epoch, at->epochs, at->epoch_seconds, at->error);
    return 0;
}

static void learn_layer(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                        const train_pixels *rows, const uint32_t *width, uint32_t layers,
                        train_rbm_stack *stack) {
    train_rbm_options options = train_rbm_defaults();
    char name[64];
    taper_error error = {0};
    snprintf(name, sizeof name, "%s", cell->name);
    options.method = s->pretraining == EMBEDDING_DENOISING ? TRAIN_DENOISE : TRAIN_CONTRASTIVE;
    options.epochs = s->pretraining_epochs;
    options.seed = cell->seed;
    options.top = layers > s->layers ? TRAIN_GAUSSIAN : TRAIN_BERNOULLI;
    train_rbm_callbacks callbacks = {.progress = on_progress, .user = name};
    figures_check(train_rbm_stack_learn(stack, &options, rows, width, layers, &e->device.train,
                                        &callbacks, &error),
                  cell->name, &error);
}

void embedding_stack(embedding *e, const embedding_cell *cell, const embedding_settings *s,
                     const train_pixels *rows, train_rbm_stack *stack) {
    uint32_t width[CODEC_MAX_LAYERS];
    memcpy(width, s->width, sizeof width);
    width[s->layers] = cell->dims;
    *stack = (train_rbm_stack){0};
    for (uint32_t i = 0; i <= s->layers; i++) {
        char *path = path_of(e, cell, s, rows, width, i + 1);
        if (read_layer(path, i ? width[i - 1] : rows->inputs, width[i], &stack->rbm[i]))
            stack->layers = i + 1;
        else {
            learn_layer(e, cell, s, rows, width, i + 1, stack);
            write_layer(path, &stack->rbm[i]);
        }
        free(path);
    }
}
