/** `npm run sweep`: every failpoint, killed there once, and once more during the recovery. */
import { parseArgs } from "node:util";
import { startTestPostgres } from "@engine/store/test-postgres";
import { failpointsOf, type StoreKind } from "./failpoints.ts";
import { sweep } from "./sweep.ts";
import type { Swept } from "./swept.ts";

const HELP = `Kills servers and workers at every failpoint and checks what comes of it.

  npm run sweep -- [options]

  --store <kind>    sqlite or postgres; by default both
  --only <text>     only failpoints whose name holds this text
  --together <n>    failpoints of one workload (default: 1)
  --once            leave out the second kills
  --auth <which>    on or off: authorization; by default both
  --list            print the failpoints and end
  --help            print this
`;

interface Flags {
  readonly store: StoreKind | undefined;
  readonly only: string;
  readonly together: number;
  readonly once: boolean;
  readonly auth: "on" | "off" | undefined;
  readonly list: boolean;
  readonly help: boolean;
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const values = flagsOrExit();
const stores: readonly StoreKind[] =
  values.store === undefined ? ["sqlite", "postgres"] : [values.store];

if (values.help) say(HELP);
else if (values.list)
  for (const store of stores) failpointsOf(store, values.auth !== "off").forEach(say);
else process.exitCode = (await sweepAll()) ? 0 : 1;

function flagsOrExit(): Flags {
  try {
    return flags();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(2);
  }
}

function flags(): Flags {
  const { values } = parseArgs({
    options: {
      store: { type: "string" },
      only: { type: "string", default: "" },
      together: { type: "string", default: "1" },
      once: { type: "boolean", default: false },
      auth: { type: "string" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { store, auth } = values;
  if (auth !== undefined && auth !== "on" && auth !== "off") {
    throw new Error(`--auth is on or off, not ${auth}`);
  }
  if (store !== undefined && store !== "sqlite" && store !== "postgres") {
    throw new Error(`--store is sqlite or postgres, not ${store}`);
  }
  const together = Number(values.together);
  if (!Number.isSafeInteger(together) || together < 1) {
    throw new Error(`--together is a whole number from 1, not ${values.together}`);
  }
  return { ...values, store, auth, together };
}

async function sweepAll(): Promise<boolean> {
  let isRight = true;
  for (const store of stores) {
    const postgres = store === "postgres" ? await startTestPostgres() : undefined;
    try {
      for (const [isGuarded, twice] of rounds()) {
        const began = performance.now();
        const killed = twice ? "killed again during recovery" : "killed once";
        say(`${store}, authorization ${isGuarded ? "on" : "off"}, ${killed}`);
        const swept = await sweep({
          store,
          isGuarded,
          createDatabase: async () => (await postgres?.createDatabase()) ?? "",
          only: (failpoint) => failpoint.includes(values.only),
          together: values.together,
          twice,
          say: (line) => say(`  ${seconds(began)} ${line}`),
        });
        // Each is told of, whatever came of those before.
        const isFine = report(swept, seconds(began));
        isRight &&= isFine;
      }
    } finally {
      await postgres?.stop();
    }
  }
  return isRight;
}

function rounds(): readonly (readonly [isGuarded: boolean, twice: boolean])[] {
  const guarded = values.auth === undefined ? [false, true] : [values.auth === "on"];
  const twice = values.once ? [false] : [false, true];
  return guarded.flatMap((isGuarded) => twice.map((again) => [isGuarded, again] as const));
}

function report(swept: readonly Swept[], took: string): boolean {
  const unreached = swept.filter(({ isStruck }) => !isStruck);
  const wrong = swept.filter(({ violations }) => violations.length > 0);
  const again = swept.filter(({ isStruckAgain }) => isStruckAgain).length;
  for (const { failpoint } of unreached) say(`  never reached: ${failpoint}`);
  for (const violations of new Set(wrong.map((one) => one.violations))) {
    const at = wrong.filter((one) => one.violations === violations);
    say(`  at ${at.map(({ failpoint }) => failpoint).join(", ")}:`);
    for (const violation of violations) say(`    ${violation}`);
  }
  say(
    `  ${swept.length} failpoints in ${took}: ${swept.length - unreached.length} struck, ${again} struck again, ${wrong.length} with violations\n`,
  );
  return unreached.length + wrong.length === 0;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s`;
}
