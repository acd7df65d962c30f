import type { Command } from "commander";
import { UsageError } from "../io/cli-error.ts";

/** What the two options are for. */
interface Meanings {
  readonly on: string;
  readonly off: string;
}

/**
 * Adds `--mcp` and `--no-mcp`. Commander alone would take the last of both for what is meant.
 *
 * @returns What was typed; undefined for neither. It throws UsageError for both.
 */
export function mcpSwitch(command: Command, { on, off }: Meanings): () => boolean | undefined {
  const typed = new Set<boolean>();
  command
    .option("--mcp", on)
    .option("--no-mcp", off)
    .on("option:mcp", () => void typed.add(true))
    .on("option:no-mcp", () => void typed.add(false));
  return () => {
    if (typed.size > 1) throw new UsageError("say --mcp or --no-mcp, not both");
    return typed.values().next().value;
  };
}
