import { loadPrograms } from "./load-programs.ts";
import { planOf } from "./plan.ts";
import { simulate } from "./simulate.ts";
import { verdictOn } from "./verdict.ts";
const programs = await loadPrograms(2);
const [from, to] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? process.argv[2] ?? 1)];
const t = performance.now();
let steps = 0;
const kinds = new Map<string, number[]>();
for (let seed = from; seed <= to; seed++) {
  const run = await simulate(planOf(seed), { programs, isTraced: from === to });
  if (from === to) console.log(run.trace.join("\n"));
  steps += run.steps;
  for (const v of new Map((await verdictOn(run)).map((v) => [v.invariant, v])).values()) {
    const list = kinds.get(v.invariant) ?? [];
    list.push(seed);
    kinds.set(v.invariant, list);
    if (list.length <= 4 || from === to) console.log(seed, v.invariant, v.execution_id, v.message.slice(0, 700));
  }
}
const ms = performance.now() - t;
console.log(steps, ms, ((to - from + 1) / ms) * 1000, "seeds/s");
for (const [k, v] of kinds) console.log(k, v.length, v.slice(0, 12).join(" "));
