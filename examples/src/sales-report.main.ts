/**
 * Starts the report in a process of its own, kills that process in the middle, starts it again with
 * the same execution id, and checks the report and that no recorded chunk was converted again.
 */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { run } from "@engine/local";
import { salesReport } from "./sales-report.ts";

const data = join(import.meta.dirname, "../data");
const CONCURRENCY = 4;

if (process.argv[2] === "victim") await beKilled(String(process.argv[3]));
else await killAndContinue();

async function beKilled(audit: string): Promise<void> {
  await run(salesReport, { file: join(data, "sales.csv"), audit, latency: 100 });
}

async function killAndContinue(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sales-report-"));
  const audit = join(folder, "audit.log");
  const audited = () =>
    existsSync(audit) ? readFileSync(audit, "utf8").split("\n").slice(0, -1) : [];

  const victim = fork(import.meta.filename, ["victim", audit]);
  const exited = once(victim, "exit");
  // Three rounds of four chunks: some are recorded, some are being worked on, most are to come.
  while (audited().length < 3 * CONCURRENCY && victim.exitCode === null) await wait(5);
  victim.kill("SIGKILL");
  const [, signal] = await exited;
  assert.equal(signal, "SIGKILL", "the first process ended before it could be killed");

  const executionId = String(audited()[0]?.split(" ")[0]);
  const done = await run(salesReport, undefined, { executionId });
  assert.equal(done.state, "COMPLETED");
  const expected = JSON.parse(readFileSync(join(data, "sales.expected.json"), "utf8"));
  assert.deepEqual(done.output, expected);

  // The second WORKFLOW_CLAIMED is where the second process took over.
  const [, takeover] = done.events.filter((event) => event.type === "WORKFLOW_CLAIMED");
  assert.ok(takeover, "the second process did not claim the execution");
  const chunks = done.events.filter(
    (event) => event.type === "TASK_COMPLETED" && event.name === "convert",
  );
  const recorded = chunks.filter((event) => event.seq < takeover.seq);
  assert.ok(recorded.length > 0 && recorded.length < chunks.length, "not killed in the middle");

  const timesRun = (call: string) => audited().filter((line) => line.split(" ")[1] === call).length;
  for (const { source_id } of recorded) {
    assert.equal(timesRun(source_id), 1, `${source_id} ran again although it was recorded`);
  }
  for (const { source_id } of chunks) assert.ok(timesRun(source_id) <= 2);
  const repeats = audited().length - chunks.length;
  assert.ok(repeats >= 0 && repeats <= CONCURRENCY, `${repeats} chunks ran twice`);

  rmSync(folder, { recursive: true });
  console.log(
    `sales report: killed with ${recorded.length} of ${chunks.length} chunks recorded, ` +
      `none of them ran again, ${repeats} that were under way did; ` +
      `revenue ${(expected.revenue_cents / 100).toFixed(2)} EUR`,
  );
}
