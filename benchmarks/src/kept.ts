import { join } from "node:path";
import { decideSignal, EngineError, type NewExecution } from "@engine/contract";
import { openStore, type Store } from "@engine/store";
import { gate } from "./gate.ts";
import { createHome } from "./home.ts";
import { addKeptRows, keptId, SCHEDULE } from "./kept-rows.ts";
import type { Measure } from "./measure.ts";
import { median } from "./stats.ts";
import { count, ms } from "./table.ts";

const LIMITS = {
  max_kept_signals: 1_000_000,
  max_kept_signal_bytes: 1 << 30,
  max_events: 1_000_000,
};
const PAYLOAD = "x".repeat(1_000);

/** What is asked of the store, and which figure says what it did to the event loop. */
const ASKED: readonly { readonly what: string; readonly ask: Ask }[] = [
  {
    what: "get by id",
    ask: async (store, { kept, n }) => {
      const row = await store.executions.find(keptId(1 + ((n * 7919) % kept)));
      gate(row?.state === "COMPLETED", () => "a kept execution was not found");
    },
  },
  { what: "start", ask: (store, { fresh }) => store.executions.create(fresh()) },
  {
    what: "open runs of the schedule, at each fire",
    ask: (store) => store.executions.listOpenRuns(SCHEDULE, 5),
  },
  { what: "list, newest page", ask: (store) => store.executions.list(FIRST) },
  {
    what: "list whose filter matches nothing",
    ask: async (store) => {
      const { total } = await store.executions.list({ ...FIRST, states: ["FAILED"], label: "no" });
      gate(total === 0, () => `${total} matched`);
    },
  },
];

const FIRST = { order: "created_desc", limit: 50, offset: 0 } as const;

type Ask = (
  store: Store,
  of: { readonly kept: number; readonly n: number; readonly fresh: () => NewExecution },
) => Promise<unknown>;

/** What costs more, and what stops the loop, as more executions and signals are kept. SQLite. */
export const kept: Measure = {
  name: "kept",
  means: "what lists, fires, starts and signals cost beside a million kept executions",
  stores: ["sqlite"],
  onlyWhenNamed: true,
  async run(bench) {
    const sizes = bench.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000];
    const rounds = bench.quick ? 10 : 40;
    const home = await createHome();
    const path = join(home.path, "kept.db");
    const store = await openStore(`sqlite:${path}`);
    const figures: Record<string, number> = {};
    const samples: Record<string, readonly number[]> = {};
    const answers = ASKED.map(({ what }) => [what]);
    const stalls = ASKED.map(({ what }) => [what]);
    let made = 0;
    const fresh = () => newExecution(++made);
    try {
      for (const size of sizes) {
        bench.tell(`${count(size)} kept executions`);
        addKeptRows(path, size);
        for (const [i, { what, ask }] of ASKED.entries()) {
          await ask(store, { kept: size, n: 0, fresh });
          const times: number[] = [];
          const busy: number[] = [];
          for (let n = 1; n <= rounds; n++) {
            const before = performance.eventLoopUtilization();
            const start = performance.now();
            await ask(store, { kept: size, n, fresh });
            times.push(performance.now() - start);
            // A turn of its own, so that what was done in the last one is counted.
            await new Promise((resolve) => setTimeout(resolve, 1));
            busy.push(performance.eventLoopUtilization(before).active);
          }
          answers[i]?.push(ms(median(times)));
          stalls[i]?.push(ms(median(busy)));
          const name = `${what.replaceAll(/\W+/g, "_")}_at_${size}`;
          figures[`${name}_p50_ms`] = median(times);
          figures[`${name}_loop_p50_ms`] = median(busy);
          samples[name] = times;
          samples[`${name}_loop`] = busy;
        }
      }
      const signals = await keptSignals(store, bench.quick ? [100, 1_000] : [100, 1_000, 10_000]);
      Object.assign(figures, signals.figures);
      const columns = ["kept executions", ...sizes.map(count)];
      return {
        tables: [
          { title: "One answer, p50", columns, rows: answers },
          {
            title: "Time that the event loop had for nobody else meanwhile, p50",
            columns,
            rows: stalls,
          },
          signals.table,
        ],
        figures,
        samples,
      };
    } finally {
      await store.close();
      await home.remove();
    }
  },
};

/** The last of so many signals of 1 KB: what it costs to keep it. */
async function keptSignals(store: Store, sizes: readonly number[]) {
  const figures: Record<string, number> = {};
  const row = ["keep one more, of 1 KB"];
  const { execution_id } = (await store.executions.create(newExecution(0, "signalled"))).row;
  let sent = 0;
  for (const size of sizes) {
    for (; sent < size; sent++) await send(store, execution_id);
    const times: number[] = [];
    for (let n = 0; n < 40; n++, sent++) {
      const start = performance.now();
      await send(store, execution_id);
      times.push(performance.now() - start);
    }
    row.push(ms(median(times)));
    figures[`signal_at_${size}_p50_ms`] = median(times);
  }
  const columns = ["kept signals of one execution", ...sizes.map(count)];
  return { figures, table: { title: "One signal, p50", columns, rows: [row] } };
}

function send(store: Store, execution_id: string): Promise<unknown> {
  return store.executions.change(execution_id, (row) => {
    const signal = { name: "news", payload: PAYLOAD, by: null, now: Date.now(), limits: LIMITS };
    const verdict = decideSignal(row, signal);
    if (verdict instanceof EngineError) throw verdict;
    return verdict;
  });
}

function newExecution(n: number, workflow = "fresh"): NewExecution {
  return {
    execution_id: `10000000-0000-7000-8000-${workflow}-${n}`,
    namespace: "default",
    workflow,
    version: 1,
    module_hash: "m",
    input: { n },
    trigger: { kind: "api" },
    by: null,
    seed: "s",
    now: Date.now(),
  };
}
