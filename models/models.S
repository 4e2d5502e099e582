/* models.S -- the models that ship, as they are on disk, in the library's read-only data. Hidden:
 * taper_model_builtin is the way to them. */
    .section .rodata
    .global models_photo, models_photo_end, models_tiny, models_tiny_end, models_search, models_search_end
    .hidden models_photo
    .hidden models_photo_end
    .hidden models_tiny
    .hidden models_tiny_end
    .hidden models_search
    .hidden models_search_end
    .balign 16
models_photo:
    .incbin "models/photo.tpm"
models_photo_end:
    .balign 16
models_tiny:
    .incbin "models/tiny.tpm"
models_tiny_end:
    .balign 16
models_search:
    .incbin "models/search.tpm"
models_search_end:
    .section .note.GNU-stack, "", %progbits
