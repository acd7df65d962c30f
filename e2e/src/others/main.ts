/** `npm run others`: the programs of other people, in every mode, on real processes. */
import { parseArgs } from "node:util";
import { MODE_FACTS, MODES, type Mode } from "./modes.ts";
import { PROGRAMS } from "./programs/all.ts";
import { type Judged, runMode } from "./run-mode.ts";
import type { StoreKind } from "./stage.ts";

const STORES: readonly StoreKind[] = ["sqlite", "postgres"];

const HELP = `Runs programs of other people on real processes, in every mode, and judges what came of them.

  npm run others -- [options]

  --only <text>     only programs whose name holds this text; several with a comma
  --mode <mode>     one of the modes below; by default all
  --store <kind>    sqlite or postgres; by default both
  --entry <n>       with killed and struck: only the n-th task; several with a comma (default: 1,2,3,4,5,6,8,12)
  --together <n>    programs at a time (default: 48; with killed all, so that deaths are few)
  --times <n>       all of it so many times (default: 1)
  --list            print the programs with what a user sees, and end
  --help            print this

${MODES.map((mode) => `  ${mode.padEnd(8)} ${MODE_FACTS[mode].means}`).join("\n")}
`;

interface Flags {
  readonly only: readonly string[];
  readonly modes: readonly Mode[];
  readonly stores: readonly StoreKind[];
  readonly entries: readonly number[];
  readonly together: number | undefined;
  readonly times: number;
  readonly list: boolean;
  readonly help: boolean;
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const chosen = flagsOrExit();

if (chosen.help) say(HELP);
else process.exitCode = (await main(chosen)) ? 0 : 1;

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
      only: { type: "string", default: "" },
      mode: { type: "string" },
      store: { type: "string" },
      entry: { type: "string", default: "1,2,3,4,5,6,8,12" },
      together: { type: "string" },
      times: { type: "string", default: "1" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  return {
    only: values.only.split(",").filter(Boolean),
    modes: values.mode === undefined ? MODES : [oneOf("--mode", MODES, values.mode)],
    stores: values.store === undefined ? STORES : [oneOf("--store", STORES, values.store)],
    entries: values.entry.split(",").map((text) => wholeNumber("--entry", text)),
    together:
      values.together === undefined ? undefined : wholeNumber("--together", values.together),
    times: wholeNumber("--times", values.times),
    list: values.list,
    help: values.help,
  };
}

function oneOf<One extends string>(flag: string, all: readonly One[], text: string): One {
  const found = all.find((one) => one === text);
  if (found === undefined) throw new Error(`${flag} is ${all.join(" or ")}, not ${text}`);
  return found;
}

function wholeNumber(flag: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`${flag} is a whole number from 1, not ${text}`);
}

async function main({
  only,
  modes,
  stores,
  entries,
  together,
  times,
  list,
}: Flags): Promise<boolean> {
  const programs = Object.entries(PROGRAMS).filter(
    ([name]) => only.length === 0 || only.some((text) => name.includes(text)),
  );
  if (list) {
    for (const [name, { sees }] of programs) say(`${name.padEnd(34)} ${sees}`);
    say(`${programs.length} programs`);
    return true;
  }
  let isRight = programs.length > 0;
  for (let time = 0; time < times; time++) {
    for (const store of stores) {
      for (const mode of modes) {
        const atATime = together ?? (mode === "killed" ? programs.length : 48);
        const judged = await runMode({ mode, store, programs, together: atATime, entries, say });
        for (const one of judged) isRight = tell(one, store) && isRight;
      }
    }
  }
  return isRight;
}

function tell({ name, mode, entry, wrong, story }: Judged, store: StoreKind): boolean {
  if (wrong.length === 0) return true;
  const at = entry === undefined ? "" : ` --entry ${entry}`;
  say(`\nFAIL ${name}: npm run others -- --only "${name}" --mode ${mode} --store ${store}${at}`);
  for (const what of wrong) say(`  ${what}`);
  say(story);
  return false;
}
