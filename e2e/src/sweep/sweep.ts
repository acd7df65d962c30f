import { createHome } from "../harness/home.ts";
import { channelsOf, FIRST_ADMIN, failpointsOf, type StoreKind, targetOf } from "./failpoints.ts";
import { Judge } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { Plant, type PlantOptions } from "./plant.ts";
import { RECOVERIES } from "./recoveries.ts";
import { sweepRetention } from "./retention.ts";
import { type Swept, sweptAt, tellSwept } from "./swept.ts";
import { TRIGGERS, type Trigger, workload } from "./triggers.ts";

export interface SweepOptions {
  readonly store: StoreKind;
  /** With authorization on, and the failpoints that only then are reached. */
  readonly isGuarded?: boolean;
  /** Gives the URL of an empty database, for PostgreSQL. */
  readonly createDatabase: () => Promise<string>;
  /** Only failpoints that this says yes to. */
  readonly only?: (failpoint: string) => boolean;
  /** Failpoints of one workload: more are quicker, fewer say more when something is wrong. */
  readonly together: number;
  /** Kills again, at another failpoint, while what follows the first kill is under way. */
  readonly twice?: boolean;
  readonly say: (line: string) => void;
}

/** Reached only where there is nothing yet, or where time has passed. */
const FIRST_START = ["engine:store:migrating", "engine:store:migrated", ...FIRST_ADMIN];
const RETENTION = [
  "engine:store:writing retention.deleteFinished",
  "engine:store:written retention.deleteFinished",
  "engine:server:forgetting",
  "engine:store:writing forgottenValues.confirm",
  "engine:store:written forgottenValues.confirm",
];

/** Kills a process at every failpoint and judges what comes of it. */
export async function sweep(options: SweepOptions): Promise<readonly Swept[]> {
  const { store, only = () => true, say, isGuarded } = options;
  const declared = failpointsOf(store, isGuarded);
  const wanted = declared.filter(only);
  const [first, retention] = [FIRST_START, RETENTION].map((some) =>
    some.filter((one) => wanted.includes(one)),
  ) as [string[], string[]];
  await using cache = await createHome();
  const open = async (more: Pick<PlantOptions, "env" | "armed">) => {
    const database = store === "postgres" && { databaseUrl: await options.createDatabase() };
    const channels = channelsOf(declared);
    const plant = { channels, compileCache: cache.path, isGuarded, ...database };
    return Plant.start({ ...plant, ...more });
  };

  const swept: Swept[] = [];
  const add = (found: readonly Swept[]) => {
    swept.push(...found);
    tellSwept(say, found);
  };
  if (retention.length > 0) add(await sweepRetention(open, retention));

  await using plant = await open({ armed: first });
  await plant.startWorkers();
  await plant.engine.register("swept");
  const judge = new Judge(plant);
  const started = plant.struck();
  const { violations } = await runRound(plant, judge, { armed: [], trigger: workload });
  add(first.map((failpoint) => sweptAt({ failpoint }, started, violations)));
  const rest = wanted.filter((one) => !first.includes(one) && !retention.includes(one));
  const missed = await sweepRounds(plant, judge, { ...options, failpoints: spread(rest), add });
  add(missed.map((failpoint) => sweptAt({ failpoint }, [], [])));
  return swept;
}

interface Rounds extends Pick<SweepOptions, "together" | "twice"> {
  readonly failpoints: readonly string[];
  readonly add: (swept: readonly Swept[]) => void;
}

/** Gives back those that no trigger has reached. */
async function sweepRounds(
  plant: Plant,
  judge: Judge,
  { failpoints, together, twice = false, add }: Rounds,
): Promise<readonly string[]> {
  let left = failpoints;
  let count = 0;
  // What one kill kept another one from is tried again alone, and what a busy machine did once more.
  const passes = [together, 1, 1].flatMap((size) => TRIGGERS.map((trigger) => ({ trigger, size })));
  for (const { trigger, size } of passes) {
    const missed: string[] = [];
    for (let at = 0; at < left.length; at += size) {
      const armed = left.slice(at, at + size).map((failpoint): Armed => {
        const recoveries = RECOVERIES[targetOf(failpoint)].filter((one) => one !== failpoint);
        return { failpoint, second: twice ? recoveries[count++ % recoveries.length] : undefined };
      });
      const { struck, violations } = await runRound(plant, judge, { armed, trigger });
      const found = armed.map((one) => sweptAt(one, struck, violations));
      // What is wrong is told, whoever was not reached.
      add(found.filter(({ isStruck }) => isStruck || violations.length > 0));
      missed.push(
        ...found
          .filter(({ isStruck }) => !isStruck && violations.length === 0)
          .map(({ failpoint }) => failpoint),
      );
    }
    left = missed;
  }
  return left;
}

type Armed = Pick<Swept, "failpoint" | "second">;

async function runRound(
  plant: Plant,
  judge: Judge,
  { armed, trigger }: { readonly armed: readonly Armed[]; readonly trigger: Trigger },
): Promise<{ readonly struck: readonly string[]; readonly violations: readonly string[] }> {
  const before = plant.struck().length;
  const ledger = new Ledger();
  plant.arm(armed.map(({ failpoint, second }) => [failpoint, second].filter(Boolean).join("\t")));
  const broken: string[] = [];
  try {
    await trigger(plant, ledger);
  } catch (error) {
    broken.push(`the workload broke off: ${error}\n${plant.engine.processReport()}`);
  }
  plant.arm([]);
  await plant.untilUp();
  const violations = await judge.verdict(ledger).catch((error: unknown) => [String(error)]);
  return { struck: plant.struck().slice(before), violations: [...broken, ...violations] };
}

/** Neighbours in the list are killed apart from each other: servers and workers in turn. */
function spread(failpoints: readonly string[]): readonly string[] {
  const step = 13;
  const columns = Array.from({ length: step }, (_, column) =>
    failpoints.filter((_, i) => i % step === column),
  );
  return columns.flat();
}
