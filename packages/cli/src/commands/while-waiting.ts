import type { CliIo } from "../io/cli-io.ts";

const PATIENCE_MS = 2_000;

/** Tells the user at the terminal what a command is waiting for, when the answer takes time. */
export async function whileWaiting<T>(
  io: CliIo,
  answer: Promise<T>,
  { seeIt, afterMs = PATIENCE_MS }: { readonly seeIt: string; readonly afterMs?: number },
): Promise<T> {
  if (!io.err.isTTY) return answer;
  const timer = setTimeout(() => {
    io.err.write(
      `note: waiting for it to end or pause; after Ctrl-C it goes on, see it with: ${seeIt}\n`,
    );
  }, afterMs);
  return answer.finally(() => clearTimeout(timer));
}
