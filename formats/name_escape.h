/* name_escape.h -- names of files as text: the bytes that lists and CSV cannot hold are escaped. */
#ifndef FORMATS_NAME_ESCAPE_H
#define FORMATS_NAME_ESCAPE_H

/* A copy of a name of a file in which control characters, DEL and the backslash are "\xNN", with
 * digits of lower case: as containers and indexes hold it, and as lists, CSV and JSON print it.
 * malloc'd, the caller's; NULL without memory. */
char *formats_name_escape(const char *name);

/* The other way round; a backslash that begins no such escape stays. malloc'd likewise. */
char *formats_name_unescape(const char *text);

/* Does such an escape stand at text, which begins with a backslash? Then the byte, else 0. */
int formats_name_escaped(const char *text);

#endif
