import { expect, test } from "vitest";
import { identityWrite, madePrincipal, PROVIDER } from "./identity.ts";
import { type Open, opened } from "./opened.ts";

export function conformance(open: Open): void {
  test("AUTH-34 principals are shown by their ids, those that were deleted too", async () => {
    const store = await opened(open);
    await madePrincipal(store, "bot", { id: "id-2" });
    await madePrincipal(store, "ann", { id: "id-1", type: "user", issuer: PROVIDER });
    const bot = { id: "id-2", subject: "bot", issuer: "engine", type: "service_account" };
    const ann = { id: "id-1", subject: "ann", issuer: PROVIDER, type: "user" };
    expect(await store.principalRefs.refs(["id-2", "nobody", "id-1"])).toEqual([ann, bot]);
    expect(await store.principalRefs.refs([])).toEqual([]);
    await store.principals.delete("id-2", { force: true }, identityWrite("principals.delete"));
    // A later principal of that subject is another one.
    await madePrincipal(store, "bot", { id: "id-3" });
    expect(await store.principalRefs.refs(["id-3", "id-2"])).toEqual([bot, { ...bot, id: "id-3" }]);
  });
}
