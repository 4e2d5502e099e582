/* make_samples.c -- writes the generated image sets that the demo and the tests run on; nothing is
 * downloaded. The same seed gives the same pixels on every machine. */
#include "samples/sets.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: make_samples small  OUT_DIR [--count 6000] [--seed 1] [--format png|idx|cifar|all]\n"
    "       make_samples letters OUT_DIR [--count 5200] [--seed 1] [--format png|idx]\n"
    "       make_samples scenes OUT_DIR [--count 48] [--seed 1]\n\n"
    "small:  labelled 32 x 32 colour images in ten classes, written as "
    "OUT_DIR/png/CLASS/0001.png,\n"
    "        OUT_DIR/idx/{images,labels}.idx[.gz] and OUT_DIR/cifar/{train,test}.bin\n"
    "letters: grey 20 x 20 images of one capital each, written as OUT_DIR/png/A/0001.png and\n"
    "        OUT_DIR/idx/{images,labels}.idx[.gz]\n"
    "scenes: larger pictures, OUT_DIR/01-leaves.png and so on; two grey ones and one of 16 bits "
    "among them\n";

typedef enum kind { SMALL, LETTERS, SCENES } kind;
static const char *const kinds[] = {"small", "letters", "scenes"};
static const uint32_t usual_count[] = {6000, 5200, 48};

typedef struct request {
    kind kind;
    const char *folder;
    uint64_t seed;
    uint32_t count;
    unsigned formats;
} request;

/* A whole number up to `most`; false when text is anything else. */
static int parse_number(const char *text, uint64_t most, uint64_t *out) {
    if (!*text || text[strspn(text, "0123456789")]) return 0;
    errno = 0;
    unsigned long long value = strtoull(text, NULL, 10);
    if (errno || value > most) return 0;
    *out = value;
    return 1;
}

static int parse_format(const char *text, unsigned *out) {
    static const struct {
        const char *name;
        unsigned formats;
    } known[] = {{"png", SAMPLES_PNG},
                 {"idx", SAMPLES_IDX},
                 {"cifar", SAMPLES_CIFAR},
                 {"all", SAMPLES_PNG | SAMPLES_IDX | SAMPLES_CIFAR}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, text) != 0) continue;
        *out = known[i].formats;
        return 1;
    }
    return 0;
}

static int parse(int argc, char **argv, request *q) {
    if (argc < 3) return 0;
    for (q->kind = SMALL; q->kind <= SCENES; q->kind++)
        if (!strcmp(argv[1], kinds[q->kind])) break;
    if (q->kind > SCENES) return 0;
    q->folder = argv[2];
    q->seed = 1;
    q->count = usual_count[q->kind];
    q->formats = SAMPLES_PNG | SAMPLES_IDX | (q->kind == SMALL ? SAMPLES_CIFAR : 0);
    for (int i = 3; i < argc; i += 2) {
        uint64_t value = 0;
        if (i + 1 == argc) return 0;
        if (!strcmp(argv[i], "--count") && parse_number(argv[i + 1], 1000000, &value) && value > 0)
            q->count = (uint32_t)value;
        else if (!strcmp(argv[i], "--seed") && parse_number(argv[i + 1], UINT64_MAX, &value))
            q->seed = value;
        else if (q->kind == SCENES || strcmp(argv[i], "--format") != 0 ||
                 !parse_format(argv[i + 1], &q->formats))
            return 0;
    }
    return 1;
}

static taper_status write_set(const request *q, taper_error *error) {
    switch (q->kind) {
    case SMALL: return samples_write_small(q->folder, q->formats, q->seed, q->count, error);
    case LETTERS: return samples_write_letters(q->folder, q->formats, q->seed, q->count, error);
    default: return samples_write_scenes(q->folder, q->seed, q->count, error);
    }
}

int main(int argc, char **argv) {
    request q;
    taper_error error = {0};
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return 0;
    }
    if (!parse(argc, argv, &q)) {
        fputs(usage, stderr);
        return 2;
    }
    const taper_status status = write_set(&q, &error);
    if (status == TAPER_OK) return 0;
    fprintf(stderr, "make_samples: %s: %s\n", q.folder, error.text);
    return status == TAPER_ERR_ARG ? 2 : 5;
}
