import { rename, writeFile } from "node:fs/promises";
import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { createHome, type Home } from "../harness/home.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";

/** Books twice; the first booking lasts until the file that the input names is there. */
const shop = (second: string) => `
import { existsSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { task, workflow } from "@engine/sdk";
import { label } from "./label";
const prepare = task({ name: "prepare" }, async () => label);
const book = task({ name: "book" }, async (file: string) => {
  while (!existsSync(file)) await wait(20);
  return label;
});
const ${second} = task({ name: "${second}" }, async () => label);
export const shop = workflow({ name: "shop" }, async (file: string) => [
  await prepare(),
  await book(file),
  await ${second}(),
]);
`;
const label = (text: string) => `export const label = "${text}";\n`;

interface Shop extends AsyncDisposable {
  readonly home: Home;
  readonly dev: CliProcess;
  readonly http: Http;
  /** Starts an execution; it has recorded its first call when this resolves. */
  start(): Promise<string>;
  /** Lets every execution go on. */
  open(): Promise<unknown>;
  ended(id: string): Promise<ExecutionRecord>;
}

async function startShop(): Promise<Shop> {
  const home = await createHome();
  await home.write("shop.ts", shop("ship"));
  await home.write("label.ts", label("one"));
  const dev = new CliProcess(["dev", "--port", "0"], { cwd: home.path });
  const http = new Http(await serverUrl(dev));
  await dev.printed(/Watching 2 files/);
  return {
    home,
    dev,
    http,
    async start() {
      const file = home.file("open");
      const { body } = await http.post<ExecutionRecord>("/workflows/default/shop/run/async", file);
      await until("its first call is recorded", async () => {
        const log = await http.log(body.execution_id);
        return log.some(({ type }) => type === "TASK_COMPLETED");
      });
      return body.execution_id;
    },
    open: () => home.write("open", ""),
    async ended(id) {
      await until("it has ended", async () => (await http.execution(id)).state === "COMPLETED");
      return http.execution(id);
    },
    async [Symbol.asyncDispose]() {
      await dev.kill();
      await home[Symbol.asyncDispose]();
    },
  };
}

test("EXE-95 a save is a new version for the next run; the one in flight keeps its own and ends", async () => {
  await using shop = await startShop();
  const { home, dev, http } = shop;
  const inFlight = await shop.start();
  // As most editors save: a file of another name, put in the place of the old one.
  await writeFile(home.file(".label.ts.tmp"), label("two"));
  await rename(home.file(".label.ts.tmp"), home.file("label.ts"));
  await dev.printed(/shop {3}new version 2 {3}shop\.ts/);
  await dev.printed(/shop {3}1 live execution replayed on version 2: 1 ok/);

  const next = await shop.start();
  expect(await http.execution(inFlight)).toMatchObject({ state: "RUNNING", version: 1 });
  await shop.open();
  expect(await shop.ended(inFlight)).toMatchObject({ version: 1, output: ["one", "one", "one"] });
  expect(await shop.ended(next)).toMatchObject({ version: 2, output: ["two", "two", "two"] });
});

test("EXE-28 EXE-95 code that a run in flight could not go on with prints the divergence, and the run ends", async () => {
  await using engine = await startShop();
  const { home, dev } = engine;
  const inFlight = await engine.start();
  await home.write("shop.ts", shop("ship").replace("await prepare(),", ""));
  const [shown] = await dev.printed(/replayed on version 2: 1 diverged[\s\S]*found .*\n/);
  expect(shown).toContain(`✗ diverged       ${inFlight}   v1 running`);
  expect(shown).toMatch(/expected {2}prepare~1 .*\n +found {5}book~1 +shop\.ts:/);
  await engine.open();
  expect(await engine.ended(inFlight)).toMatchObject({ version: 1, output: ["one", "one", "one"] });
});

test("EXE-95 a syntax error keeps the last good version at work until it is corrected", async () => {
  await using engine = await startShop();
  const { home, dev, http } = engine;
  await engine.open();
  await home.write("shop.ts", `${shop("ship")}export const = 1;\n`);
  await dev.printed(/shop\.ts:17:14 syntax_error /);
  await dev.printed(/shop\.ts cannot be registered; still served: shop at version 1/);
  const { body } = await http.post<ExecutionRecord>(
    "/workflows/default/shop/run/sync",
    home.file("open"),
  );
  expect(body).toMatchObject({ state: "COMPLETED", version: 1 });

  await home.write("shop.ts", shop("send"));
  await dev.printed(/shop {3}new version 2 {3}shop\.ts/);
});

test("EXE-95 code that was changed while dev was away is replayed when it starts, also without a watch", async () => {
  await using engine = await startShop();
  const { home, dev } = engine;
  const id = await engine.start();
  await dev.kill();
  await home.write("shop.ts", shop("send").replace("await prepare(),", ""));
  await using next = new CliProcess(["dev", "--port", "0", "--no-watch"], { cwd: home.path });
  await next.printed(/shop +2 +created/);
  const [shown] = await next.printed(/1 live execution replayed on version 2: 1 diverged .*\n.*/);
  expect(shown).toContain(id);
});

test("EXE-95 Ctrl-C lets a run end its task, a second one ends dev at once", async () => {
  await using engine = await startShop();
  const { dev } = engine;
  await engine.start();
  dev.signal("SIGINT");
  await dev.printed(/stopping: running work gets time to finish/);
  dev.signal("SIGINT");
  expect((await dev.result()).code).toBe(1);

  await using idle = await startShop();
  idle.dev.signal("SIGINT");
  expect((await idle.dev.result()).code).toBe(0);
});
