import { History } from "@engine/contract";
import { UsageError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { readTextFile } from "../io/text-file.ts";

/** Reads a file that `engine execution export` wrote. */
export function readHistoryFile(io: CliIo, file: string): History {
  const parsed = History.safeParse(jsonOf(io, file));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.length ? `${issue.path.join(".")}: ` : "";
  throw new UsageError(
    `--history ${file} is no history of an execution (${where}${issue?.message}); write one with: npx engine execution export <id> --out ${file}`,
  );
}

function jsonOf(io: CliIo, file: string): unknown {
  const text = readTextFile(io, file, `--history ${file}`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--history ${file} is no JSON: ${String(error)}`);
  }
}
