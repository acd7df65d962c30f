import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { UsageError } from "./cli-error.ts";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: { write(text: string): unknown };
}

/** Lines of one paste arrive together; what a person types next takes longer. */
const SAME_PASTE_MS = 50;

/**
 * Asks for a line that the terminal does not show. Ctrl-C and Ctrl-D answer the empty text.
 *
 * @throws UsageError for several lines that were pasted: all but the first would be lost.
 */
export async function hiddenLine({ input, output }: Terminal, question: string): Promise<string> {
  // Readline edits the line, and prints what it edits into nowhere.
  const nowhere = new Writable({ write: (_text, _encoding, done) => done() });
  const terminal = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  // Only now: before, the terminal itself would have shown what is typed at once.
  output.write(question);
  const typed: string[] = [];
  await new Promise<void>((resolve) => {
    terminal.once("close", resolve);
    terminal.on("line", (line) => {
      typed.push(line);
      if (typed.length === 1) setTimeout(() => terminal.close(), SAME_PASTE_MS);
    });
  });
  output.write("\n");
  const [first = "", ...others] = [...typed, terminal.line];
  if (typed.length > 0 && others.some((line) => line.trim() !== "")) {
    throw new UsageError(
      "only one line can be entered here, and several came: nothing was taken; send them from a file",
    );
  }
  return typed.length > 0 ? first : "";
}
