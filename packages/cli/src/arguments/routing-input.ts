/** `-r key=value` of the commands that start executions (RIN-1). */
import { ROUTING_INPUT_HEADER, routingHeaderText } from "@engine/contract";
import { UsageError } from "../io/cli-error.ts";

/** Collects `-r key=value`: split at the first `=`; a value is text, and may be empty. */
export function routingInput(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  const key = text.slice(0, Math.max(at, 0));
  if (key === "" || key.includes(".")) {
    // Commander would repeat what came, and a value is shown nowhere.
    throw new UsageError("--routing-input takes KEY=VALUE, the key not empty and without '.'");
  }
  return { ...before, [key]: text.slice(at + 1) };
}

/** The header of a route that starts an execution; none where no option was given. */
export function routingHeaders(given: Readonly<Record<string, string>> | undefined): {
  readonly [ROUTING_INPUT_HEADER]?: string;
} {
  return given ? { [ROUTING_INPUT_HEADER]: routingHeaderText(given) } : {};
}

export const ROUTING_OPTION: readonly [flags: string, description: string] = [
  "-r, --routing-input <key=value>",
  "value to choose a worker by, never shown; may be repeated",
];
