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
  /**
   * Asks the user at the terminal for a line that is not shown as it is typed; the empty text when
   * none was given. Undefined when there is no terminal.
   */
  askHidden(question: string): Promise<string | undefined>;
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
