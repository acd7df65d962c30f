import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

export type StoreKind = "sqlite" | "postgres";

export interface Settings {
  readonly programs: number;
  readonly seed: number;
  readonly store: StoreKind;
  readonly atATime: number;
  /** Of how many programs workers are killed, from 0 to 1. */
  readonly kills: number;
  /** How many programs run on an engine with the default configuration, from 0 to 1. */
  readonly defaults: number;
  /** Goes on with further programs for so long. */
  readonly minutes: number | undefined;
  /** Only the program of this number. */
  readonly only: number | undefined;
  /** How often each program runs. */
  readonly times: number;
  readonly isCareful: boolean;
  /** Ends when so many programs have failed. */
  readonly failures: number;
  /** Where failures are kept. */
  readonly folder: string;
}

/** Outside of the project: what lies there is nobody's to commit. */
const FOLDER = join(tmpdir(), "engine-differential-failures");

export const HELP = `Runs random programs on real processes and judges what they leave.

  npm run differential -- [options]

  --programs <n>     how many (default: 1000)
  --minutes <m>      goes on for that long, with as many programs as that takes
  --seed <s>         what the programs are drawn by; by default one of the moment, which is printed
  --store <kind>     sqlite (default) or postgres
  --at-a-time <n>    programs under way at a time (default: 16); --jobs is the same
  --kills <k>        share of the programs during which workers are killed (default: 0.5)
  --defaults <d>     share of the programs on an engine as nobody has configured it (default: 0.1)
  --only <n>         only the program of that number
  --times <n>        runs each program so often (default: 1)
  --careful          no program changes what it is given; else two thirds do
  --failures <n>     ends after so many failed programs (default: 10)
  --folder <path>    where failures are kept (default: ${FOLDER})
  --help             print this

Examples
  npm run differential -- --programs 20000                    the long one, on SQLite
  npm run differential -- --programs 5000 --store postgres
  npm run differential -- --minutes 60                        an hour with a seed of its own
  npm run differential -- --seed 7 --only 1234 --times 50     one program again, fifty times
`;

/** @throws Error For an option that is none. @returns Undefined when help was asked for. */
export function settingsOf(args: readonly string[]): Settings | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      programs: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      store: { type: "string", default: "sqlite" },
      "at-a-time": { type: "string" },
      jobs: { type: "string" },
      kills: { type: "string", default: "0.5" },
      defaults: { type: "string", default: "0.1" },
      only: { type: "string" },
      times: { type: "string", default: "1" },
      careful: { type: "boolean", default: false },
      failures: { type: "string", default: "10" },
      folder: { type: "string", default: FOLDER },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { store } = values;
  if (store !== "sqlite" && store !== "postgres") {
    throw new Error(`--store is sqlite or postgres, not ${store}`);
  }
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) {
    throw new Error(`--minutes is a number above 0, not ${values.minutes}`);
  }
  return {
    programs: whole("programs", values.programs ?? (minutes === undefined ? "1000" : `${2 ** 40}`)),
    seed: values.seed === undefined ? Date.now() % 1_000_000 : whole("seed", values.seed, 0),
    store,
    atATime: whole("at-a-time", values["at-a-time"] ?? values.jobs ?? "16"),
    kills: share("kills", values.kills),
    defaults: share("defaults", values.defaults),
    minutes,
    only: values.only === undefined ? undefined : whole("only", values.only, 0),
    times: whole("times", values.times),
    isCareful: values.careful,
    failures: whole("failures", values.failures),
    folder: values.folder,
  };
}

function share(name: string, text: string): number {
  const number = Number(text);
  if (number >= 0 && number <= 1) return number;
  throw new Error(`--${name} is from 0 to 1, not ${text}`);
}

function whole(name: string, text: string, least = 1): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${name} is a whole number from ${least}, not ${text}`);
}
