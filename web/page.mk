# page.mk -- the files of pages (`taper page`): the scripts of web/js and web/viewer as one file each. Part of the
# Makefile, after web.mk. WEB_LACKS: what is missing for WebAssembly; pages then cannot be written.
VIEWER_JS := $(patsubst %,web/js/%.js,errors engine decoder) $(WEB)/worker_main.js \
             $(patsubst %,web/js/%.js,client ranges http source model picture planner pool wasm codes set taper) \
             $(patsubst %,web/viewer/%.js,dom line grid gallery pictures viewer)
MORE_JS   := $(patsubst %,web/viewer/%.js,dom jpeg panes large more)
WORKER_JS := $(patsubst %,web/js/%.js,errors engine decoder taper-worker)
$(WEB)/viewer.js: $(VIEWER_JS) web/bundle.awk web/page.mk
	@mkdir -p $(@D)
	@awk -f web/bundle.awk $(VIEWER_JS) >$@
$(WEB)/viewer-more.js: $(MORE_JS) web/bundle.awk web/page.mk
	@mkdir -p $(@D)
	@awk -f web/bundle.awk $(MORE_JS) >$@
# the worker's script as a function of the viewer, which makes workers of its text: a file less to fetch
$(WEB)/worker_main.js: $(WORKER_JS) web/bundle.awk web/page.mk
	@mkdir -p $(@D)
	@(echo 'export async function worker_main() {' && awk -f web/bundle.awk $(WORKER_JS) && echo '}') >$@
$(WEB)/%.gz: $(WEB)/%
	@gzip -9nc $< >$@
$(WEB)/%.gz: web/viewer/%
	@mkdir -p $(@D)
	@gzip -9nc $< >$@
VIEWER_PARTS := web/viewer/index.html web/viewer/viewer.css $(WEB)/viewer.css.gz $(addprefix $(WEB)/,$(foreach f,viewer.js viewer-more.js,$f $f.gz)) \
                $(if $(WEB_LACKS),,$(WEB)/taper.wasm $(WEB)/taper.wasm.gz $(WEB)/taper-plain.wasm)
$(B)/cli/viewer/viewer_parts.o: cli/viewer/viewer_parts.S $(VIEWER_PARTS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(if $(WEB_LACKS),-DTAPER_NO_WASM) -c -o $@ $<
