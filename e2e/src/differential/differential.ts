import { keepFinding } from "./findings.ts";
import { type ProgramPlan, planOf } from "./program-plan.ts";
import type { Settings } from "./settings.ts";
import type { Setup } from "./setups.ts";
import { runStretch } from "./stretch.ts";
import { Tally } from "./tally.ts";

/** Programs that share a few engines, one for each setup; with more of them databases would grow. */
const WINDOW = 3_000;
const SAY_EVERY_MS = 10_000;

export interface DifferentialOptions extends Settings {
  /** Gives the URL of an empty database, for PostgreSQL. */
  readonly createDatabase: () => Promise<string>;
  readonly say: (line: string) => void;
}

/** Runs random programs on real processes and judges what each of them leaves. */
export async function differential(options: DifferentialOptions): Promise<Tally> {
  const { only, minutes, failures, programs, times } = options;
  const tally = new Tally();
  const until = performance.now() + (minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const isOver = () => performance.now() > until || tally.failed.length >= failures;
  const end = only === undefined ? programs : only + 1;
  for (let from = only ?? 0; from < end && !isOver(); from += WINDOW) {
    const numbers = Array.from({ length: Math.min(WINDOW, end - from) }, (_, i) => from + i);
    const plans = numbers.flatMap((n) => {
      const plan = planOf(n, options);
      return Array.from({ length: times }, () => plan);
    });
    for (const [setup, own] of Map.groupBy(plans, (plan) => plan.setup)) {
      if (!isOver()) await run(setup, own, { ...options, tally, isOver });
    }
  }
  return tally;
}

interface Running extends DifferentialOptions {
  readonly tally: Tally;
  readonly isOver: () => boolean;
}

async function run(setup: Setup, plans: readonly ProgramPlan[], options: Running): Promise<void> {
  const { tally, say, store, createDatabase } = options;
  const [began, before] = [performance.now(), tally.programs];
  let [said, deaths] = [began, 0];
  const progress = () => {
    const [seconds, done] = [(performance.now() - began) / 1_000, tally.programs - before];
    const rate = (done / seconds).toFixed(1);
    return `${setup.name}: ${done} of ${plans.length} programs in ${seconds.toFixed(0)} s (${rate}/s), ${deaths} workers killed; in all ${tally.programs} programs, ${tally.failed.length} failed`;
  };
  const databaseUrl = store === "postgres" ? await createDatabase() : undefined;
  await runStretch({
    ...options,
    setup,
    plans,
    databaseUrl,
    async onJudged(judged) {
      tally.add(judged);
      deaths = Math.max(deaths, judged.evidence.deaths.length);
      if (judged.violations.length > 0) {
        for (const line of await keepFinding(judged, options)) say(line);
      }
      if (performance.now() < said + SAY_EVERY_MS) return;
      said = performance.now();
      say(progress());
    },
  });
  tally.deaths += deaths;
  say(progress());
}
