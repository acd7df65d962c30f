/** More waits than can be kept, of one group or of very many: nothing of it is lost. */
import type { Requirements } from "@engine/contract";
import type { QueuedExecution } from "@engine/store";
import { expect, test } from "vitest";
import { ManualTime, settled } from "../testing/manual-time.ts";
import { compareQueued } from "./queue-order.ts";
import { QueueReader } from "./queue-reader.ts";
import { FleetWorker, queued, TestFleet } from "./testing/test-fleet.ts";

const MOST = 64;

/** A store whose queue is far longer than what is kept of it. */
class Overflown {
  readonly time = new ManualTime();
  readonly fleet = new TestFleet({ most: MOST });
  readonly rows: QueuedExecution[] = [];
  readonly given: string[] = [];
  readonly reader: QueueReader;

  constructor() {
    this.reader = new QueueReader({
      store: {
        queue: {
          list: async ({ limit, after, fromEnd = false }) => {
            const behind = this.rows.filter((row) => !after || compareQueued(row, after) > 0);
            behind.sort(compareQueued);
            return fromEnd ? behind.slice(-limit) : behind.slice(0, limit);
          },
        },
      },
      queue: this.fleet.queue,
      monotonic: this.time.monotonic,
      setTimer: this.time.setTimer,
      onRead: () => this.wake(),
    });
  }

  wait(row: QueuedExecution): void {
    this.rows.push(row);
  }

  /** What the dispatcher does when something happened. */
  wake(): void {
    const { queue, matching } = this.fleet;
    for (let match = this.fleet.give(); match; match = this.fleet.give()) {
      const { execution_id } = match.entry;
      this.given.push(execution_id);
      this.rows.splice(
        this.rows.findIndex((row) => row.execution_id === execution_id),
        1,
      );
    }
    if (this.reader.hasRunDry) void this.reader.refresh();
    const wants = matching.takeNews() || queue.hasUnasked || this.reader.wantsBeyond;
    if (!queue.beyond || !wants) return;
    queue.hasUnasked = false;
    void this.reader.readBeyond();
  }

  async happen(act: () => void): Promise<void> {
    act();
    this.wake();
    for (let n = 0; n < 20; n++) await this.time.advance(1_000);
    await settled();
  }
}

function tenant(n: number): Requirements {
  return { affinity: [{ of: "meta", key: "tenant", op: "eq", value: `t${n}` }] };
}

function id(n: number): string {
  return `e${String(n).padStart(5, "0")}`;
}

test("DSP-12 of thousands that each need something else only so many are kept, and each starts once its worker is there", async () => {
  const all = new Overflown();
  for (let n = 0; n < 3_000; n++) all.wait(queued(id(n), { queued_at: n, needs: tenant(n) }));
  await all.reader.refresh();
  all.wake();
  expect(all.fleet.queue.size).toBeLessThanOrEqual(MOST);
  const worker = new FleetWorker("w");
  await all.happen(() => all.fleet.join(worker));
  expect(all.given).toEqual([]);
  for (const n of [3, 2_999, 1_500, 70]) {
    const metadata = { tenant: `t${n}` };
    await all.happen(() => all.fleet.change(worker, { metadata }));
    expect(all.given.splice(0)).toEqual([id(n)]);
    expect(all.fleet.queue.size).toBeLessThanOrEqual(MOST);
  }
  // What comes now is asked about at once, whatever lies in the store before it.
  const fresh = queued("fresh", { queued_at: 9_999 });
  all.wait(fresh);
  all.fleet.add(fresh);
  all.wake();
  expect(all.given).toEqual(["fresh"]);
});

test("DSP-12 a long group is read on when its turn comes, beside others that are kept, in its order", async () => {
  const all = new Overflown();
  for (let n = 0; n < 500; n++) all.wait(queued(id(n), { queued_at: n, needs: tenant(1) }));
  for (let n = 500; n < 540; n++) all.wait(queued(id(n), { queued_at: n, needs: tenant(n) }));
  await all.reader.refresh();
  all.wake();
  expect(all.fleet.queue.size).toBeLessThanOrEqual(MOST);
  const worker = new FleetWorker("w", { metadata: { tenant: "t1" } });
  await all.happen(() => all.fleet.join(worker));
  expect(all.given).toEqual(Array.from({ length: 500 }, (_, n) => id(n)));
  await all.happen(() => all.fleet.change(worker, { metadata: { tenant: "t539" } }));
  expect(all.given.at(-1)).toBe(id(539));
  for (let n = 500; n < 539; n++) {
    await all.happen(() => all.fleet.change(worker, { metadata: { tenant: `t${n}` } }));
  }
  expect(all.rows).toEqual([]);
});
