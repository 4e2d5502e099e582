/* make_samples.c -- writes the generated image sets that the demo and the tests run on; nothing is
 * downloaded. The same seed gives the same pixels on every machine. */
#include "samples/sets.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: make_samples small  OUT_DIR [--count 6000] [--seed 1] [--format png|idx|cifar|all]\n"
    "       make_samples scenes OUT_DIR [--count 48] [--seed 1]\n\n"
    "small:  labelled 32 x 32 colour images in ten classes, written as "
    "OUT_DIR/png/CLASS/0001.png,\n"
    "        OUT_DIR/idx/{images,labels}.idx[.gz] and OUT_DIR/cifar/{train,test}.bin\n"
    "scenes: larger pictures, OUT_DIR/01-leaves.png and so on; two grey ones and one of 16 bits "
    "among them\n";

typedef struct request {
    int scenes;
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
    q->scenes = !strcmp(argv[1], "scenes");
    if (!q->scenes && strcmp(argv[1], "small") != 0) return 0;
    q->folder = argv[2];
    q->seed = 1;
    q->count = q->scenes ? 48 : 6000;
    q->formats = SAMPLES_PNG | SAMPLES_IDX | SAMPLES_CIFAR;
    for (int i = 3; i < argc; i += 2) {
        uint64_t value = 0;
        if (i + 1 == argc) return 0;
        if (!strcmp(argv[i], "--count") && parse_number(argv[i + 1], 1000000, &value) && value > 0)
            q->count = (uint32_t)value;
        else if (!strcmp(argv[i], "--seed") && parse_number(argv[i + 1], UINT64_MAX, &value))
            q->seed = value;
        else if (q->scenes || strcmp(argv[i], "--format") != 0 ||
                 !parse_format(argv[i + 1], &q->formats))
            return 0;
    }
    return 1;
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
    taper_status status = q.scenes
                              ? samples_write_scenes(q.folder, q.seed, q.count, &error)
                              : samples_write_small(q.folder, q.formats, q.seed, q.count, &error);
    if (status == TAPER_OK) return 0;
    fprintf(stderr, "make_samples: %s: %s\n", q.folder, error.text);
    return 5;
}
