import { expect, test } from "vitest";
import { printedReplays } from "./command-replays.ts";

test("what the command prints is read, with the reason where there is one", () => {
  const printed = [
    { execution_id: "a", result: "ok" },
    { execution_id: "b", result: "diverged", failure: { message: "another way" } },
    { execution_id: "c", result: "unverifiable", reason: "a value is missing" },
  ];
  const stdout = JSON.stringify(printed);
  expect(printedReplays({ code: 1, stdout, stderr: "" }).map(({ reason }) => reason)).toEqual([
    "",
    "another way",
    "a value is missing",
  ]);
});

test("planted: the command breaks down", () => {
  const [replay] = printedReplays({ code: 1, stdout: "", stderr: "TypeError" });
  expect(replay).toMatchObject({ execution_id: null, result: "crashed" });
  expect(replay?.reason).toContain("TypeError");
});
