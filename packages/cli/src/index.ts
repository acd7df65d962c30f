// What the docs and tests use of the command line. The `engine` command itself is `bin/engine.js`.
export type { CliIo, CliStream } from "./io/cli-io.ts";
export { createProgram } from "./program.ts";
export { runCli } from "./run-cli.ts";
