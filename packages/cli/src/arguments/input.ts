import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Json } from "@engine/contract";
import { UsageError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";

export const INPUT_HELP =
  "JSON if it parses as JSON, else text; @FILE reads a file, - standard input (default: null)";

/**
 * Reads an INPUT argument (EXE-95). Undefined when it was left out. Text that looks like JSON but
 * is none stays text, with a note on stderr: the quoting of a shell is easy to get wrong.
 */
export async function readInput(argument: string | undefined, io: CliIo): Promise<unknown> {
  if (argument === undefined) return undefined;
  const text = await inputText(argument, io);
  if (text === "" && argument !== "") {
    const what = argument === "-" ? "standard input" : argument;
    io.err.write(`note: ${what} is empty, so INPUT is the empty text\n`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    if (/^\s*[[{"]/.test(text)) {
      io.err.write(`note: INPUT is sent as text, because it is not JSON: ${String(error)}\n`);
    }
    return text;
  }
}

/** The same as the body of a request: an INPUT that was left out is null (EXE-95). */
export async function readBody(argument: string | undefined, io: CliIo): Promise<Json> {
  // What is not undefined was parsed as JSON, or is text.
  return ((await readInput(argument, io)) ?? null) as Json;
}

async function inputText(argument: string, io: CliIo): Promise<string> {
  if (argument === "-") return withoutLastNewline(await io.readStdin());
  if (!argument.startsWith("@")) return argument;
  const path = resolve(io.cwd, argument.slice(1));
  try {
    return withoutLastNewline(readFileSync(path, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`INPUT ${argument}: the file cannot be read (${code ?? String(error)})`);
  }
}

/** `echo World | …` means World: the newline belongs to the line, not to the input. */
function withoutLastNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}
