import { fileURLToPath } from "node:url";
import { Program, type ProgramResult } from "./program.ts";

const ENGINE = fileURLToPath(new URL("../../../packages/cli/bin/engine.js", import.meta.url));

export interface CliOptions {
  /** Working directory; holds no `engine.toml` unless the test writes one. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input. */
  readonly stdin?: string;
  /** Another checkout's `engine.js`. */
  readonly program?: string;
}

export type CliResult = ProgramResult;

/** One `engine …` process, as a user would start it. */
export class CliProcess extends Program {
  constructor(
    args: readonly string[],
    { cwd, env = {}, stdin = "", program = ENGINE }: CliOptions,
  ) {
    const all = { ...cleanEnvironment(), ...env };
    super(`engine ${args.join(" ")}`, [program, ...args], { cwd, env: all, stdin });
  }
}

/** The tester's own ENGINE_ variables must not reach the processes under test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("ENGINE_"));
  return Object.fromEntries(own);
}
