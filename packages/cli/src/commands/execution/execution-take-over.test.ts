import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { capturedIo } from "../../io/captured-io.ts";
import { runCli } from "../../run-cli.ts";
import { guardedHost } from "../../testing/guarded-host.ts";

const SHOP = `import { task, workflow } from "@engine/sdk";
const charge = task({ name: "charge" }, async () => null);
export const pay = workflow({ name: "pay", namespace: "shop" }, async () => charge());
export const hello = workflow({ name: "hello", namespace: "shop" }, async (input) => input);
`;
const RUN = ["workflow:shop:*:run", "workflow:shop:*:task:*:execute"];
const READ = ["workflow:shop:*:read", "execution:*:read"];

/** A server with accounts, and executions that nobody runs. */
async function shop() {
  const host = await guardedHost();
  const { client, server } = host;
  await client.catalog.register({ body: { source: SHOP } });
  /** Starts some as a principal, or as nobody: as before authorization was on. */
  const start = async (count: number, subject: string | null, workflow = "hello") => {
    const by = subject === null ? null : (await client.principals.get({ params: { subject } })).id;
    const started = Array.from({ length: count }, () =>
      server.engine.executions.start({
        ...{ namespace: "shop", workflow, input: null, trigger: { kind: "api" }, by },
      }),
    );
    return (await Promise.all(started)).map(({ row }) => row.execution_id);
  };
  const runsAs = async (id: string) =>
    (await client.executions.get({ params: { id } })).body.run_as?.subject ?? null;
  const takeOver = (args: readonly string[], typed: Parameters<typeof host.engine>[1] = {}) =>
    host.engine(["execution", "take-over", ...args], typed);
  return { ...host, start, runsAs, takeOver };
}

test("AUTH-37 AUTH-60 one execution is taken over by its id, or how that begins", async () => {
  const { account, start, takeOver, runsAs } = await shop();
  await account("ada", RUN);
  await account("bot", RUN);
  const [id = ""] = await start(1, "ada");
  const taken = await takeOver([id.slice(0, 30), "--run-as", "bot"]);
  expect(taken).toMatchObject({ code: 0, err: "" });
  expect(taken.out).toMatch(/ {2}started by +ada\n {2}runs as +bot\n/);
  expect(await runsAs(id)).toBe("bot");
  const boss = await account("boss", [...RUN, ...READ]);
  expect(await takeOver([id, "--run-as", "ada"], { token: boss })).toMatchObject({
    code: 1,
    err: expect.stringContaining("principal:ada:impersonate"),
  });
  // To take it oneself takes no more than the right to run it.
  expect((await takeOver([id, "--run-as", "boss"], { token: boss })).code).toBe(0);
  expect(await takeOver([id, "--run-as", "none"])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/none.*does not exist; see all .*principals list/),
  });
});

test("AUTH-37 AUTH-62 --all asks until nothing is left, says how far it is, and takes those of nobody", async () => {
  const { account, start, takeOver, runsAs } = await shop();
  await account("ada", RUN);
  await account("bot", RUN);
  const ids = await start(1003, null);
  const [others = ""] = await start(1, "ada");
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return true;
  };
  const taken = await takeOver(["--all", "--run-as", "bot"], { confirm });
  expect(taken).toEqual({
    code: 0,
    out: "Took over 1003 executions: from now on they run as bot.\n",
    err: "1000 executions taken over, 3 left\n",
  });
  expect(asked).toEqual([
    "This gives every execution that is nobody's and has not ended the rights of bot.\nWhat bot may not run stays as it is.\nTake them over?",
  ]);
  expect(await runsAs(ids[1002] ?? "")).toBe("bot");
  expect(await runsAs(others)).toBe("ada");
  expect((await takeOver(["--all", "--run-as", "bot", "--yes"])).out).toBe(
    "Nothing to take over: you may run no execution of nobody that has not ended.\n",
  );
});

test("AUTH-37 --all takes those of a principal, of a namespace or a workflow, and lists what was refused", async () => {
  const { account, start, takeOver, runsAs } = await shop();
  await account("ada", RUN);
  await account("bot", ["workflow:shop:hello:run"]);
  const [hello = ""] = await start(1, "ada");
  const [pay = ""] = await start(1, "ada", "pay");
  const all = ["--all", "--yes", "--from", "ada", "--run-as", "bot"];
  expect((await takeOver([...all, "-n", "other"])).out).toMatch(/^Nothing to take over: /);
  expect(await takeOver([...all, "--workflow", "other/hello"])).toMatchObject({ code: 0 });
  expect(await runsAs(hello)).toBe("ada");
  expect(await takeOver([...all, "--workflow", "hello"])).toEqual({
    code: 0,
    out: "Took over 1 execution: from now on it runs as bot.\n",
    err: "",
  });
  expect(await runsAs(hello)).toBe("bot");
  expect(await takeOver(all)).toEqual({
    code: 1,
    out: `Nothing was taken over.
bot may not run these:
WORKFLOW   LACKS
shop/pay   workflow:shop:pay:run
           workflow:shop:pay:task:charge:execute
`,
    err: "",
  });
  expect(await runsAs(pay)).toBe("ada");
  const json = await takeOver([...all, "--format", "json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ taken: 0, remaining: 0, refused: [{}] });
});

test("AUTH-60 --all asks before, and without a terminal wants --yes", async () => {
  const { account, start, takeOver, runsAs } = await shop();
  await account("bot", RUN);
  const [id = ""] = await start(1, null);
  const all = ["--all", "--run-as", "bot"];
  expect(await takeOver(all)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await takeOver(all, { confirm: async () => false })).toMatchObject({
    code: 1,
    err: "Nothing was taken over.\n",
  });
  expect(await runsAs(id)).toBe(null);
});

test("AUTH-37 --all gives up where as many are started as are taken over", async () => {
  const web = createServer((request, reply) => {
    request.resume();
    reply.setHeader("content-type", "application/json");
    reply.end(JSON.stringify({ taken: 1000, remaining: 5, refused: [] }));
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void web.close());
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  const io = capturedIo();
  const all = ["--all", "--yes", "--from", "ada", "--run-as", "bot", "--server-url", url];
  expect(await runCli(["execution", "take-over", ...all], io)).toBe(1);
  expect(io.complained()).toMatch(
    /^1000 executions taken over, 5 left\n2000 .*\nerror: no fewer are left than before: .* as ada; stop that first/,
  );
});

test.each([
  [["--run-as", "bot"], /say which executions: the id of one, or --all/],
  [["0198c2f4", "--all", "--run-as", "bot"], /say which executions/],
  [["0198c2f4", "--run-as", "bot", "--from", "ada"], /--from belongs to --all/],
  [["0198c2f4", "--run-as", "bot", "-n", "shop"], /--namespace belongs to --all/],
  [["0198c2f4", "--run-as", "bot", "--workflow", "a/b"], /--workflow belongs to --all/],
  [["--all", "--from", "bot", "--run-as", "bot"], /both bot: there is nothing to take over/],
  [["--all"], /required option '--run-as <subject>' not specified/],
])("AUTH-60 engine execution take-over %j is a usage error", async (args, message) => {
  const { engine } = await guardedHost();
  const { code, err } = await engine(["execution", "take-over", ...args]);
  expect(code).toBe(2);
  expect(err).toMatch(message);
});
