/**
 * Tokens and the values of secrets. No command takes one as an argument: others on the machine read
 * arguments, and shells keep them (AUTH-60).
 */
import type { Command } from "commander";
import { UsageError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";

/** The option that reads it from standard input though there is a terminal. */
export function stdinOption(command: Command): Command {
  return command.option("--stdin", "read it from standard input, also at a terminal");
}

interface Hidden {
  /** What it is called, such as `key`. */
  readonly what: string;
  readonly stdin?: boolean | undefined;
}

/**
 * Reads what must not be seen: from standard input with `--stdin` or where there is no terminal, else
 * from a prompt that does not show it. The newline at its end belongs to the line, not to it.
 *
 * @throws UsageError for an empty one.
 */
export async function readHidden(io: CliIo, { what, stdin = false }: Hidden): Promise<string> {
  const typed = stdin ? undefined : await io.askHidden(`${what} (not shown as you type): `);
  const text = typed ?? (await withNote(io, what)).replace(/\r?\n$/, "");
  if (text.trim() !== "") return text;
  throw new UsageError(
    typed === undefined
      ? `no ${what} came on standard input; send it with < FILE or through a pipe`
      : `no ${what} was entered`,
  );
}

const PATIENCE_MS = 2_000;

/** Says what it waits for where nothing comes, as from a pipe that nobody writes to. */
async function withNote(io: CliIo, what: string): Promise<string> {
  const timer = setTimeout(
    () => io.err.write(`note: waiting for the ${what} on standard input\n`),
    PATIENCE_MS,
  );
  return io.readStdin().finally(() => clearTimeout(timer));
}

/**
 * Refuses a value behind the arguments of a command that has another place for it, without repeating
 * it: what is printed is kept in logs.
 *
 * @param how The places where it may come from.
 */
export function neverAnArgument(command: Command, what: string, how: string): Command {
  return command.allowExcessArguments().hook("preAction", (_, { args, registeredArguments }) => {
    if (args.length <= registeredArguments.length) return;
    throw new UsageError(`a ${what} is never an argument, which others could read: ${how}`);
  });
}
