/* cmd_train_bits.c -- `taper train-bits`: trains a code of whole units on images. */
#include "cli/cli.h"
#include "cli/train/bits.h"
#include "cli/training.h"

const cli_verb cli_verb_train_bits = {
    .name = "train-bits",
    .run = cmd_train_bits,
    .what = "train a code of whole units, such as bits for an index",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = cli_bits_table,
    .uses = cli_bits_uses,
    .relatives = cli_training_verbs,
    .about =
        "Learns codes of which a cut keeps the first units: single bits, or real numbers with "
        "--code units. It is the autoencoder of the nested-dropout paper. A binary model makes "
        "indexes (`taper index`) and codes in containers (`taper encode --embed-with`).\n\n"
        "Use --independent --untied -w whole for search, and truncation log-uniform:0.5 for good "
        "short codes.\n\n"
        "--class-units 32 also trains the first 32 bits on labels: images of one class then share "
        "most of them. The later bits describe the image.\n\n"
        "The options of the group paper are for the experiments of that paper, which --preset "
        "paper repeats. The defaults train better models.",
    .examples = "taper train-bits -o bits.tpm -w whole -k 256 --independent --untied photos/\n"
                "taper train-bits -o paper.tpm --preset paper -w whole -k 1024 "
                "data_batch_*.bin\n"};

static taper_status check(cli_train_run *run, taper_error *error) {
    return cli_bits_check((cli_bits *)run, error);
}

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    (void)from;
    return cli_bits_uses_of((const cli_bits *)run);
}

static int make(cli_training *t) {
    const cli_bits *s = (const cli_bits *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_options o;
    taper_error error = {0};
    if (s->sweep && s->run.hidden.count)
        cli_note(&s->run.common, t->verb->name,
                 "with --hidden the layers below frozen units continue to change, and short codes "
                 "get worse; --truncation log-uniform:0.5 without --sweep trains all lengths");
    const taper_status status = cli_bits_options(s, hidden, &o, &error);
    if (status != TAPER_OK) return cli_fail(t->verb->name, "--regularise", status, &error);
    return cli_training_model(t, &o, false);
}

int cmd_train_bits(int argc, char **argv) {
    cli_bits s = {0};
    int first, stop = cli_options_parse(&cli_verb_train_bits, argc, argv, &s, &first);
    if (stop < 0 && s.preset) { /* parse again, with the options of the preset */
        const char *const *words = cli_bits_presets[s.preset];
        s = (cli_bits){0};
        stop = cli_options_parse_over(&cli_verb_train_bits, words, argc, argv, &s, &first);
    }
    cli_training t = {.verb = &cli_verb_train_bits,
                      .run = &s.run,
                      .from_labels = s.class_units > 0,
                      .from_neighbours = s.class_units > 0,
                      .check = check,
                      .uses = uses_of,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
