import { expect, test } from "vitest";
import { pinnedVersions } from "./pinned-versions.ts";
import { broken, sampleEvidence } from "./testing/sample-evidence.ts";

test("I24 code of the version it was created for is right", () => {
  expect(pinnedVersions(sampleEvidence())).toEqual([]);
});

test("I24 code of another version is found", () => {
  const evidence = broken(({ bodies }) => {
    bodies[2].version = 2;
  });
  expect(pinnedVersions(evidence)).toMatchObject([
    { execution_id: "e2", message: expect.stringContaining("code of version 2") },
  ]);
});

test("I24 an execution that was moved to another version is found", () => {
  const evidence = broken(({ commits }) => {
    commits[3].row.module_hash = "m2";
  });
  expect(pinnedVersions(evidence)).toMatchObject([{ execution_id: "e1" }]);
});
