/* cli.h -- the verbs of the command line.
 *
 * A verb is a file cmd_NAME.c that defines `int cmd_NAME(int argc, char **argv)` and
 * `const cli_verb cli_verb_NAME` (see common/options.h), and an entry in the table of main.c.
 * Larger verbs have a directory: train/, compare/, search/ (`embed`, `classify`), index/ (`index`,
 * `search`), viewer/ (`page`).
 *
 * Rules for all verbs: data goes to standard output, messages to standard error
 * (common/messages.h); progress is shown on a terminal only (common/progress.h); outputs appear
 * whole or not at all (formats/atomic_file.h; common/signals.h for ^C); existing files are not
 * replaced without -f.
 *
 * Directory cli/: the command line.
 *   main cli            the table of verbs
 *   cmd_train cmd_train_bits cmd_train_labels cmd_encode cmd_truncate cmd_decode cmd_info
 *   cmd_verify cmd_repack cmd_merge cmd_sheet cmd_compare cmd_embed cmd_classify cmd_index
 *   cmd_search cmd_ls cmd_extract cmd_add cmd_remove cmd_rename cmd_fetch cmd_page
 *   cmd_serve
 *                       one verb each; the name has a dash for an underscore
 *   training            what the three verbs for training have in common
 *   manual completion   manual pages and shell completions, from the tables of the verbs
 *   version             the version of this build
 *   device              the devices of --device
 *
 *   chosen_images       the images of a container that words select
 *   changing            a container that is changed, into its place or another file
 *   shard               --shard and --resume: which images, and whether they are done
 *   file_pool           many files, of which few are open
 *   index_shard         these for `index`, also of containers
 *   joined_shards       the shards of a set that `merge` and `index` join
 *   image_lines         the lines of `ls`
 *   decode_verb         `decode` for `extract`; encode_verb: `encode` for `add`
 *   decoding            plans which images `decode` writes into which files
 *   picture_plan        that plan
 *   picture_files       writes the files of a plan below one folder
 *   picture_names       names these files
 *   decode_images       decodes the images of a plan; decode_one_file: into one file
 *   decode_progressive  rewrites files while bytes arrive
 *   decode_levels       prints levels as text
 *   idx_labels          the file of labels for an IDX file of images
 *   model_report        what `info` prints of a model
 *   reach               images that a cut of layout `image` contains
 *
 *   prefetch            requests what images of a URL need
 *   fetch_size          how much `fetch` is to fetch; fetch_file: into a file, which goes on
 *   planned             a few images of very many behind a URL
 *   sheet               draws a contact sheet
 *   equal_images        finds equal images for `encode --dedup`
 *   encode_run          the options and the state of a run of `encode`
 *   encode_images       gives the images to the encoder
 *   encode_quality      where the images of `encode` end
 *   encode_cut          writes a container with a limit
 *   encode_report       what `encode` tells about the result
 *   psnr_cut            the smallest cut that reaches a PSNR
 *   truncate_psnr       `truncate --psnr`
 *   picture_metadata    metadata and times for the files of decode
 *   name_case           names that differ by case only */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "cli/common/options.h"

/* The verbs: argv[0] is the verb's name, argv[argc] is NULL. Each returns its exit code. */
int cmd_train(int argc, char **argv);
int cmd_train_bits(int argc, char **argv);
int cmd_train_labels(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_truncate(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_repack(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_sheet(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_embed(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_extract(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_rename(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_page(int argc, char **argv);

extern const cli_verb cli_verb_train, cli_verb_train_bits, cli_verb_train_labels, cli_verb_encode,
    cli_verb_truncate, cli_verb_decode, cli_verb_info, cli_verb_verify, cli_verb_repack,
    cli_verb_merge, cli_verb_sheet, cli_verb_compare, cli_verb_embed, cli_verb_classify,
    cli_verb_index, cli_verb_search, cli_verb_ls, cli_verb_extract, cli_verb_add, cli_verb_remove,
    cli_verb_rename, cli_verb_fetch, cli_verb_page, cli_verb_serve;

#endif
