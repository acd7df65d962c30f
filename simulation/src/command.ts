import { parseArgs } from "node:util";
import { failureReport } from "./failure-report.ts";
import { keptOf, planKept } from "./kept.ts";
import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { runSeeds } from "./run-seeds.ts";

const HELP = `Runs the whole engine in one process, under virtual time and with faults, once for each seed.

  npm run simulate                              200 seeds, from 1
  npm run simulate -- --seeds 20000             more of them
  npm run simulate -- --seeds 20000 --jobs 2    on two cores
  npm run simulate -- --from 5000 --seeds 1000  seeds 5000 to 5999
  npm run simulate -- --seed 4711               one seed, with its trace
  npm run simulate -- --seed 4711 --keep ...    a part of it, as a failure report says

  --seeds <n>    how many
  --from <n>     the first one
  --seed <n>     this one alone, with everything that happens in it
  --keep <text>  only these faults, disturbances and operations of the seed
  --jobs <n>     processes that share the seeds; 1 unless given
  --plant <bug>  puts a bug into the engine: the invariants must find it
  --help

The exit code is 1 when an invariant was broken.
`;

/** The command `simulate`. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "200" },
      from: { type: "string", default: "1" },
      seed: { type: "string" },
      keep: { type: "string" },
      jobs: { type: "string", default: "1" },
      plant: { type: "string" },
      part: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { plant } = values;
  if (values.seed !== undefined) {
    const plan = planOf(numberOf("seed", values.seed));
    const programs = await loadPrograms(2);
    const kept = values.keep === undefined ? plan : planKept(plan, keptOf(values.keep));
    const report = await failureReport(kept, { programs, plant, isWhole: true });
    process.stdout.write(report.text);
    return report.isBroken ? 1 : 0;
  }
  const [from, count] = [numberOf("from", values.from), numberOf("seeds", values.seeds)];
  return runSeeds({ from, count, jobs: numberOf("jobs", values.jobs), plant, isPart: values.part });
}

function numberOf(option: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${option}: expected a whole number; got "${text}"`);
}
