/** A terminal for tests of commands. */
import type { CliIo } from "./cli-io.ts";

export interface CapturedIo extends CliIo {
  readonly printed: () => string;
  readonly complained: () => string;
}

interface Parts extends Partial<Omit<CliIo, "out" | "err">> {
  /** A terminal of so many columns, in place of none. */
  readonly columns?: number;
}

/** For tests: a world of a command that keeps what it prints. The clock stands at an instant. */
export function capturedIo({ columns, ...parts }: Parts = {}): CapturedIo {
  const out: string[] = [];
  const err: string[] = [];
  const stream = (texts: string[]) => ({
    write: (text: string) => void texts.push(text),
    isTTY: columns !== undefined,
    columns,
  });
  return {
    env: {},
    cwd: process.cwd(),
    now: () => Date.parse("2026-01-01T12:00:00.000Z"),
    readStdin: async () => "",
    confirm: async () => undefined,
    askHidden: async () => undefined,
    stopSignals: () => ({ first: new Promise(() => {}), second: new Promise(() => {}) }),
    ...parts,
    out: stream(out),
    err: stream(err),
    printed: () => out.join(""),
    complained: () => err.join(""),
  };
}
