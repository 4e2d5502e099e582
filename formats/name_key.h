/* name_key.h -- names of files as they are compared: one key, however the same name is written. */
#ifndef FORMATS_NAME_KEY_H
#define FORMATS_NAME_KEY_H

/* Two names have equal keys when they differ by Unicode's normal form (NFC, NFD) alone, or by parts
 * of a path that say nothing ("./a.png", "flat//a.png", and the "/" at the front). Letters with
 * marks are taken apart, and marks are put in order: all that Unicode takes apart below U+3100
 * (Latin, Greek, Cyrillic, Indic scripts, kana), and Hangul; not ideographs for compatibility.
 * Bytes that are not UTF-8 stay. malloc'd, the caller's; NULL without memory. */
char *formats_name_key(const char *name);

/* The name in its own normal form, without the parts that say nothing: names of one key that differ
 * in this are files of their own. Has as many parts as the key. malloc'd likewise. */
char *formats_name_plain(const char *name);

/* Two names that look alike, for people: of each the bytes around the first difference, "\xNN" for
 * those that are not printable ASCII, and "..." before them where the part of the path begins
 * earlier. */
enum { FORMATS_NAME_SHOWN = 48 };
void formats_names_show(const char *a, const char *b, char shown[2][FORMATS_NAME_SHOWN]);

#endif
