import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { CliProcess } from "../harness/cli-process.ts";
import { startEngine } from "../harness/engine.ts";
import { until } from "../harness/until.ts";

const PLACES = 3;
const RUNS = 36;

interface Line {
  readonly what: "begin" | "end";
  readonly id: number;
  readonly pid: number;
  readonly at: number;
}

/** The most bodies that ran at one time; one whose process was killed ran until then. */
function mostAtATime(lines: readonly Line[], kills: readonly { pid: number; at: number }[]) {
  const steps = [
    ...lines.map((line) => ({ ...line, order: line.what === "end" ? 0 : 2 })),
    ...kills.map((kill) => ({ ...kill, what: "kill" as const, id: -1, order: 1 })),
  ].sort((a, b) => a.at - b.at || a.order - b.order);
  const running = new Map<string, number>();
  let most = 0;
  for (const { what, id, pid } of steps) {
    if (what === "begin") running.set(`${id} ${pid}`, pid);
    else if (what === "end") running.delete(`${id} ${pid}`);
    else for (const [key, of] of running) if (of === pid) running.delete(key);
    most = Math.max(most, running.size);
  }
  return most;
}

for (const store of ["sqlite", "postgres"] as const) {
  test(`I16 FLW-8 no more run at a time than a limit allows while workers and the server are killed, and all places are free at the end (${store})`, async () => {
    await using engine = await startEngine({
      store,
      workers: [],
      env: { ENGINE_WORKERS__SILENCE_TIMEOUT: "4", ENGINE_WORKERS__HEARTBEAT_INTERVAL: "1" },
    });
    await engine.register("seated");
    const file = engine.home.file("seats.txt");
    const lines = (): Line[] => {
      const text = existsSync(file) ? readFileSync(file, "utf8") : "";
      // What is behind the last end of a line is being written.
      const whole = text.split("\n").slice(0, -1);
      return whole.map((line) => JSON.parse(line));
    };
    const kills: { pid: number; at: number }[] = [];
    const worker = async (name: string) => {
      const started = engine.startWorker(name);
      await started.printed(/connected/);
      return started;
    };
    const kill = async (of: CliProcess) => {
      await of.kill();
      kills.push({ pid: of.pid, at: Date.now() });
    };
    const ended = () => new Set(lines().flatMap(({ what, id }) => (what === "end" ? [id] : [])));
    const moreEnd = async (more: number) => {
      const before = ended().size;
      const wanted = Math.min(RUNS, before + more);
      await until(`${wanted} have ended`, async () => ended().size >= wanted, 40_000);
    };

    let [a, b] = await Promise.all([worker("a"), worker("b")]);
    const ids: string[] = [];
    for (let id = 0; id < RUNS; id++) ids.push(await engine.start("seated", { file, id }));
    await moreEnd(5);
    await kill(a);
    a = await worker("c");
    await moreEnd(5);
    await engine.server.kill();
    engine.startServerAgain();
    await moreEnd(5);
    await kill(b);
    b = await worker("d");
    for (const id of ids) {
      expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED" });
    }
    expect(ended().size).toBe(RUNS);
    expect(mostAtATime(lines(), kills)).toBeLessThanOrEqual(PLACES);

    // Nobody holds a place that is needed again: as many as there are go through at once.
    const again = await Promise.all(
      Array.from({ length: PLACES }, (_, n) => engine.start("seated", { file, id: RUNS + n })),
    );
    for (const id of again) {
      expect(await engine.untilEnded(id)).toMatchObject({ state: "COMPLETED" });
    }
  });
}
