import { Program } from "@engine/e2e/program";

/** Of each stream: what is waited for is among the newest, and some contestants print a lot. */
const OUTPUT_KEPT = 64_000;

// An interrupted run ends like any other: with what it has started.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

export type BenchProcess = Program;

export interface ProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** For Node itself. */
  readonly nodeArgs?: readonly string[];
}

/** Starts a program of Node. Its input stays open as long as ours. */
export function startProcess(
  name: string,
  program: readonly string[],
  { cwd, env, nodeArgs = [] }: ProcessOptions,
): BenchProcess {
  const options = { cwd, env: { ...process.env, ...env }, keep: OUTPUT_KEPT };
  return new Program(name, [...nodeArgs, ...program], options);
}
