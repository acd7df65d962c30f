import { readFileSync } from "node:fs";
import { History } from "@engine/contract";
import { expect, test, vi } from "vitest";
import { type Ran, type StartedDev, startDev } from "../../started-dev.ts";

// A server and a worker start here, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const FLOWS = `
import { call, pause, signal, sleep, task, workflow } from "@engine/sdk";
const reserve = task({ name: "reserve" }, async (n: number) => "reserved " + n);
const charge = task({ name: "charge" }, async (n: number) => "charged " + n);
export const order = workflow({ name: "order", namespace: "shop" }, async (n: number) => {
  const got = [await reserve(n), await charge(n)];
  return n > 99 ? got : [...got, await pause("review", { after: "2d" })];
});
export const parcel = workflow({ name: "parcel" }, async () => signal("address"));
export const night = workflow({ name: "night" }, async () => sleep("3d"));
export const parent = workflow({ name: "parent" }, async () => call(parcel, null));
`;

/** Starts a workflow and answers its id once it waits for something. */
async function waiting({ engine }: StartedDev, ...args: string[]): Promise<string> {
  const started = await engine("workflow", "run", ...args, "--format", "json");
  const { execution_id } = JSON.parse(started.out);
  await vi.waitFor(
    async () => expect(await recordOf(engine, execution_id)).toHaveProperty("waiting.0"),
    { timeout: 20_000 },
  );
  return execution_id;
}

async function recordOf(engine: StartedDev["engine"], id: string) {
  return JSON.parse((await engine("execution", "show", id, "--format", "json")).out);
}

test("EXE-95 show and list say what an execution waits for, and until when", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;
  const order = await waiting(dev, "shop/order", "7");
  const night = await waiting(dev, "night");
  const parent = await waiting(dev, "parent");
  const [{ execution_id: child }] = (await recordOf(engine, parent)).waiting;

  const show = async (id: string) =>
    /waits for +(.*)/.exec((await engine("execution", "show", id)).out)?.[1];
  expect(await show(order)).toMatch(
    /^pause review, until \S+Z \(in 1 d 23 h\), since (just now|\d.*)$/,
  );
  expect(await show(night)).toMatch(/^sleep until \S+Z \(in 2 d 23 h\)$/);
  expect(await show(parent)).toBe(`child default/parcel ${child}`);
  // Its parent waits for it from its creation on.
  await vi.waitFor(async () => expect(await show(child)).toBe("signal address"), {
    timeout: 20_000,
  });
  expect((await engine("execution", "show", child)).out).toMatch(
    new RegExp(`part of +${parent}, its call call~1`),
  );

  const { out } = await engine("execution", "list");
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(out).toMatch(/night v1 .* sleep \(in 2 d\)$/m);
  expect(out).toMatch(/shop\/order v1 .* pause review \(in 1 d\)$/m);
});

test("EXE-85 EXE-95 list shows the children of one execution, or only those that are nobody's", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;
  const parent = await waiting(dev, "parent");
  const listed = async (...args: string[]) => {
    const { out } = await engine("execution", "list", ...args, "--format", "json");
    return JSON.parse(out).items.map(({ workflow }: { workflow: string }) => workflow);
  };
  expect(await listed()).toEqual(["parcel", "parent"]);
  expect(await listed("--parent", parent)).toEqual(["parcel"]);
  expect(await listed("--root")).toEqual(["parent"]);
  expect(await engine("execution", "list", "--parent", parent, "--root")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/'--root' cannot be used with .*--parent/),
  });
});

test("EXE-53 EXE-95 signal reaches the call that waits for it", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;
  const id = await waiting(dev, "parcel");
  const sent = await engine("execution", "signal", id, "address", '{"zip":"10115"}');
  expect(sent).toMatchObject({ code: 0, err: "" });
  expect(sent.out).toMatch(new RegExp(`^Sent address to ${id}, event \\d+ of its log\n$`));
  await vi.waitFor(
    async () =>
      expect(await recordOf(engine, id)).toMatchObject({
        state: "COMPLETED",
        output: { zip: "10115" },
      }),
    { timeout: 20_000 },
  );
  expect(await engine("execution", "signal", id, "address")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringMatching(/^error: .*COMPLETED/),
  });
});

test("EXE-87 EXE-95 fork goes on from a cut, restart begins anew, and the source stays", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;
  const id = await waiting(dev, "shop/order", "7");

  const fork = ["execution", "fork", id, "--from-call", "charge~1", "--name", "again"];
  const forked = await engine(...fork);
  expect(forked.code).toBe(0);
  expect(forked.out).toMatch(/label +again\n/);
  expect(forked.out).toMatch(new RegExp(`forked from +${id}, event 5\n`));
  expect(forked.err).toMatch(/^follow it with: npx engine execution watch \S+\n$/);

  const restart = ["execution", "restart", id, "--input", "100", "--format", "json"];
  const restarted = JSON.parse((await engine(...restart)).out);
  expect(restarted).toMatchObject({ input: 100, forked_from: { execution_id: id, seq: 0 } });
  await vi.waitFor(
    async () =>
      expect(await recordOf(engine, restarted.execution_id)).toMatchObject({
        output: ["reserved 100", "charged 100"],
      }),
    { timeout: 20_000 },
  );
  expect(await recordOf(engine, id)).toMatchObject({ state: "PAUSED", input: 7 });

  const seq = ["execution", "fork", id, "--from-seq", "5"];
  for (const [args, code, err] of [
    [[...seq, "--from-call", "charge~1"], 2, /'--from-seq <n>' cannot be used with .*--from-call/],
    [[...seq, "--input", "8"], 1, /^error: .*input/],
    [["execution", "fork", id, "--from-call", "ship~1"], 1, /has no call ship~1/],
    [["execution", "restart", id, "--version", "9"], 1, /no version 9 of shop\/order/],
  ] as const) {
    const refused: Ran = await engine(...args);
    expect(refused).toMatchObject({ code, out: "", err: expect.stringMatching(err) });
  }
});

test("EXE-42 EXE-95 cancel asks, --sync waits until it has ended, and a child goes with it", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine } = dev;
  const id = await waiting(dev, "shop/order", "7");
  const asked = await engine("workflow", "cancel", "shop/order", id, "--reason", "sent twice");
  expect(asked.code).toBe(0);
  const events = await engine("execution", "events", id, "--format", "json");
  expect(
    JSON.parse(events.out).items.find((e: { type: string }) => e.type === "WORKFLOW_CANCELLING"),
  ).toMatchObject({ meta: { reason: "sent twice" } });
  await vi.waitFor(
    async () => expect(await recordOf(engine, id)).toMatchObject({ state: "CANCELLED" }),
    { timeout: 20_000 },
  );
  expect((await engine("execution", "show", id)).out).toMatch(
    /^ *why +the execution was cancelled: sent twice$/m,
  );

  const parent = await waiting(dev, "parent");
  const [{ execution_id: child }] = (await recordOf(engine, parent)).waiting;
  const ended = await engine("workflow", "cancel", "parent", parent, "--sync");
  expect(ended).toMatchObject({ code: 0, err: "" });
  expect(ended.out).toMatch(
    /^⊘ cancelled {2}parent v1\n(.*\n)*? +why +the execution was cancelled\n/,
  );
  expect(ended.out).not.toContain("undefined");
  await vi.waitFor(
    async () => expect(await recordOf(engine, child)).toMatchObject({ state: "CANCELLED" }),
    { timeout: 20_000 },
  );
  expect(await engine("workflow", "cancel", "parent", parent)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: .*CANCELLED/),
  });
});

test("EXE-88 EXE-95 export prints a history, or writes it to a file", async () => {
  await using dev = await startDev({ "flows.ts": FLOWS });
  const { engine, cwd } = dev;
  const id = await waiting(dev, "night");
  const { out } = await engine("execution", "export", id);
  expect(History.parse(JSON.parse(out))).toMatchObject({
    format: 1,
    execution: { execution_id: id, workflow: "night" },
    events: [{ seq: 1, type: "WORKFLOW_CREATED" }, {}, {}, { source_id: "sleep~1" }],
  });
  expect(await engine("execution", "export", id, "--out", "night.json")).toMatchObject({
    code: 0,
    out: "Wrote 4 events to night.json\n",
  });
  expect(readFileSync(`${cwd}/night.json`, "utf8")).toBe(out);
  expect(await engine("execution", "export", id, "--out", "gone/night.json")).toMatchObject({
    code: 2,
    err: "error: --out gone/night.json: the file cannot be written (ENOENT)\n",
  });
});
