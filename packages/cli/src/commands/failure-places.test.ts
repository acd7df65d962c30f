import { expect, test, vi } from "vitest";
import { startDev } from "../started-dev.ts";

// Real processes and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const PRICES = `export interface Order {
  readonly item: { readonly price: number };
}

function price(order: Order): number {
  return order.item.price;
}

export function total(order: Order): number {
  return price(order) * 2;
}
`;

const ORDERS = `import { task, workflow } from "@engine/sdk";
import { total } from "./lib/prices";

const retry = { maxAttempts: 2, delay: 1 };
const charge = task({ name: "charge", retry }, async (order: never) => total(order));
export const shop = workflow({ name: "shop" }, async () => charge({}));
`;

test("EXE-35 a user whose task fails in a helper of another file is shown the line, and the lines that led there", async () => {
  await using dev = await startDev({ "orders.ts": ORDERS, "lib/prices.ts": PRICES });
  const { engine, io, cwd } = dev;

  const ran = await engine("workflow", "run", "shop", "--mode", "sync");
  expect(ran.code).toBe(1);
  expect(ran.out, "answers go to callers").not.toContain("prices.ts");
  const [, id = ""] = /see where it failed with: .* show (\S+) --detailed/.exec(ran.err) ?? [];

  const shown = await engine("execution", "show", id);
  expect(shown.out).toMatch(
    /error +TypeError: .*'price'\)\n +in lib\/prices\.ts:6:21\n +in call charge~1, after 2 attempts\n/,
  );
  expect(shown.out).not.toContain("orders.ts");

  const detailed = await engine("execution", "show", id, "--detailed");
  const stacks = detailed.out.split(/\n\n/).at(-1) ?? "";
  expect(stacks.replace(/\(orders\.ts:5:\d+\)/g, "(orders.ts:5:N)")).toBe(
    `5  TASK_RETRY_STARTED  charge~1
   at price (lib/prices.ts:6:21)
   at total (lib/prices.ts:10:10)
   at <anonymous> (orders.ts:5:N)
6  TASK_RETRY_FAILED  charge~1
   the same
7  TASK_FAILED  charge~1
   the same
`,
  );

  const line = io.complained().match(/^.*"a task failed".*$/m)?.[0] ?? "{}";
  expect(JSON.parse(line)).toMatchObject({
    execution_id: id,
    task_call_id: "charge~1",
    error: expect.stringMatching(/^TypeError: /),
    at: "lib/prices.ts:6:21",
    stack: expect.arrayContaining(["at total (lib/prices.ts:10:10)"]),
  });
  const json = await engine("execution", "show", id, "--detailed", "--format", "json");
  expect(json.out).not.toContain(cwd);
});
