/* setjmp.h -- none: the C library of WebAssembly has no such header, and cmocka.h here needs none.
 * */
