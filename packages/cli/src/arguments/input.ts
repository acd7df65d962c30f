import type { Json } from "@engine/contract";
import type { CliIo } from "../io/cli-io.ts";
import { readTextFile } from "../io/text-file.ts";

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
  return withoutLastNewline(readTextFile(io, argument.slice(1), `INPUT ${argument}`));
}

/** `echo World | …` means World: the newline belongs to the line, not to the input. */
function withoutLastNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}
