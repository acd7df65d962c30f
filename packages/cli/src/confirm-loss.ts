import { Reported, UsageError } from "./io/cli-error.ts";
import type { CliIo } from "./io/cli-io.ts";

interface Loss {
  /** What the command takes away, as a sentence. */
  readonly what: string;
  /** What stays all the same, as a sentence. */
  readonly kept?: string;
  readonly question: string;
  /** What is said where the answer is no. */
  readonly declined?: string;
}

/** Asks before something is lost, and leaves the command unless the answer is yes. */
export async function confirmLoss(
  io: CliIo,
  { what, kept, question, declined = "Nothing was deleted." }: Loss,
): Promise<void> {
  const text = kept === undefined ? what : `${what}\n${kept}`;
  const confirmed = await io.confirm(`${text}\n${question}`);
  if (confirmed === undefined) {
    throw new UsageError(`${what} Add --yes to do so: there is no terminal to ask on`);
  }
  if (confirmed) return;
  io.err.write(`${declined}\n`);
  throw new Reported();
}
