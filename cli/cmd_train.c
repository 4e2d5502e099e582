/* cmd_train.c -- `taper train`: trains a model on images. */
#include "cli/cli.h"
#include "cli/train/pictures.h"
#include "cli/training.h"
#include <string.h>

const cli_verb cli_verb_train = {
    .name = "train",
    .run = cmd_train,
    .what = "train a model on images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = cli_pictures_table,
    .uses = cli_pictures_uses,
    .relatives = cli_training_verbs,
    .about =
        "Learns to code images like the given ones, with the most important numbers first. One "
        "image in sixteen is held out; the settings are chosen by these.\n\n"
        "Family pca is linear and takes a minute or a few. Family conv is pca with a "
        "convolutional network that restores decoded images; it takes some minutes more and "
        "makes files a few percent smaller at equal quality. Family dense trains an autoencoder "
        "by nested dropout, starting from pca, and keeps it only if it is better.\n\n"
        "--conditional and --head add small networks that predict bits and refine decoded "
        "images. They take minutes of training and make smaller files of higher quality.\n\n"
        "--from photo adapts the built-in model for photographs to your images, in minutes.\n\n"
        "At the end, the model is compared with the built-in ones on held-out images: which needs "
        "fewer bytes at equal PSNR. --quick skips this.\n\n"
        "--preset fast is pca. best is dense with both networks; it uses pca instead if that is "
        "better.\n\n"
        "`taper train-bits` makes codes of whole units, such as bits for an index; `taper "
        "train-labels` makes codes that tell classes apart.",
    .examples = "taper train -o cats.tpm cats/    # a folder of PNG files\n"
                "taper train -o digits.tpm --family dense --window whole -k 64 "
                "train-images-idx3-ubyte.gz\n"};

static taper_status check(cli_train_run *run, taper_error *error) {
    return cli_pictures_check((cli_pictures *)run, error);
}

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    return cli_pictures_uses_of((const cli_pictures *)run, from);
}

static int make(cli_training *t) {
    const cli_pictures *s = (const cli_pictures *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    const train_options o = cli_pictures_options(s, hidden);
    return cli_training_model(t, &o, !s->quick);
}

/* --- spellings of the time when `taper train` was one verb ------------------------------- */

/* True if the words have this option, with this value (NULL: any). take: they are removed. */
static bool has(char **words, const char *option, const char *value, bool take) {
    const size_t n = strlen(option);
    for (; *words && strcmp(*words, "--") != 0; words++) {
        if (strncmp(*words, option, n) != 0 || !strchr("=", words[0][n])) continue;
        const bool joined = words[0][n] == '=';
        const char *found = joined ? *words + n + 1 : words[1];
        if (!found || (value && strcmp(found, value) != 0)) continue;
        char **rest = words + (joined ? 1 : 2);
        while (take && (*words++ = *rest++)) continue;
        return true;
    }
    return false;
}

/* The verb that these words now belong to; or NULL. *option: by which. Options that the verb does
 * not need are removed from the words. */
static const cli_verb *verb_of(char **words, const char **option) {
    has(words, "--objective", "none", true);
    has(words, "--code", "planes", true);
    *option = "--preset labels";
    if (has(words, "--preset", "labels", true)) return &cli_verb_train_labels;
    *option = "--objective";
    if (has(words, *option, NULL, false)) return &cli_verb_train_labels;
    *option = "--preset paper";
    const bool is_paper = has(words, "--preset", "paper", false);
    if (!is_paper && !has(words, *option = "--code", NULL, false)) return NULL;
    has(words, "--family", "dense", true);
    return &cli_verb_train_bits;
}

int cmd_train(int argc, char **argv) {
    cli_pictures s = {0};
    const char *option;
    const cli_verb *now = verb_of(argv + 1, &option);
    int first;
    for (argc = 0; argv[argc];) argc++;
    if (now) {
        cli_warning("train", NULL,
                    "`taper train %s` is now `taper %s`; the old spelling works until 2.0", option,
                    now->name);
        return now->run(argc, argv);
    }
    int stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
    if (stop < 0 && s.preset && !s.from) { /* parse again, with the options of the preset */
        const char *const *words = cli_pictures_presets[s.preset];
        s = (cli_pictures){0};
        stop = cli_options_parse_over(&cli_verb_train, words, argc, argv, &s, &first);
    }
    cli_training t = {.verb = &cli_verb_train,
                      .run = &s.run,
                      .from = s.from,
                      .check = check,
                      .uses = uses_of,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
