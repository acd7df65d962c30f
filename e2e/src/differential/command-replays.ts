import type { CliResult } from "../harness/cli-process.ts";
import type { EngineAccess } from "../harness/engine-access.ts";
import type { ReplaySeen } from "./evidence.ts";

/** What `engine workflow replay` says of an execution, or of itself. */
export interface CommandReplay {
  /** Null: the command came to no end. */
  readonly execution_id: string | null;
  readonly result: ReplaySeen["result"];
  readonly reason: string;
}

interface Printed {
  readonly execution_id: string;
  readonly result: ReplaySeen["result"];
  readonly failure?: { readonly message: string };
  readonly reason?: string;
}

/** Replays the newest executions of a workflow as a user would, with the code of a file. */
export async function commandReplays(
  engine: EngineAccess,
  workflow: string,
  { file, limit }: { readonly file: string; readonly limit: number },
): Promise<readonly CommandReplay[]> {
  const args = ["--file", file, "--limit", `${limit}`, "--format", "json"];
  return printedReplays(await engine.cli("workflow", "replay", workflow, ...args));
}

export function printedReplays({ code, stdout, stderr }: CliResult): readonly CommandReplay[] {
  let printed: readonly Printed[];
  try {
    printed = JSON.parse(stdout) as readonly Printed[];
  } catch {
    const reason = `engine workflow replay ended with ${code}: ${stderr.slice(0, 1_000)}`;
    return [{ execution_id: null, result: "crashed", reason }];
  }
  return printed.map(({ execution_id, result, failure, reason }) => ({
    execution_id,
    result,
    reason: failure?.message ?? reason ?? "",
  }));
}
