import type { Readable } from "node:stream";

/** A longer line comes in pieces, so that output without an end of line is not gathered for ever. */
const LONGEST_LINE = 16_384;

/** Reads what a process prints, line by line. */
export function readLines(from: Readable, onLine: (line: string) => void): void {
  let rest = "";
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    for (; rest.length > LONGEST_LINE; rest = rest.slice(LONGEST_LINE)) {
      onLine(rest.slice(0, LONGEST_LINE));
    }
  });
  from.on("close", () => {
    if (rest !== "") onLine(rest);
  });
}
