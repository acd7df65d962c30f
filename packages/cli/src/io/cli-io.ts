import { createInterface } from "node:readline";

/** The world of a command: everything it reads, prints and waits for. Tests hand in their own. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly out: CliStream;
  readonly err: CliStream;
  /** All of standard input, as text. */
  readStdin(): Promise<string>;
  /** Asks the user at the terminal; only a yes is true. Undefined when there is no terminal. */
  confirm(question: string): Promise<boolean | undefined>;
  /** Milliseconds since 1970. */
  now(): number;
  /** From now on SIGINT and SIGTERM are answered here; a third ends the process at once. */
  stopSignals(): StopSignals;
}

export interface StopSignals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
}

export interface CliStream {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
}

export function processIo(): CliIo {
  return {
    env: process.env,
    cwd: process.cwd(),
    out: streamOf(process.stdout),
    err: streamOf(process.stderr),
    readStdin,
    confirm,
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
