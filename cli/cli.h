/* cli.h -- the verbs of the command line.
 *
 * A verb is a file cmd_NAME.c that defines `int cmd_NAME(int argc, char **argv)` and
 * `const cli_verb cli_verb_NAME` (see common/options.h), and an entry in the table of main.c.
 * Larger verbs have a directory: train/, compare/, search/ (`embed`, `classify`), index/ (`index`,
 * `search`).
 *
 * Rules for all verbs: data goes to standard output, messages to standard error
 * (common/messages.h); progress is shown on a terminal only (common/progress.h); outputs appear
 * whole or not at all (formats/atomic_file.h; common/signals.h for ^C); existing files are not
 * replaced without -f.
 *
 * Directory cli/: the command line.
 *   main cli            the table of verbs
 *   cmd_train cmd_train_bits cmd_train_labels cmd_encode cmd_truncate cmd_decode cmd_info
