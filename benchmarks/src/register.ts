import type { Registered } from "@engine/contract";
import { gate } from "./gate.ts";
import { JsonClient } from "./json-client.ts";
import type { Measure } from "./measure.ts";
import { probed } from "./probed.ts";
import { median } from "./stats.ts";
import { count, ms } from "./table.ts";

const SIZES = [1_000, 3_000, 10_000];
const RUNS = 3;

/** Registering one file with many workflows, and how long the server's loop makes others wait. */
export const register: Measure = {
  name: "register",
  means: "one file of 1,000, 3,000 and 10,000 workflows",
  onlyWhenNamed: true,
  async run(bench) {
    const { url } = await bench.engine();
    const client = new JsonClient(url);
    const samples: Record<string, number[]> = {};
    const rows: string[][] = [];
    const figures: Record<string, number> = {};
    try {
      // The process that reads sources has started.
      await send(client, fileOf(1, "first"));
      for (const size of bench.quick ? SIZES.slice(0, 1) : SIZES) {
        const times: number[] = [];
        let longest = 0;
        let bytes = 0;
        for (let run = 0; run < RUNS; run++) {
          const source = fileOf(size, `r${run}`);
          bytes = Buffer.byteLength(source);
          const { times: waits } = await probed(url, async () => {
            const start = performance.now();
            const { items, warnings } = await send(client, source);
            times.push(performance.now() - start);
            const created = items.filter((item) => item.created).length;
            gate(created === size && warnings.length === 0, () => `${created} of ${size} created`);
          });
          longest = Math.max(longest, ...waits);
        }
        const middle = median(times);
        rows.push([
          count(size),
          count(bytes),
          ms(middle),
          ms((1_000 * middle) / size),
          ms(longest),
        ]);
        figures[`${size}_ms`] = middle;
        figures[`${size}_health_max_ms`] = longest;
        samples[`${size}_ms`] = times;
      }
    } finally {
      client.close();
    }
    return {
      tables: [
        {
          title: `Registering one file, median of ${RUNS}; GET /health every 10 ms meanwhile`,
          columns: ["workflows", "bytes", "time", "per 1,000", "longest /health"],
          rows,
        },
      ],
      figures,
      samples,
    };
  },
};

function send(client: JsonClient, source: string): Promise<Registered> {
  return client.send({ method: "POST", path: "/workflows", body: { source } });
}

/** Workflows as people write them: a description, a task, types on both sides. */
function fileOf(workflows: number, namespace: string): string {
  const one = (_: unknown, i: number) => `
/** Charges order ${i}. */
export const w${i} = workflow(
  { name: "w${i}", namespace: "${namespace}" },
  async (order: { id: string; cents: number }): Promise<{ ok: boolean }> => charge(order.cents),
);
`;
  return [
    'import { task, workflow } from "@engine/sdk";',
    'const charge = task({ name: "charge" }, async (cents: number) => ({ ok: cents > 0 }));',
    ...Array.from({ length: workflows }, one),
  ].join("\n");
}
