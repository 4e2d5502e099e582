/* url.h -- URLs, and how messages show them: remote_is_url and remote_url_shown of remote.h. */
#ifndef REMOTE_URL_H
#define REMOTE_URL_H

/* Nonzero if the URL has a user name or password. */
int remote_url_has_credentials(const char *url);
/* Nonzero if no byte of it is a control character or a blank. */
int remote_url_is_clean(const char *url);

#endif
