import { Config } from "@engine/contract";
import { startServer } from "@engine/server";
import { openSqliteStore } from "@engine/store";
import { expect, onTestFinished, test, vi } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { startDev } from "../../started-dev.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const charge = (hooks: string) => `import { workflow } from "@engine/sdk";
export const charge = workflow(
  { name: "charge", hooks: [${hooks}] },
  async () => 1,
);
`;
const PAGE = `import { workflow } from "@engine/sdk";
export const page = workflow({ name: "page", namespace: "ops" }, async () => 1);
`;
const HOOK = `{ on: "failed", workflow: "ops/page", principal: "ops-bot", name: "page-me" }`;

/** The command line of somebody whose folder has these files. */
async function start(files: Readonly<Record<string, string>>) {
  const store = await openSqliteStore({
    ...{ path: ":memory:", synchronous: "normal", clock: Date.now },
  });
  const config = Config.parse({ server: { port: 0 } });
  const server = await startServer({ config, store, log: silent, version: "1.2.3" });
  const folder = temporaryFolder({ ...files });
  onTestFinished(async () => {
    await server.close();
    await store.close();
    folder.remove();
  });
  return async (...args: readonly string[]) => {
    const io = capturedIo({ cwd: folder.path, env: { ENGINE_SERVER_URL: server.url } });
    const code = await runCli(args, io);
    return { code, out: io.printed(), err: io.complained() };
  };
}

test("HOOK-47 HOOK-50 a folder is registered with its hooks, whichever of its files has their target", async () => {
  const engine = await start({ "a-charge.ts": charge(HOOK), "ops/page.ts": PAGE });
  const { code, out, err } = await engine("workflow", "register", ".");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/2 files, 2 workflows created, 0 unchanged/);
  expect((await engine("hook", "list")).out).toBe(`✓ page-me → ops/page as ops-bot max 5
  on execution:default:charge:failed
  declared by workflow default/charge
`);
});

test("HOOK-48 a selector that can never fire is shown in its line, with what was meant", async () => {
  const engine = await start({ "charge.ts": charge(HOOK.replace("failed", "started")) });
  const { code, err } = await engine("workflow", "register", "charge.ts");
  expect(code).toBe(1);
  expect(err).toMatch(
    /^charge\.ts:3:35 invalid_selector option hooks\[0\]\.on .*"started" can never fire: did you mean running/,
  );
  expect(err).toMatch(/error: the file cannot be registered; nothing of it was saved\n$/);
});

test("HOOK-50 a hook whose target nobody has is named, with the command that lists what there is", async () => {
  const engine = await start({ "charge.ts": charge(HOOK) });
  const { code, err } = await engine("workflow", "register", "charge.ts");
  expect(code).toBe(1);
  expect(err).toMatch(
    /^error: hook page-me: no workflow ops\/page is registered, .*engine workflow list/,
  );
});

test("HOOK-49 a name that is taken is told with whose it is", async () => {
  const engine = await start({
    "a.ts": charge(HOOK),
    "b.ts": charge(HOOK).replaceAll("charge", "refund"),
    "page.ts": PAGE,
  });
  const { code, err } = await engine("workflow", "register", "page.ts", "a.ts", "b.ts");
  expect(code).toBe(1);
  expect(err).toBe("error: hook page-me exists, declared by default/charge; choose another name\n");
});

test("HOOK-47 HOOK-50 engine dev registers hooks too, whichever of its files has their target", async () => {
  await using dev = await startDev({ "a-charge.ts": charge(HOOK), "page.ts": PAGE });
  expect(dev.io.complained()).not.toMatch(/error|cannot/);
  expect((await dev.engine("hook", "get", "page-me")).out).toMatch(/page-me → ops\/page/);
});
