/* viewer_parts.S -- the files of the viewer, as they are built, in read-only data. With TAPER_NO_WASM, of a build
   without a compiler for WebAssembly, the decoder is empty. */
    .section .rodata
    .macro part name, file
    .global cli_viewer_\name
    .global cli_viewer_\name\()_end
    .hidden cli_viewer_\name
    .hidden cli_viewer_\name\()_end
cli_viewer_\name:
    .ifnc \file,none
    .incbin "\file"
    .endif
cli_viewer_\name\()_end:
    .byte 0
    .endm

    part html, "web/viewer/index.html"
    part css, "web/viewer/viewer.css"
    part css_gz, "build/web/viewer.css.gz"
    part script, "build/web/viewer.js"
    part script_gz, "build/web/viewer.js.gz"
    part more, "build/web/viewer-more.js"
    part more_gz, "build/web/viewer-more.js.gz"
#ifdef TAPER_NO_WASM
    part wasm, none
    part wasm_gz, none
    part plain, none
#else
    part wasm, "build/web/taper.wasm"
    part wasm_gz, "build/web/taper.wasm.gz"
    part plain, "build/web/taper-plain.wasm"
#endif
    .section .note.GNU-stack, "", %progbits
