import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";

export function conformance(open: Open): void {
  test("AUTH-57 a fresh store has one row of epochs, all of them at nothing", async () => {
    const store = await opened(open);
    expect(await store.epochs.read()).toEqual({
      ...{ identity: 0, masks: 0, services: 0, catalog: 0, hooks: 0 },
    });
  });
}
