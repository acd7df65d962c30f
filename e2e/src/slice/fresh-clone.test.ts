import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { CliProcess } from "../harness/cli-process.ts";
import { serverUrl } from "../harness/engine.ts";
import { createHome } from "../harness/home.ts";
import { Http } from "../harness/http.ts";
import { until } from "../harness/until.ts";

const root = resolve(import.meta.dirname, "../../..");

/** What a clone holds after `npm install`: no package is built, and every thread has to find its sources. */
async function clone(to: string): Promise<void> {
  const isSource = (path: string) => !/[\\/](?:dist|node_modules)$/.test(path);
  for (const name of ["packages", "examples", "package.json"]) {
    await cp(join(root, name), join(to, name), { recursive: true, filter: isSource });
  }
  const modules = join(to, "node_modules");
  await mkdir(join(modules, "@engine"), { recursive: true });
  for (const name of await readdir(join(root, "node_modules"))) {
    if (name !== "@engine") await symlink(join(root, "node_modules", name), join(modules, name));
  }
  for (const name of await readdir(join(to, "packages"))) {
    await symlink(join(to, "packages", name), join(modules, "@engine", name));
  }
}

test("a clone that nothing was built in registers, runs and lists, also what is large", {
  timeout: 300_000,
}, async () => {
  await using home = await createHome();
  await clone(home.path);
  const args = ["dev", "--no-watch", "--port", "0", home.file("examples/src/hello.ts")];
  await using dev = new CliProcess(args, {
    cwd: home.path,
    env: { ENGINE_HOME: home.file(".engine") },
    program: home.file("packages/cli/bin/engine.js"),
  });
  const http = new Http(await serverUrl(dev));
  await until("the example is registered", async () => {
    return (await http.get("/workflows/default/hello_world")).status === 200;
  });
  const run = await http.post("/workflows/hello_world/run/sync", "clone");
  expect(run.status).toBe(200);
  expect(await http.get("/executions")).toMatchObject({ status: 200, body: { total: 1 } });
  const large = "x".repeat(2_000_000);
  expect((await http.post("/workflows/hello_world/run/sync", large)).status).toBe(200);
});
