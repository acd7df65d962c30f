import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type StartedDev, startDev } from "../started-dev.ts";

// A server, a worker and threads start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A workflow of one call and a pause. */
const order = (call: string) => `
import { pause, task, workflow } from "@engine/sdk";
import { rate } from "./lib/rate";
const ${call} = task({ name: "${call}" }, async (n: number) => n * rate);
export const order = workflow({ name: "order" }, async (n: number) => {
  const cents = await ${call}(n);
  await pause("review");
  return cents;
});
`;
const FILES = { "order.ts": order("charge"), "lib/rate.ts": "export const rate = 2;\n" };

function save({ cwd }: StartedDev, file: string, text: string): void {
  mkdirSync(join(cwd, file, ".."), { recursive: true });
  writeFileSync(join(cwd, file), text);
}

async function start({ engine }: StartedDev): Promise<string> {
  const run = ["workflow", "run", "order", "5", "--mode", "sync", "--format", "json"];
  return JSON.parse((await engine(...run)).out).execution_id;
}

test("EXE-95 a save of an imported file is a new version, and what runs goes on with its own", async () => {
  await using dev = await startDev(FILES, { watch: true });
  expect(dev.io.printed()).toMatch(/\nWatching 2 files: .*\n$/);
  const id = await start(dev);
  save(dev, "lib/rate.ts", "export const rate = 3;\n");
  await dev.untilPrinted(/^\d\d:\d\d:\d\d {3}order {3}new version 2 {3}order\.ts$/m);
  await dev.untilPrinted(/^\S+ {3}order {3}1 live execution replayed on version 2: 1 ok$/m);
  const resumed = await dev.engine("workflow", "resume", "order", id, "--format", "json");
  expect(JSON.parse(resumed.out)).toMatchObject({ state: "COMPLETED", version: 1, output: 10 });
  save(dev, "lib/rate.ts", "export const rate = 3;\n");
  await dev.untilPrinted(/order {3}unchanged, version 2 {3}order\.ts/);
});

test("EXE-28 EXE-95 a save that live executions could not go on with prints the divergence and changes none", async () => {
  await using dev = await startDev(FILES, { watch: true });
  const id = await start(dev);
  const before = (await dev.engine("execution", "events", id)).out;
  save(dev, "order.ts", order("invoice"));
  const [shown] = await dev.untilPrinted(
    /order {3}1 live execution replayed on version 2: 1 diverged \(it keeps its version\)\n[\s\S]*?found .*/,
  );
  expect(shown).toMatch(
    new RegExp(
      `\\n✗ diverged       ${id}   v1 paused\n    replay diverged at position 0: .*\n      expected  charge~1 .*\n      found     invoice~1 +order\\.ts:6:`,
    ),
  );
  expect((await dev.engine("execution", "events", id)).out).toBe(before);
});

test("EXE-95 a file with issues keeps its last good version, says all of them, and recovers", async () => {
  await using dev = await startDev(FILES, { watch: true });
  save(dev, "order.ts", order("charge").replace("n * rate);", "n * rate;\nexport const = 1;"));
  await dev.untilPrinted(/^order\.ts:\d+:\d+ syntax_error /m);
  await dev.untilPrinted(
    /^error: order\.ts cannot be registered; still served: order at version 1$/m,
  );

  save(dev, "order.ts", order("charge").replace("./lib/rate", "./lib/tariff"));
  await dev.untilPrinted(/^order\.ts:3:22 unresolved_import \.\/lib\/tariff does not exist/m);
  // Two at once, which the server tells.
  save(
    dev,
    "order.ts",
    `${order("charge")}export const a = workflow({ name: process.env.A }, async () => 1);\nexport const b = workflow({ name: process.env.B }, async () => 1);\n`,
  );
  await dev.untilPrinted(/^order\.ts:10:\d+ not_static [\s\S]*^order\.ts:11:\d+ not_static /m);
  const served = await dev.engine("workflow", "versions", "order", "--format", "json");
  expect(JSON.parse(served.out)).toMatchObject({ total: 1 });

  save(dev, "order.ts", order("invoice"));
  await dev.untilPrinted(/order {3}new version 2 {3}order\.ts/);
});

test("EXE-95 files that come, move and go are followed; what is registered stays", async () => {
  await using dev = await startDev(FILES, { watch: true });
  const hello = (text: string) =>
    `import { workflow } from "@engine/sdk";\nexport const hi = workflow({ name: "hi" }, async () => ${text});\n`;
  save(dev, "more/hi.ts", hello("1"));
  await dev.untilPrinted(/hi {3}new version 1 {3}more\/hi\.ts/);
  renameSync(join(dev.cwd, "more/hi.ts"), join(dev.cwd, "more/hey.ts"));
  await dev.untilPrinted(/hi {3}(new version 2|unchanged, version 1) {3}more\/hey\.ts/);
  rmSync(join(dev.cwd, "more"), { recursive: true });
  await dev.untilPrinted(/hi {3}deleted, version \d stays registered {3}more\/hey\.ts/);
  expect(dev.io.printed()).not.toMatch(/two files|deleted.*more\/hi\.ts/);
  const run = await dev.engine("workflow", "run", "hi", "--mode", "sync", "--format", "json");
  expect(JSON.parse(run.out)).toMatchObject({ state: "COMPLETED" });

  // Neither is anybody's source.
  save(dev, "node_modules/x/flow.ts", hello("2"));
  save(dev, ".engine/flow.ts", hello("3"));
  save(dev, "more/hi.ts", hello("4"));
  await dev.untilPrinted(/more\/hi\.ts\n$/);
  expect(dev.io.printed()).not.toMatch(/flow\.ts/);
});

test("EXE-63 EXE-95 a file imported for its types alone gives the schema, and a save of it a new one", async () => {
  const type = (total: string) => `export interface Order { total: ${total} }\n`;
  const flow = `import { workflow } from "@engine/sdk";
import type { Order } from "./lib/types";
export const order = workflow({ name: "order" }, async (order: Order) => order.total);
`;
  await using dev = await startDev({ "order.ts": flow }, { watch: true });
  const total = async () => {
    const shown = await dev.engine("workflow", "show", "order", "--format", "json");
    return JSON.parse(shown.out).input_schema?.properties.total;
  };
  expect(await total()).toBeUndefined();
  save(dev, "lib/types.ts", type("number"));
  await dev.untilPrinted(/order {3}new version 2 {3}order\.ts/);
  expect(await total()).toEqual({ type: "number" });
  save(dev, "lib/types.ts", type("string"));
  await dev.untilPrinted(/order {3}new version 3 {3}order\.ts/);
  expect(await total()).toEqual({ type: "string" });
});

test("EXE-95 without any file it waits for the first one; without a watch nothing is said of it", async () => {
  await using dev = await startDev({}, { watch: true });
  expect(dev.io.printed()).toMatch(/No workflow files in .* then: save it there\n/);
  save(dev, "lib/rate.ts", FILES["lib/rate.ts"]);
  save(dev, "order.ts", FILES["order.ts"]);
  await dev.untilPrinted(/order {3}new version 1 {3}order\.ts/);
  expect(await dev.stop()).toBe(0);

  await using still = await startDev(FILES);
  expect(still.io.printed()).not.toContain("Watching");
});
