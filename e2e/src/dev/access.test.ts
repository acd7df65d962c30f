import type { ExecutionRecord } from "@engine/contract";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { asAdmin, GUARDED, secretIn } from "../harness/guarded.ts";
import { createHome } from "../harness/home.ts";
import { Http } from "../harness/http.ts";

const hello = (word: string) => `import { workflow } from "@engine/sdk";
export const hello = workflow({ name: "hello" }, async () => "${word}");
`;

test("AUTH-63 engine dev with authorization on registers what is saved, runs it for the admin, and keeps its worker's name", async () => {
  await using home = await createHome();
  await home.write("hello.ts", hello("one"));
  const env = { ...GUARDED, ENGINE_HOME: home.file(".engine") };
  await using dev = new CliProcess(["dev", "--port", "0"], { cwd: home.path, env });
  const url = await serverUrl(dev);
  await dev.printed(/Watching 1 file/);
  const admin = await asAdmin({ home, url });
  const run = "/workflows/default/hello/run/sync";
  expect((await new Http(url).post(run)).status).toBe(401);
  expect((await admin.post<ExecutionRecord>(run)).body).toMatchObject({
    ...{ state: "COMPLETED", output: "one", run_as: { subject: "admin" } },
  });

  // Its own calls are made by nobody: a version says so, and none of them starts anything.
  await home.write("hello.ts", hello("two"));
  await dev.printed(/hello {3}new version 2 {3}hello\.ts/);
  expect((await admin.get("/workflows/default/hello")).body).toMatchObject({
    version: 2,
    created_by: null,
  });
  expect((await admin.post<ExecutionRecord>(run)).body).toMatchObject({ output: "two" });

  const bootstrap = new Http(url, await secretIn(home, "bootstrap-token"));
  const registration = {
    instance_id: "01900000-0000-7000-8000-000000000001",
    ...{ protocol: 2, engine_version: "0.1.0", host: "here", pid: 1 },
    runtime: { os: "linux", arch: "x64", node: "24" },
  };
  const taken = await bootstrap.post("/workers/register", { name: "dev", ...registration });
  expect(taken).toMatchObject({
    status: 409,
    body: { error: { code: "worker_name_unavailable" } },
  });
  expect(
    (await bootstrap.post("/workers/register", { name: "dev2", ...registration })).status,
  ).toBe(201);

  expect(dev.output).not.toMatch(/engine_(?:in|sk|bt|wk)_/);
  await dev.stop();
  expect(dev.exitCode).toBe(0);
});
