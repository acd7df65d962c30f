import { failureReport } from "./failure-report.ts";
import { type Flags, flagsOf } from "./flags.ts";
import { planKept } from "./kept.ts";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { runSeeds } from "./run-seeds.ts";
import { openSource } from "./store/open-source.ts";

const HELP = `Runs the whole engine in one process, under virtual time and with faults, once for each seed.

  npm run simulate                              200 seeds, from 1
  npm run simulate -- --seeds 20000             more of them
  npm run simulate -- --seeds 20000 --jobs 2    on two cores
  npm run simulate -- --from 5000 --seeds 1000  seeds 5000 to 5999
  npm run simulate -- --seed 4711               one seed, with its trace
  npm run simulate -- --seed 4711 --keep ...    a part of it, as a failure report says
  npm run simulate -- --store postgres          on a real PostgreSQL server, which it starts

  --seeds <n>    how many
  --from <n>     the first one
  --seed <n>     this one alone, with everything that happens in it
  --keep <text>  only these faults, disturbances, operations and deeds of hooks
  --jobs <n>     processes that share the seeds; 1 unless given
  --store <kind> sqlite, in memory, unless given; or postgres
  --plant <bug>  puts a bug into the engine, which a judge must find; any other word lists them
  --help

The exit code is 1 when an invariant was broken, 2 when a flag was wrong.
`;

/** The command `simulate`. @returns Its exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  let flags: Flags;
  try {
    flags = flagsOf(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    return 2;
  }
  const { seed, keep, store, plant, from, seeds: count, jobs, part: isPart } = flags;
  if (flags.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (seed === undefined) return runSeeds({ from, count, jobs, store, plant, isPart });
  const plan = planOf(seed);
  const programs = await loadPrograms(2);
  const kept = keep === undefined ? plan : planKept(plan, keep);
  const source = await openSource(store);
  const report = await failureReport(kept, { programs, source, plant, isWhole: true });
  await source.close();
  process.stdout.write(report.text);
  return report.isBroken ? 1 : 0;
}
