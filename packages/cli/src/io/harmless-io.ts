import { forTerminal } from "../render/harmless.ts";
import type { CliIo, CliStream } from "./cli-io.ts";

/** The world of a command, in which nothing that is printed does harm, wherever it comes from. */
export function harmlessIo(io: CliIo): CliIo {
  return {
    ...io,
    out: harmlessStream(io.out),
    err: harmlessStream(io.err),
    confirm: (question) => io.confirm(forTerminal(question)),
    askHidden: (question) => io.askHidden(forTerminal(question)),
  };
}

function harmlessStream(stream: CliStream): CliStream {
  return {
    write: (text) => stream.write(forTerminal(text)),
    isTTY: stream.isTTY,
    // A terminal changes its width.
    get columns() {
      return stream.columns;
    },
  };
}
