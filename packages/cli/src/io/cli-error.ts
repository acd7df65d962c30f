import { EngineError } from "@engine/contract";
import type { CliIo } from "./cli-io.ts";

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command has said on stderr what went wrong: nothing more to print, exit code 1. */
export class Reported extends Error {
  override readonly name = "Reported";
}

/** Says what went wrong; further lines are indented, so that none of them passes for one of ours. */
export function reportError(io: CliIo, text: string): void {
  const [first = "", ...rest] = text.split(/\r?\n/);
  const below = rest.map((line) => (/^\s/.test(line) ? line : `  ${line}`));
  io.err.write(`${[`error: ${first}`, ...below].join("\n")}\n`);
}

/** What to print after `error: `. One line per problem, never a stack. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof EngineError)) return error.message || error.name;
  const issues = error.details?.["issues"];
  // A message that lists its issues itself, as for a wrong configuration, is complete.
  if (!Array.isArray(issues) || issues.length < 2 || error.message.includes("\n")) {
    return [asTyped(error.message), ...adviceIn(error)].join("\n  ");
  }
  // The message tells the first issue and how many more there are: all of them follow.
  const [first, ...others] = issues.map(issueLine);
  const head = error.message.replace(/ \(and \d+ more\)$/, "");
  const below = head === first ? others : [first, ...others];
  return [head, ...below].map((line) => asTyped(String(line))).join("\n  ");
}

/** What helps, as far as the message does not say it: a hint, and the permissions that are missing (HOOK-53). */
function adviceIn({ message, details }: EngineError): readonly string[] {
  const { hint, missing_permissions: missing = [] } = details ?? {};
  const permissions = Array.isArray(missing) ? missing.map(String) : [];
  const isTold = permissions.every((permission) => message.includes(permission));
  return [
    ...(typeof hint === "string" && !message.includes(hint) ? [hint] : []),
    ...(isTold ? [] : [`missing: ${permissions.join(", ")}`]),
  ];
}

function issueLine(issue: unknown): string {
  const { path, message } = issue as { path?: unknown; message?: unknown };
  return `${String(path)}: ${String(message)}`;
}

/** Names what is wrong as the command line does: INPUT and options, of which the server knows none. */
function asTyped(message: string): string {
  return message
    .replace(/^(?:query|body\.spec)\.(\w+)/, (_, name: string) => `--${option(name)}`)
    .replace(/^(?:body|params)\./, "")
    .replace(/^body(?=[:[])/, "INPUT")
    .replace("send unmasked: true", "pass --unmasked")
    .replace(
      /\bpass (?:(force)=true|(issuer)\b)/,
      (_, force, issuer) => `pass --${force ?? issuer}`,
    );
}

/** What differs from the field's own name. */
const OPTIONS: Readonly<Record<string, string>> = { expression: "cron", every_seconds: "every" };

function option(field: string): string {
  return OPTIONS[field] ?? field.replaceAll("_", "-");
}
