import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";

export function conformance(open: Open): void {
  test("AUTH-34 nobody is known of an id that was never a principal's", async () => {
    const store = await opened(open);
    expect(await store.principalRefs.refs(["nobody", "nothing"])).toEqual([]);
    expect(await store.principalRefs.refs([])).toEqual([]);
  });
}
