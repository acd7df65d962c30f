import { startTwoProcesses } from "./engine.ts";
import { gate } from "./gate.ts";
import type { Measure } from "./measure.ts";
import { gateReader, type Item, itemsOf } from "./progress-items.ts";
import { SseReader } from "./sse-reader.ts";
import { median, percentile } from "./stats.ts";
import { count, ms } from "./table.ts";

const READERS = 8;
const PER_SECOND = 1_000;
/** More than what the machine's own buffers hold for a reader that takes nothing. */
const FULL_ITEMS = 20_000;
/** For all readers to be there before the first item. */
const LEAD_MS = 2_000;

/**
 * One task that tells of its progress a thousand times a second, 150 bytes each; eight readers
 * follow, and a ninth opens its stream and reads nothing until the execution has ended.
 */
export const progress: Measure = {
  name: "progress",
  means: "progress to eight readers and one that reads nothing",
  async run(bench) {
    const items = bench.quick ? 1_000 : FULL_ITEMS;
    const engine = await startTwoProcesses(bench.setup);
    try {
      const { client, url } = engine;
      const from = Date.now() + LEAD_MS;
      const id = await client.start("ticker", { from, items, perSecond: PER_SECOND });
      const open = () => SseReader.open(`${url}/executions/${id}?mode=stream`);
      const readers = await Promise.all(Array.from({ length: READERS }, open));
      const stalled = await open();
      gate(Date.now() < from, () => "the readers came too late for the first item");
      await Promise.all(readers.map((reader) => reader.read()));
      await stalled.read();

      const received = readers.map((reader) => gateReader(reader, items));
      const late = itemsOf(stalled);
      const seen = late.length + stalled.dropped;
      gate(seen === items, () => `the stalled reader accounts for ${seen} of ${items} items`);
      return report(items, received, stalled.dropped);
    } finally {
      await engine.stop();
    }
  },
};

function report(items: number, received: readonly (readonly Item[])[], dropped: number) {
  const all = received.flat();
  const byTime = all.map(({ at, time }) => Math.floor(at) - time);
  const exact = all.map(({ at, sent }) => at - sent);
  const row = (label: string, taken: readonly number[]) => [
    label,
    ...[50, 99, 100].map((p) => ms(percentile(taken, p))),
    count(taken.length),
  ];
  return {
    tables: [
      {
        title: `${count(items)} progress items at ${count(PER_SECOND)}/s, ${READERS} readers and a stalled one: 0 lost, ${count(dropped)} dropped for the stalled one`,
        columns: ["", "p50", "p99", "max", "samples"],
        rows: [
          row("`time` to receipt (whole ms)", byTime),
          row("progress() to receipt, one clock", exact),
        ],
      },
    ],
    figures: {
      time_to_receipt_p50_ms: median(byTime),
      time_to_receipt_p99_ms: percentile(byTime, 99),
      call_to_receipt_p50_ms: median(exact),
      call_to_receipt_p99_ms: percentile(exact, 99),
      stalled_dropped: dropped,
    },
    samples: { call_to_receipt_ms: exact },
  };
}
