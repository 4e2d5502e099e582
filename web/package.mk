# package.mk -- the package of npm in build/web/package: the modules of JavaScript, both builds of the decoder, the
# models that ship, by their ids. Part of the Makefile. `npm pack build/web/package` makes the archive of it.
WEB_PACKAGE := $(WEB)/package
WEB_FILES   := $(wildcard web/js/*.js web/js/*.ts) web/js/package.json web/js/README.md LICENSE
WEB_VERSION  = $(shell sed -n 's/^\#define TAPER_VERSION *"\(.*\)"/\1/p' formats/taper_types.h)
# the id of a model: bytes 16 to 23, the last of them first
model_id     = $(shell od -An -v -tx1 -j16 -N8 $(1) | tr ' ' '\n' | sed '/^$$/d;1!G;h;$$!d' | tr -d '\n')

.PHONY: web-package
web-package: $(WEB_PACKAGE)/package.json
ifeq ($(WEB_LACKS),)
all: web-package
$(WEB_PACKAGE)/package.json: $(WEB_FILES) $(WEB_MODULES) models/photo.tpm models/tiny.tpm models/search.tpm web/package.mk
	$(call say,PACKAGE)rm -rf $(@D) && mkdir -p $(@D)/models && \
	cp $(filter-out %.json,$(WEB_FILES)) $(WEB_MODULES) $(@D) && \
	cp models/photo.tpm $(@D)/models/$(call model_id,models/photo.tpm).tpm && \
	cp models/tiny.tpm $(@D)/models/$(call model_id,models/tiny.tpm).tpm && \
	cp models/search.tpm $(@D)/models/$(call model_id,models/search.tpm).tpm && \
	sed 's/"version": ".*"/"version": "$(WEB_VERSION)"/' web/js/package.json >$@
else
$(WEB_PACKAGE)/package.json: web
endif
