/* map_page.S -- the page of map.c, as it is on disk, in read-only data. */
    .section .rodata
    .global cli_map_page, cli_map_page_end
    .hidden cli_map_page
    .hidden cli_map_page_end
cli_map_page:
    .incbin "cli/search/map.html"
cli_map_page_end:
    .byte 0
    .section .note.GNU-stack, "", %progbits
