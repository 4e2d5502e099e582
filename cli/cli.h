/* cli.h -- the verbs of the command line.
 *
 * A verb is one file, cmd_NAME.c, that defines `int cmd_NAME(int argc, char **argv)` and
 * `const cli_verb cli_verb_NAME` (see common/options.h), and one line in the table of main.c. What
 * is large of it has a room: train/, compare/, search/ of `embed` and `classify`, and
 * index/ of `index` and `search`.
 *
 * Manners that hold for all of them: data on standard output, words on standard error
 * (common/messages.h); progress on a terminal only (common/progress.h); outputs appear whole or not
 * at all (formats/atomic_file.h, and common/signals.h for ^C); no overwriting without -f.
 *
 * The room cli/: the command line.
 *   main cli               the table of verbs; cmd_train cmd_encode cmd_truncate cmd_decode
 *                          cmd_info cmd_verify cmd_repack cmd_merge cmd_compare cmd_embed
 *                          cmd_classify cmd_index cmd_search: one verb each
 *   manual completion      the documents made from the verbs' tables; version: what this build is
 *   picture_plan           what is decoded into what: decoding makes the plan, picture_files
 *                          carries it out below one folder, picture_names names them;
 *                          name_case: names that differ by case
 *   labels_beside          the file of labels beside one of images
 *   shard_names            names that joining containers changes
 *   decode_progressive     refining files as bytes arrive; decode_levels: levels as text; reach:
 *                          which images a cut of layout `image` holds
 *   psnr_cut               the smallest cut that reaches a quality; truncate_psnr: what `truncate`
 *                          compares with
 *   device                 what --device names */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "cli/common/options.h"

/* The verbs: argv[0] is the verb's name, argv[argc] is NULL. Each returns its exit code. */
int cmd_train(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_truncate(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_repack(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_classify(int argc, char **argv);

extern const cli_verb cli_verb_train, cli_verb_encode, cli_verb_truncate, cli_verb_decode,
    cli_verb_info, cli_verb_verify, cli_verb_repack, cli_verb_merge, cli_verb_compare,
    cli_verb_embed, cli_verb_classify, cli_verb_index, cli_verb_search;

#endif
