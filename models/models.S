/* models.S -- the models that ship, as they are on disk, in the program's read-only data. */
    .section .rodata
    .global models_photo, models_photo_end, models_tiny, models_tiny_end
    .balign 16
models_photo:
    .incbin "models/photo.tpm"
models_photo_end:
    .balign 16
models_tiny:
    .incbin "models/tiny.tpm"
models_tiny_end:
    .section .note.GNU-stack, "", %progbits
