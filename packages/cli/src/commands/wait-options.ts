import { RunMode } from "@engine/contract";
import { type Command, Option } from "commander";
import { seconds } from "../arguments/option-values.ts";
import type { ServerOptions } from "../server-call.ts";

/** Options of the commands whose answer may wait for an execution. */
export interface WaitOptions extends ServerOptions {
  readonly mode: RunMode;
  readonly timeout?: number;
  readonly detailed?: boolean;
}

export function modeOption(initial: RunMode): Option {
  return new Option("--mode <mode>", "how to wait").choices(RunMode.options).default(initial);
}

export function waitOptions(command: Command): Command {
  return command
    .option("--timeout <seconds>", "longest wait of --mode sync", seconds)
    .option("--detailed", "add the log to the answer");
}

export function waitQuery({ timeout, detailed }: WaitOptions): {
  readonly timeout?: number;
  readonly detailed?: "true";
} {
  return {
    ...(timeout !== undefined && { timeout }),
    ...(detailed && { detailed: "true" as const }),
  };
}
