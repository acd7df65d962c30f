import { parseArgs } from "node:util";

export interface Settings {
  readonly requests: number;
  readonly seed: number;
  readonly store: "sqlite" | "postgres";
  /** Requests under way at a time. */
  readonly atATime: number;
  /** Ends when so much was found. */
  readonly findings: number;
}

export const HELP = `Sends random requests over all routes to a real server with a worker, and says what was answered
as it should not be.

  npm run fuzz -- [options]

  --requests <n>     how many (default: 20000)
  --seed <s>         what they are drawn by; by default one of the moment, which is printed
  --store <kind>     sqlite (default) or postgres
  --at-a-time <n>    requests under way at a time (default: 24)
  --findings <n>     ends after so many findings (default: 20)
  --help             print this

Examples
  npm run fuzz -- --requests 200000                    the long one, on SQLite
  npm run fuzz -- --requests 200000 --store postgres
`;

/** @throws Error For an option that is none. @returns Undefined when help was asked for. */
export function settingsOf(args: readonly string[]): Settings | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: "string", default: "20000" },
      seed: { type: "string" },
      store: { type: "string", default: "sqlite" },
      "at-a-time": { type: "string", default: "24" },
      findings: { type: "string", default: "20" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { store } = values;
  if (store !== "sqlite" && store !== "postgres") {
    throw new Error(`--store is sqlite or postgres, not ${store}`);
  }
  return {
    requests: whole("requests", values.requests),
    seed: values.seed === undefined ? Date.now() % 1_000_000 : whole("seed", values.seed, 0),
    store,
    atATime: whole("at-a-time", values["at-a-time"]),
    findings: whole("findings", values.findings),
  };
}

function whole(name: string, text: string, least = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${name} is a whole number from ${least}, not ${text}`);
}
