/* page_parts.S -- the style sheet and the script of pages, as they are on disk, in read-only data. */
    .section .rodata
    .global cli_page_css, cli_page_js
    .hidden cli_page_css
    .hidden cli_page_js
cli_page_css:
    .incbin "cli/common/page.css"
    .byte 0
cli_page_js:
    .incbin "cli/common/page.js"
    .byte 0
    .section .note.GNU-stack, "", %progbits
