/* fuzz_checkpoint.c -- any bytes as a checkpoint of training, behind a byte that says how. Bit 0:
 * its checksum is made to hold; bit 1: it is that of this run. What is read must be finite where a
 * run needs that, and the same when it is written and read again. The file stands below TMPDIR. */
#include "train/optimise/checkpoint.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { WEIGHTS = 3, PLACES = 2, FINGERPRINT_AT = 14, FINGERPRINT = 9 };

static void must(int holds) {
    if (!holds) abort();
}

/* A run's state: weights, which are finite, and places, which may be anything. */
typedef struct state {
    float weight[WEIGHTS];
    uint64_t place[PLACES];
    train_checkpoint_part part[2];
    train_checkpoint checkpoint;
} state;

static void expect(state *s) {
    *s = (state){.part = {{s->weight, WEIGHTS, sizeof *s->weight, 0, 1},
                          {s->place, PLACES, sizeof *s->place, 0, 0}},
                 .checkpoint = {.fingerprint = FINGERPRINT, .part = s->part, .parts = 2}};
}

static char path[300];

static void remove_file(void) { unlink(path); }

static void make_path(void) {
    const char *folder = getenv("TMPDIR");
    if (path[0]) return;
    snprintf(path, sizeof path, "%.200s/taper-fuzz-XXXXXX", folder && *folder ? folder : "/tmp");
    const int descriptor = mkstemp(path);
    must(descriptor >= 0);
    close(descriptor);
    atexit(remove_file);
}

static void write_file(const uint8_t *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

/* The same run, saved and resumed. */
static void write_again(const state *s) {
    const train_checkpoint *a = &s->checkpoint;
    state back;
    expect(&back);
    must(train_checkpoint_write(path, a, NULL, NULL) == TAPER_OK);
    must(train_checkpoint_is_there(path) && train_checkpoint_replaces(path, NULL) == TAPER_OK);
    must(train_checkpoint_read(path, &back.checkpoint, NULL) == TAPER_OK);
    const train_checkpoint *b = &back.checkpoint;
    must(a->step == b->step && a->stale_epochs == b->stale_epochs && a->n_history == b->n_history);
    must(!memcmp(s->weight, back.weight, sizeof s->weight));
    must(!memcmp(s->place, back.place, sizeof s->place));
    must(!memcmp(a->history, b->history, a->n_history * sizeof *a->history));
    free(back.checkpoint.history);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 1) return 0;
    const uint8_t how = *bytes++;
    uint8_t *file = malloc(n--);
    state s;
    taper_error error = {.status = TAPER_OK};
    must(file != NULL);
    if (n) memcpy(file, bytes, n);
    if (how & 2 && n >= FINGERPRINT_AT + 8) formats_set_u64le(file + FINGERPRINT_AT, FINGERPRINT);
    if (how & 1 && n >= 4) formats_set_u32le(file + n - 4, formats_crc32c(0, file, n - 4));
    make_path();
    write_file(file, n);
    expect(&s);
    (void)train_checkpoint_is_there(path);
    (void)train_checkpoint_replaces(path, NULL);
    const taper_status status = train_checkpoint_read(path, &s.checkpoint, &error);
    must(status == error.status && (status == TAPER_OK) == (s.checkpoint.history != NULL));
    must(status == TAPER_OK || error.text[0]);
    for (int i = 0; status == TAPER_OK && i < WEIGHTS; i++) must(isfinite(s.weight[i]));
    if (status == TAPER_OK) write_again(&s);
    free(s.checkpoint.history);
    free(file);
    return 0;
}
