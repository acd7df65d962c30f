import { expect, test } from "vitest";
import { singleWriter } from "./single-writer.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I6 writes of the owner are right", () => {
  expect(singleWriter(sampleEvidence())).toEqual([]);
});

test("I6 a checkpoint that was accepted under an old generation is found", () => {
  const evidence = broken(({ writes }) => {
    writes[1].generation = 1;
  });
  expect(singleWriter(evidence)).toMatchObject([
    { execution_id: "e1", message: expect.stringContaining("under generation 2") },
  ]);
});

test("I6 a checkpoint of another session is found, one that was refused is not", () => {
  const accepted = broken(({ writes }) => {
    writes[0].session = "other";
  });
  expect(singleWriter(accepted)).toHaveLength(1);
  const refused = broken(({ writes }) => {
    writes[0].session = "other";
    writes[0].accepted = false;
  });
  expect(singleWriter(refused)).toEqual([]);
});

test("I6 what was acknowledged and is in no commit is found", () => {
  const evidence = broken(({ writes: [write] }) => {
    if (write?.kind === "checkpoint") write.base_seq = 60;
  });
  expect(singleWriter(evidence)).toMatchObject([
    { message: expect.stringContaining("no commit has") },
  ]);
});

test("I6 what was sent again under a later generation is right", () => {
  const evidence = broken(({ writes }) => {
    writes[0].generation = 2;
  });
  expect(singleWriter(evidence)).toEqual([]);
});

test("I6 progress that was taken long after another generation began is found", () => {
  const evidence = broken(({ writes, ended_at }) => {
    const [{ session, execution_id }] = writes;
    const write = { session, execution_id, generation: 1, accepted: true };
    writes.push({ ...write, kind: "progress", at: ended_at });
  });
  expect(singleWriter(evidence)).toMatchObject([{ message: expect.stringContaining("progress") }]);
});
