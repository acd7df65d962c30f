import type { Identity } from "@engine/contract";
import { expect, test } from "vitest";
import { UseNotes } from "./use-notes.ts";

const identity = (id: string, key: string): Identity =>
  ({ id, credential: { kind: "api_key", id: key, expires_at: null } }) as unknown as Identity;

test("AUTH-13 a use is written within a second with others, and not again within a minute", async () => {
  const written: object[] = [];
  let now = 0;
  let due: (() => void) | undefined;
  const noteUse = async (used: object) => void written.push(used);
  const notes = new UseNotes({
    store: { identities: { noteUse } },
    clock: () => now,
    setTimer: (then: () => void) => {
      due = then;
      return () => {
        due = undefined;
      };
    },
    log: { debug() {} },
  } as unknown as ConstructorParameters<typeof UseNotes>[0]);
  const passed = async (ms: number) => {
    now += ms;
    due?.();
    due = undefined;
    await Promise.resolve();
  };
  for (let n = 0; n < 3; n++) notes.note(identity("ada", "k1"));
  notes.note(identity("bob", "k2"));
  await passed(1_000);
  expect(written).toEqual([{ at: 1_000, keys: ["k1", "k2"], principals: ["ada", "bob"] }]);
  now = 30_000;
  notes.note(identity("ada", "k1"));
  expect(due).toBeUndefined();
  notes.note(identity("ada", "k3"));
  now = 61_000;
  notes.note(identity("ada", "k1"));
  await passed(0);
  expect(written[1]).toEqual({ at: 61_000, keys: ["k3", "k1"], principals: ["ada"] });
});
