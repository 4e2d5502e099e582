/* cmd_train_labels.c -- `taper train-labels`: trains an embedding on labelled images. */
#include "cli/cli.h"
#include "cli/train/labels.h"
#include "cli/train/labels_report.h"
#include "cli/training.h"

const cli_verb cli_verb_train_labels = {
    .name = "train-labels",
    .run = cmd_train_labels,
    .what = "train an embedding on labelled images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = cli_labels_table,
    .uses = cli_labels_uses,
    .relatives = cli_training_verbs,
    .about =
        "Makes an embedding model from labelled images. `taper embed` computes its codes, and "
        "`taper classify` labels images by them: images of one class have near codes. With --code "
        "binary the codes are bits, for an index (`taper index`) or a container (`taper encode "
        "--embed-with`).\n\n"
        "Without --objective it tries several embeddings within --minutes, keeps the best, and "
        "prints the error to expect.\n\n"
        "nca, log-nca and mcml train a linear map; the objectives with dg- and dt- (Student's "
        "t-distribution) train a deep network. Use dt-nca with 30 units for search and "
        "classification, and dt-mcml with 2 units for maps. With random starting weights, or for "
        "natural images, dt-log-nca has the lowest error.",
    .examples = "taper train-labels -o classes.tpm folder-of-classes/\n"
                "taper train-labels -o map.tpm --objective dt-mcml -k 2 folder-of-classes/\n"};

static taper_status check(cli_train_run *run, taper_error *error) {
    return cli_labels_check((cli_labels *)run, error);
}

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    (void)from;
    return cli_labels_uses_of((const cli_labels *)run);
}

static int make(cli_training *t) {
    const cli_labels *s = (const cli_labels *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice c;
    train_embedding_report r;
    taper_error error = {0};
    const train_embedding_hooks hooks = cli_labels_hooks(&t->reporter);
    taper_status status = cli_labels_choose(s, hidden, &c, &error);
    if (status == TAPER_OK)
        status = train_embedding_model(&c, &t->data, &t->backend, &t->device.train, &hooks,
                                       &t->file, &r, &error);
    const int code = cli_training_put(t, status, &error);
    if (code != CLI_DONE) return code;
    cli_labels_report(&t->reporter, &c, &r);
    if (s->run.plot) cli_train_draw(&t->reporter, NULL);
    return CLI_DONE;
}

int cmd_train_labels(int argc, char **argv) {
    cli_labels s = {0};
    int first, stop = cli_options_parse(&cli_verb_train_labels, argc, argv, &s, &first);
    cli_training t = {.verb = &cli_verb_train_labels,
                      .run = &s.run,
                      .from_labels = true,
                      .check = check,
                      .uses = uses_of,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
