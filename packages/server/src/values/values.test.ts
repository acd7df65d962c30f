import { envelopeText, type Json, type StoredReference, store } from "@engine/contract";
import { expect, test } from "vitest";
import { TestEngine } from "../testing/start-engine.ts";
import { readValue } from "./read-value.ts";
import { resolveValues } from "./resolve-values.ts";

function envelope(reference: StoredReference): Json {
  return JSON.parse(envelopeText(reference));
}

/** An execution that has ended with this in its log as the output. */
async function completed(t: TestEngine, output: (id: string) => Promise<Json>): Promise<string> {
  const worker = await t.worker();
  const { execution_id } = await t.run("in");
  const assigned = await worker.next("assign");
  await worker.completed(assigned, await output(execution_id));
  return execution_id;
}

const large = new Map([["when", new Date(0)]]);
const custom = { storage_type: "vault", reference_id: "x/call~1", metadata: { region: "eu" } };

test("EXE-49 EXE-86 the record shows the real output, the log the envelope, the event's value all of it", async () => {
  await using t = await TestEngine.start();
  const { text } = store(large, "output");
  let reference: StoredReference | undefined;
  const id = await completed(t, async (execution_id) => {
    reference = await t.values.save(execution_id, text);
    return envelope(reference);
  });
  const row = await t.row(id);
  expect(row.output).toEqual({ $stored: reference });
  expect((await resolveValues(row, t.values)).output).toEqual(JSON.parse(text));
  expect(await readValue(t, id, row.head)).toEqual({ when: "1970-01-01T00:00:00.000Z" });
});

test("EXE-86 a value that the log holds itself is read the same way", async () => {
  await using t = await TestEngine.start();
  const id = await completed(t, async () => JSON.parse(store(large, "output").text));
  const row = await t.row(id);
  expect(await resolveValues(row, t.values)).toBe(row);
  expect(await readValue(t, id, row.head)).toEqual({ when: "1970-01-01T00:00:00.000Z" });
});

test("EXE-49 a value kept inline by its task is shown like any other", async () => {
  await using t = await TestEngine.start();
  const metadata = { value: JSON.parse(store(large, "output").text) };
  const inline = { storage_type: "inline", reference_id: "x/call~1", metadata };
  const id = await completed(t, async () => envelope(inline));
  const row = await t.row(id);
  expect((await resolveValues(row, t.values)).output).toEqual(metadata.value);
  expect(await readValue(t, id, row.head)).toEqual({ when: "1970-01-01T00:00:00.000Z" });
});

test("EXE-86 a value in a storage of the workflow's own is 409 with its envelope", async () => {
  await using t = await TestEngine.start();
  const id = await completed(t, async () => envelope(custom));
  const row = await t.row(id);
  expect((await resolveValues(row, t.values)).output).toEqual({ $stored: custom });
  await expect(readValue(t, id, row.head)).rejects.toMatchObject({
    code: "stored_externally",
    message: expect.stringContaining('"vault"'),
    details: { reference: custom },
  });
});

test("EXE-86 an execution or event that does not exist is 404 by its kind", async () => {
  await using t = await TestEngine.start();
  const { execution_id, head } = await t.run();
  const missing = (resource: string) => ({ code: "not_found", details: { resource } });
  for (const seq of [0, -1, 1.5, Number.NaN, head + 1]) {
    await expect(readValue(t, execution_id, seq)).rejects.toMatchObject(missing("event"));
  }
  await expect(readValue(t, "nobody's", 1)).rejects.toMatchObject(missing("execution"));
});

test("a value that is gone or is not JSON leaves the record readable and is 404 by itself", async () => {
  await using t = await TestEngine.start();
  const id = await completed(t, async (execution_id) =>
    envelope(await t.values.save(execution_id, '{"cut":')),
  );
  const row = await t.row(id);
  const missing = { code: "not_found", details: { resource: "value" } };
  expect(await resolveValues(row, t.values)).toEqual(row);
  await expect(readValue(t, id, row.head)).rejects.toMatchObject(missing);
  t.values.texts.clear();
  expect(await resolveValues(row, t.values)).toEqual(row);
  await expect(readValue(t, id, row.head)).rejects.toMatchObject(missing);
});

test("a storage that does not answer fails the read, so that nobody takes the envelope for the output", async () => {
  await using t = await TestEngine.start();
  const id = await completed(t, async (execution_id) =>
    envelope(await t.values.save(execution_id, "1")),
  );
  const away = { ...t.values, load: () => Promise.reject(new Error("away")) };
  await expect(resolveValues(await t.row(id), away)).rejects.toThrow("away");
});
