import { expect, test } from "vitest";
import { FakeServer } from "../testing/fake-server.ts";
import { startTestWorker } from "../testing/test-worker.ts";

/** Every line of a bundle as the same line of `lib/prices.ts`, as if it had been written there. */
function withMap(code: string): string {
  const mappings = code
    .split("\n")
    .map((_, line) => (line === 0 ? "AAAA" : "AACA"))
    .join(";");
  const map = {
    version: 3,
    sourceRoot: "workflow:///",
    sources: ["lib/prices.ts"],
    names: [],
    mappings,
  };
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  return `${code}//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}

const FAILING = withMap(`import { task, workflow } from "@engine/sdk";
function price(order) {
  return order.item.price;
}
function total(order) {
  return price(order) * 2;
}
const charge = task({ name: "charge" }, async (order) => total(order));
const deep = task({ name: "deep" }, async () => down(20));
function down(n) {
  if (n === 0) throw new Error("down");
  return down(n - 1);
}
export const shop = workflow({ name: "shop" }, async () => charge({}));
export const dig = workflow({ name: "dig" }, async () => deep());
export const body = workflow({ name: "body" }, async () => {
  throw new RangeError("in the body");
});
`);

test.each(["thread", "process"] as const)(
  "EXE-35 on a %s, a failure names the line that was registered, the event and the worker's log have the stack",
  async (runner) => {
    const server = new FakeServer();
    await using worker = await startTestWorker(server);
    const hash = server.addModule(FAILING);
    const id = server.start("shop", hash, { runner });
    const { failure } = await server.finished(id);
    expect(failure).toMatchObject({ type: "TypeError", details: { at: "lib/prices.ts:3:1" } });

    const [stack = ""] = server.log(id).flatMap(({ type, meta }) => {
      return type === "TASK_FAILED" ? String(meta?.["stack"]) : [];
    });
    expect(stack.split("\n").map((line) => line.replace(/^at (\w+).*\((.*)\)$/, "$1 $2"))).toEqual([
      "price lib/prices.ts:3:1",
      "total lib/prices.ts:6:1",
      expect.stringContaining("lib/prices.ts:8:1"),
    ]);
    const line = worker.lines.find((each) => each.startsWith("warn a task failed")) ?? "";
    expect(line).toContain("TypeError: Cannot read properties of undefined (reading 'price')");
    expect(line).toContain('"at":"lib/prices.ts:3:1"');
    expect(line).toContain("lib/prices.ts:6:1");
    const all = JSON.stringify([server.log(id), failure]);
    expect(all, "no folder of this machine").not.toMatch(/file:|\.mjs|modules\//);
    expect(all).not.toContain(worker.home);

    const inBody = await server.finished(server.start("body", hash, { runner }));
    expect(inBody.failure?.details).toEqual({ at: "lib/prices.ts:17:1" });
    const deep = server.start("dig", hash, { runner });
    await server.finished(deep);
    const [lines = ""] = server.log(deep).flatMap(({ type, meta }) => {
      return type === "TASK_FAILED" ? String(meta?.["stack"]) : [];
    });
    expect(lines.split("\n"), "deeper than the ten lines of V8").toHaveLength(20);
  },
  60_000,
);

test("LIV-6 EXE-35 a bundle that fails as it loads names the line", async () => {
  const server = new FakeServer();
  await using worker = await startTestWorker(server);
  const hash = server.addModule(withMap("const a = {};\nconsole.log(a.b.c);\n"));
  const { failure } = await server.finished(server.start("hello", hash));
  expect(failure).toMatchObject({
    type: "WorkflowLoadError",
    details: { reason: "import_failed", at: "lib/prices.ts:2:1" },
  });
  expect(worker.lines.join("\n")).toContain('"at":"lib/prices.ts:2:1"');
});
