import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import { gateLogs, spread } from "./log-gates.ts";
import type { Measure } from "./measure.ts";
import { probed } from "./probed.ts";
import { median, percentile } from "./stats.ts";
import { submitFor } from "./submit.ts";
import { ms } from "./table.ts";
import { passed } from "./until.ts";

const TASKS = 20;
const SUBMITTERS = 32;
/** Fewer say nothing of a p99. */
const LEAST_SAMPLES = 40;
/** Of the load's time, from the first probe to the last. */
const LEAST_SHARE = 0.9;

/** How long the server's loop makes others wait: GET /health every 10 ms, at rest and under load. */
export const loopDelay: Measure = {
  name: "loop",
  means: "how soon the server's loop answers, at rest and under load",
  async run(bench) {
    const { url, client } = await bench.engine();
    const ids = await load(client, bench.quick ? 300 : 2_000);
    const idle = await probed(url, () => passed(bench.quick ? 800 : 5_000));
    const loaded = await probed(url, async () => {
      ids.push(...(await load(client, bench.quick ? 1_500 : 8_000)));
    });
    await gateLogs(client, spread(ids, 100), TASKS);

    const [a, b] = [idle.times, loaded.times];
    const [idleP95, loadP99] = [percentile(a, 95), percentile(b, 99)];
    const isVoid = b.length < LEAST_SAMPLES || loaded.share < LEAST_SHARE;
    const row = (label: string, times: readonly number[]) => [
      label,
      ...[50, 95, 99, 100].map((p) => ms(percentile(times, p))),
      `${times.length}`,
    ];
    return {
      tables: [
        {
          title: isVoid
            ? `GET /health: void, ${b.length} answers over ${Math.round(100 * loaded.share)} % of the load`
            : `GET /health every 10 ms; p99 under load is ${(loadP99 / idleP95).toFixed(1)} × idle p95`,
          columns: ["", "p50", "p95", "p99", "max", "samples"],
          rows: [row("idle", a), row(`${SUBMITTERS} × ${TASKS}-task workflows`, b)],
        },
      ],
      figures: {
        idle_p95_ms: idleP95,
        load_p50_ms: median(b),
        load_p95_ms: percentile(b, 95),
        load_p99_ms: loadP99,
        load_max_ms: percentile(b, 100),
        load_p99_to_idle_p95: loadP99 / idleP95,
        is_void: isVoid ? 1 : 0,
      },
      samples: { idle_ms: a, load_ms: b },
    };
  },
};

async function load(client: HttpClient, milliseconds: number): Promise<string[]> {
  const ids: string[] = [];
  await submitFor(milliseconds, SUBMITTERS, async () => {
    const record = await client.run("chain", TASKS);
    gate(record.output === TASKS, () => `chain(${TASKS}) answered ${record.output}`);
    ids.push(record.execution_id);
  });
  return ids;
}
