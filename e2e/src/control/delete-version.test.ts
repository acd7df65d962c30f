import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";

test("EXE-70 an execution of a deleted version resumes and finishes, on a worker that never had its code too; new runs are 404", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("review");
  const first = engine.startWorker("first");
  const article = { topic: "deletion", file: engine.home.file("bodies.txt") };
  const id = await engine.start("review", article);
  await engine.untilParked(id, "pause");
  expect(await engine.cli("workflow", "delete", "review", "--yes")).toMatchObject({ code: 0 });

  const refused = await engine.http.post("/workflows/default/review/run/async", article);
  expect(refused).toMatchObject({
    status: 404,
    body: { error: { code: "not_found", details: { resource: "workflow" } } },
  });
  expect(await engine.http.get("/workflows/default/review")).toMatchObject({ status: 404 });

  await first.kill();
  await engine.server.kill();
  engine.startServerAgain();
  engine.startWorker("second");
  await engine.untilIs(id, ({ state }) => state === "PAUSED");
  const path = `/workflows/default/review/resume/${id}`;
  const resumed = await engine.http.post<ExecutionRecord>(path, { ok: true });
  expect(resumed).toMatchObject({
    status: 200,
    body: { version: 1, state: "COMPLETED", output: "published: On deletion" },
  });
});
