import { expect, test } from "vitest";
import { startEngine } from "../harness/engine.ts";

test("EXE-53 signals are kept in order, sent before a worker was there or while it waits, server restart included", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("mailbox");
  const id = await engine.start("mailbox");
  const send = (text: string) => engine.http.post(`/executions/${id}/signals/letter`, text);
  const early = await send("early");
  expect(early).toMatchObject({ status: 202, body: { execution_id: id, name: "letter" } });
  engine.startWorker("one");
  // The first is taken; two calls wait for one each.
  await engine.untilIs(id, ({ worker, waiting }) => worker === null && waiting.length === 2);
  await send("for the older");
  await engine.server.kill();
  engine.startServerAgain();
  const { waiting } = await engine.untilIs(id, ({ waiting }) => waiting.length === 1);
  expect(waiting).toMatchObject([{ kind: "signal", name: "letter" }]);
  await send("for the younger");
  expect(await engine.untilEnded(id)).toMatchObject({
    state: "COMPLETED",
    output: ["early", "for the older", "for the younger"],
  });
});

test("EXE-53 signals that nobody takes are dropped at the end with a warning; a later one is refused", async () => {
  await using engine = await startEngine({ workers: [] });
  await engine.register("mailbox");
  const id = await engine.start("mailbox");
  const send = (text: string) => engine.cli("execution", "signal", id, "letter", text);
  for (const text of ["one", "two", "three", "four"])
    expect(await send(text)).toMatchObject({ code: 0 });
  engine.startWorker("one");
  expect(await engine.untilEnded(id)).toMatchObject({ output: ["one", "two", "three"] });
  const log = await engine.http.log(id);
  const warnings = log.filter(({ type }) => type === "WORKFLOW_WARNING");
  expect(warnings.map(({ value }) => value)).toMatchObject([{ code: "signal_dropped" }]);
  expect(await send("late")).toMatchObject({ code: 1, stderr: expect.stringMatching(/COMPLETED/) });
});
