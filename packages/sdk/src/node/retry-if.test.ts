import { expect, test } from "vitest";
import { task, workflow } from "../index.ts";
import { Scene } from "./testing/scene.ts";

async function attemptsWith(retryIf: () => boolean | Promise<boolean>) {
  let attempts = 0;
  const undone: number[] = [];
  const flaky = task(
    {
      name: "flaky",
      retry: { maxAttempts: 3, delay: 1, retryIf },
      rollback: () => void undone.push(attempts),
    },
    () => {
      attempts++;
      throw new Error(`attempt ${attempts}`);
    },
  );
  const scene = new Scene([workflow({ name: "w" }, async () => flaky())]);
  const row = await scene.run();
  return { attempts, undone, row };
}

test.each<[string, () => boolean | Promise<boolean>, number]>([
  ["true", () => true, 3],
  ["false", () => false, 1],
  ["a promise of true", async () => true, 3],
  ["a promise of false", async () => false, 1],
])("EXE-38 retryIf gives %s", async (_, retryIf, expected) => {
  const { attempts, undone, row } = await attemptsWith(retryIf);
  expect(attempts).toBe(expected);
  expect(undone).toEqual([expected]);
  expect(row.failure).toMatchObject({ message: `attempt ${expected}`, attempts: expected });
  expect(row.failure?.details).toEqual({ at: expect.any(String) });
});

test.each<[string, () => boolean | Promise<boolean>]>([
  [
    "throws",
    () => {
      throw new RangeError("no such code");
    },
  ],
  [
    "rejects",
    async () => {
      throw new RangeError("no such code");
    },
  ],
])(
  "EXE-38 a retryIf that %s ends the attempts: the task's own failure tells of it",
  async (_, retryIf) => {
    const { attempts, undone, row } = await attemptsWith(retryIf);
    expect([attempts, undone]).toEqual([1, [1]]);
    expect(row.failure).toMatchObject({
      message: "attempt 1",
      details: { retry_if: { type: "RangeError", message: "no such code" } },
    });
  },
);

test.each([
  [42n, "42n"],
  [Symbol("s"), "Symbol(s)"],
  [undefined, "undefined"],
  ["text", "text"],
  [{ a: 1 }, '{"a":1}'],
])("EXE-36 what is no Error is recorded in words: %s", async (thrown, message) => {
  // Another way to throw what is no Error.
  const throws = task({ name: "throws" }, () => Promise.reject(thrown as unknown as Error));
  const scene = new Scene([workflow({ name: "w" }, async () => throws())]);
  const row = await scene.run();
  expect(row.failure).toMatchObject({ type: "NonError", message });
});
