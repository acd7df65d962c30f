import { expect, test } from "vitest";
import { ServiceNotGrantedError, serviceSocket, task, workflow } from "../index.ts";
import type { LocalServices } from "../replay/port.ts";
import { testEngine } from "../testing/index.ts";
import { nodeHost } from "./host.ts";
import { MemoryExecution } from "./testing/memory-execution.ts";

/** What a task gets that asks for a socket on such a worker. */
async function asked(services: LocalServices | undefined, service = "inference") {
  const ask = task({ name: "ask", retry: { maxAttempts: 3, delay: 0 } }, async (name: string) =>
    serviceSocket(name),
  );
  const flow = workflow({ name: "w" }, async (name: string) => ask(name));
  const options = services && { localServices: () => services };
  const execution = new MemoryExecution(flow, service, nodeHost({ failed() {} }), options);
  await execution.run();
  return execution;
}

const offered = { inference: "/run/inference.sock", cache: "/run/cache.sock" };

test("WMD-3 a task gets the path of a socket that its worker offers and was granted", async () => {
  const { row } = await asked({ offered, granted: ["inference"] });
  expect(row).toMatchObject({ state: "COMPLETED", output: "/run/inference.sock" });
});

test("WMD-3 EXE-37 a service that is not granted fails the call for good, with the command that grants it", async () => {
  const { row, events } = await asked({ offered, granted: ["cache"] });
  expect(row.failure).toMatchObject({
    type: "ServiceNotGrantedError",
    code: "service_not_granted",
    retryable: false,
    attempts: 1,
    details: { service: "inference", reason: "not_granted" },
  });
  expect(row.failure?.message).toContain("engine worker service grant WORKER inference");
  expect(JSON.stringify(events)).not.toContain("/run/");
});

test.each<[string, LocalServices | undefined]>([
  ["no services", undefined],
  ["a grant of what it does not have", { offered: { cache: "/c" }, granted: ["inference"] }],
])("WMD-3 EXE-37 a worker with %s does not offer one", async (_, services) => {
  const { row } = await asked(services);
  expect(row.failure).toMatchObject({
    type: "ServiceNotGrantedError",
    details: { service: "inference", reason: "not_offered" },
  });
  expect(row.failure?.message).toContain("engine.workers.services");
});

test("WMD-3 what every object has is no service", async () => {
  const { row } = await asked({ offered, granted: [] }, "constructor");
  expect(row.failure).toMatchObject({ details: { reason: "not_offered" } });
});

test("WMD-3 a grant that comes or goes while a task runs holds for its next call", async () => {
  let granted: string[] = [];
  const seen: unknown[] = [];
  const look = () => {
    try {
      seen.push(serviceSocket("inference"));
    } catch (error) {
      seen.push(error instanceof ServiceNotGrantedError && error.failure.details?.["reason"]);
    }
  };
  const ask = task({ name: "ask" }, async () => {
    look();
    granted = ["inference"];
    look();
    granted = [];
    look();
  });
  const flow = workflow({ name: "w" }, async () => ask());
  const localServices = () => ({ offered, granted });
  await new MemoryExecution(flow, null, nodeHost(), { localServices }).run();
  expect(seen).toEqual(["not_granted", "/run/inference.sock", "not_granted"]);
});

test("WMD-3 a body catches the failure by its class, in the first run and in a replay", async () => {
  const ask = task({ name: "ask" }, async () => serviceSocket("inference"));
  const after = task({ name: "after" }, async () => "after");
  const engine = testEngine({ alwaysReplay: true, log() {} });
  const flow = workflow({ name: "w" }, async () => {
    const caught = await ask().catch((error: unknown) => error instanceof ServiceNotGrantedError);
    return [caught, await after()];
  });
  expect((await engine.run(flow)).output).toEqual([true, "after"]);
});

test("WMD-3 in a fallback the socket is there as in the task itself", async () => {
  const ask = task(
    { name: "ask", fallback: async () => serviceSocket("inference") },
    async (): Promise<string> => {
      throw new Error("no model");
    },
  );
  const engine = testEngine({ services: { inference: "/run/inference.sock" }, log() {} });
  const { output } = await engine.run(workflow({ name: "w" }, async () => ask()));
  expect(output).toBe("/run/inference.sock");
});

test("WMD-3 a test engine grants the sockets it is given, and offers no other", async () => {
  const ask = task({ name: "ask" }, async (name: string) => serviceSocket(name));
  const flow = workflow({ name: "w" }, async (name: string) => ask(name));
  const engine = testEngine({ services: { inference: "/tmp/test.sock" }, log() {} });
  expect((await engine.run(flow, "inference")).output).toBe("/tmp/test.sock");
  expect((await engine.run(flow, "cache")).failure).toMatchObject({
    type: "ServiceNotGrantedError",
    details: { reason: "not_offered" },
  });
});

test("WMD-3 outside a workflow, in a body and in a schema serviceSocket throws and names itself", async () => {
  expect(() => serviceSocket("inference")).toThrow(
    /^serviceSocket\(\) was called outside a workflow.*in the function of a task/,
  );
  const engine = testEngine({ services: { inference: "/tmp/test.sock" }, log() {} });
  const inBody = workflow({ name: "body" }, async () => serviceSocket("inference"));
  expect((await engine.run(inBody)).failure).toMatchObject({
    code: "no_execution",
    message: expect.stringContaining("in a workflow's body"),
  });
  const validate = () => ({ value: serviceSocket("inference") });
  const input = { "~standard": { version: 1 as const, vendor: "test", validate } };
  const checked = task({ name: "checked", input }, async () => 1);
  const beside = workflow({ name: "beside" }, async () => checked(""));
  expect((await engine.run(beside)).failure?.message).toMatch(/serviceSocket\(\) was called in/);
});

test.each(["", "Inference", "a b", 7 as never])(
  "WMD-3 serviceSocket(%j) says what a name is",
  async (name) => {
    const ask = task({ name: "ask" }, async () => serviceSocket(name));
    const engine = testEngine({ log() {} });
    const { failure } = await engine.run(workflow({ name: "w" }, async () => ask()));
    expect(failure?.message).toContain("serviceSocket() takes a name: a service name is 1 to 32");
  },
);
