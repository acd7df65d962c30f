import type { ExecutionRecord } from "@engine/contract";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { createHome } from "../harness/home.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";
import { CHROMIUM, launch, WITHOUT_CHROMIUM } from "./chromium.ts";
import { type ForeignSite, startForeignSite, startRebound } from "./foreign-site.ts";

/** What a page of somebody else's knows: far more than it could. */
interface Target {
  readonly url: string;
  readonly workflow: string;
  readonly running: string;
  readonly ended: string;
}

/** Runs one of `attacks.js` in the page. @returns What it could read. */
function attack(page: Page, name: string, of: Target): Promise<readonly string[]> {
  return page.evaluate(
    ([name, of]) => (globalThis as unknown as AttackPage).attacks[name]?.(of) ?? ["no such attack"],
    [name, of] as const,
  );
}

interface AttackPage {
  readonly attacks: Readonly<Record<string, (of: Target) => Promise<readonly string[]>>>;
}

const SECRET = "the-secret-of-the-vault";
const vault = `
import { pause, workflow } from "@engine/sdk";
export const vault = workflow({ name: "vault" }, async (open: unknown) => {
  if (open !== true) await pause("approval");
  return "${SECRET}";
});
`;

if (CHROMIUM === undefined) process.stderr.write(`\n${WITHOUT_CHROMIUM}\n\n`);

const stack = new AsyncDisposableStack();
let browser: Browser;
let http: Http;
let target: Target;
let before: unknown;

/** Everything that an attack could have changed. */
async function state(): Promise<unknown> {
  const [workflows, executions, events] = await Promise.all([
    http.get("/workflows"),
    http.get("/executions"),
    http.get(`/executions/${target.running}/events`),
  ]);
  return { workflows: workflows.body, executions: executions.body, events: events.body };
}

beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  const home = stack.use(await createHome());
  await home.write("vault.ts", vault);
  const dev = stack.use(new CliProcess(["dev", "--port", "0"], { cwd: home.path }));
  const url = await serverUrl(dev);
  http = new Http(url);
  await dev.printed(/Watching/);
  const start = async (input: unknown) => {
    const path = "/workflows/default/vault/run/async";
    return (await http.post<ExecutionRecord>(path, input)).body.execution_id;
  };
  const [running, ended] = [await start(false), await start(true)];
  const isIn = async (id: string, wanted: string) =>
    (await http.get<ExecutionRecord>(`/executions/${id}`)).body.state === wanted;
  await until("one is paused", () => isIn(running, "PAUSED"));
  await until("the other one has ended", () => isIn(ended, "COMPLETED"));
  target = { url, workflow: "vault", running, ended };
  before = await state();
  browser = await launch("MAP *.test 127.0.0.1");
});

afterAll(async () => {
  await browser?.close();
  await stack.disposeAsync();
});

/** The names of all of them. */
async function attacks({ port }: ForeignSite): Promise<readonly string[]> {
  const page = await browser.newPage();
  await page.goto(`http://evil.test:${port}/`);
  const names = await page.evaluate(() =>
    Object.keys((globalThis as unknown as AttackPage).attacks),
  );
  await page.close();
  expect(names.length).toBeGreaterThan(7);
  return names;
}

test.skipIf(CHROMIUM === undefined)(
  "NET-4 a page of another site, open in a browser of this machine, changes nothing and reads nothing",
  async () => {
    await using site = await startForeignSite();
    // Another site, another port of this machine, and this machine by another name.
    for (const name of ["evil.test", "localhost", "127.0.0.1"]) {
      for (const kind of await attacks(site)) {
        const page = await browser.newPage();
        await page.goto(`http://${name}:${site.port}/`);
        const read = await attack(page, kind, target);
        expect([name, kind, read.join("").slice(0, 200)]).toEqual([name, kind, ""]);
        await page.close();
      }
    }
    expect(await state()).toEqual(before);
  },
);

test.skipIf(CHROMIUM === undefined)(
  "NET-4 a link of another site that cancels, clicked, cancels nothing",
  async () => {
    await using site = await startForeignSite();
    const page = await browser.newPage();
    await page.goto(`http://evil.test:${site.port}/`);
    const link = `${target.url}/workflows/default/vault/cancel/${target.running}`;
    const [answer] = await Promise.all([
      page.waitForResponse(link),
      attack(page, "follows a link", { ...target, url: link }),
    ]);
    expect(answer.status()).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: "origin_denied" } });
    expect(await state()).toEqual(before);
    await page.close();
  },
);

test.skipIf(CHROMIUM === undefined)(
  "NET-5 a page whose name is made to lead to the server reads nothing and changes nothing",
  async () => {
    await using site = await startForeignSite();
    for (const kind of await attacks(site)) {
      await using rebound = await startRebound(Number(new URL(target.url).port));
      const page = await browser.newPage();
      await page.goto(`http://rebound.test:${rebound.port}/`);
      rebound.rebind();
      const own = { ...target, url: `http://rebound.test:${rebound.port}` };
      const read = await attack(page, kind, own);
      // It is its own origin, so it reads what it is answered: that this is not its name.
      for (const text of read) {
        expect([kind, text]).toEqual([
          kind,
          expect.stringMatching(/^$|host_not_allowed|somebody else/),
        ]);
        expect(text).not.toContain(SECRET);
      }
      await page.close();
    }
    expect(await state()).toEqual(before);
  },
);

test.skipIf(CHROMIUM === undefined)("NET-4 whoever types the address is answered", async () => {
  const page = await browser.newPage();
  const answer = await page.goto(`${target.url}/executions/${target.ended}`);
  expect(answer?.status()).toBe(200);
  expect(await answer?.text()).toContain(SECRET);
  await page.close();
});
