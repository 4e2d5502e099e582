// kernels.mjs -- runs tests/web/kernels.c: node kernels.mjs MODULE KERNELS. Exits with 1 where one differs, or there
// are not so many.
import { readFileSync } from "node:fs";

const [path, kernels] = process.argv.slice(2);
const { kernels_run, kernels_line } =
    new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)), {}).exports;
try {
    const found = kernels_run();
    console.log(`${found} kernels`);
    process.exitCode = found === Number(kernels) ? 0 : 1;
} catch (error) {
    console.log(`${error.message}: a check of line ${kernels_line()} fails`);
    process.exitCode = 1;
}
