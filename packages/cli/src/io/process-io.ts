import { createInterface } from "node:readline";
import type { CliIo, CliStream, StopSignals } from "./cli-io.ts";
import { hiddenLine } from "./hidden-line.ts";

/** The world of this process. */
export function processIo(): CliIo {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: streamOf(process.stdout),
    err: streamOf(process.stderr),
    readStdin,
    confirm,
    askHidden,
    now: Date.now,
    stopSignals,
  };
}

function streamOf(stream: NodeJS.WriteStream): CliStream {
  // `engine … | head`: the reader has enough, which is no failure of ours.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return {
    write: (text) => void stream.write(text),
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
  };
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function confirm(question: string): Promise<boolean | undefined> {
  const { stdin: input, stderr: output } = process;
  if (!input.isTTY || !output.isTTY) return undefined;
  const terminal = createInterface({ input, output });
  // Ctrl-C and Ctrl-D close it without an answer.
  const answer = await new Promise<string>((resolve) => {
    terminal.once("close", () => resolve(""));
    terminal.question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  return /^\s*y(es)?\s*$/i.test(answer);
}

async function askHidden(question: string): Promise<string | undefined> {
  const { stdin: input, stderr: output } = process;
  return input.isTTY && output.isTTY ? hiddenLine({ input, output }, question) : undefined;
}

function stopSignals(): StopSignals {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let seen = 0;
  const onSignal = () => {
    seen++;
    if (seen === 1) first.resolve();
    else if (seen === 2) second.resolve();
    else process.exit(1);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return { first: first.promise, second: second.promise };
}
