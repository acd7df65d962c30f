import { expect, test } from "vitest";
import { type Open, opened } from "./opened.ts";

export function conformance(open: Open): void {
  test("a server that says that it lives is among those that do", async () => {
    const store = await opened(open);
    expect(await store.replicas.note("replica-1")).toMatchObject([
      { replica: "replica-1", silent_ms: 0 },
    ]);
    await store.replicas.remove("replica-1");
    await store.replicas.remove("replica-1");
  });
}
