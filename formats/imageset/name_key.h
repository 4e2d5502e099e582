/* name_key.h -- the normal form of file names, for comparison. */
#ifndef FORMATS_NAME_KEY_H
#define FORMATS_NAME_KEY_H

/* The key of a name. Names that differ only in Unicode form (NFC, NFD) have equal keys. So have
 * names that differ only in redundant parts of the path: "./a.png", "flat//a.png", a leading "/".
 * The key is the canonical decomposition (NFD) for characters below U+3100 (Latin, Greek, Cyrillic,
 * Indic scripts, kana) and for Hangul, but not for CJK compatibility ideographs. Bytes that are not
 * UTF-8 are kept. malloc'd, the caller's to free; NULL without memory. */
char *formats_name_key(const char *name);

/* The name without redundant parts, in its own Unicode form. Names with equal keys but different
 * plain forms are different files. Has as many parts as the key. malloc'd likewise. */
char *formats_name_plain(const char *name);

/* For messages about two names that look alike: of each, the bytes around the first difference.
 * Bytes that are not printable ASCII are "\xNN". "..." stands before them if the part of the path
 * begins earlier. */
enum { FORMATS_NAME_SHOWN = 48 };
void formats_names_show(const char *a, const char *b, char shown[2][FORMATS_NAME_SHOWN]);

#endif
