# page.mk -- the files of pages (`taper page`): the scripts of web/js and web/viewer as one file each. Part of the
# Makefile, after web.mk. WEB_LACKS: what is missing for WebAssembly; pages then cannot be written.
VIEWER_JS := $(patsubst %,web/js/%.js,errors engine decoder client ranges http source model picture planner pool wasm codes set taper) \
             $(patsubst %,web/viewer/%.js,dom line grid jpeg panes gallery large pictures viewer)
WORKER_JS := $(patsubst %,web/js/%.js,errors engine decoder taper-worker)
$(WEB)/viewer.js: $(VIEWER_JS) web/bundle.awk web/page.mk
	@mkdir -p $(@D)
	@awk -f web/bundle.awk $(VIEWER_JS) >$@
$(WEB)/taper-worker.js: $(WORKER_JS) web/bundle.awk web/page.mk
	@mkdir -p $(@D)
	@awk -f web/bundle.awk $(WORKER_JS) >$@
$(WEB)/%.gz: $(WEB)/%
	@gzip -9nc $< >$@
VIEWER_PARTS := web/viewer/index.html web/viewer/viewer.css $(WEB)/viewer.js $(WEB)/viewer.js.gz $(WEB)/taper-worker.js \
                $(if $(WEB_LACKS),,$(WEB)/taper.wasm $(WEB)/taper.wasm.gz $(WEB)/taper-plain.wasm)
$(B)/cli/viewer/viewer_parts.o: cli/viewer/viewer_parts.S $(VIEWER_PARTS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(if $(WEB_LACKS),-DTAPER_NO_WASM) -c -o $@ $<
