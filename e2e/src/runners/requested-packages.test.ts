import { expect, test } from "vitest";
import { type Engine, startEngine } from "../harness/engine.ts";

/** In a folder without any package, so that whatever it imports is the worker's. */
async function register(engine: Engine, name: string, wanted: string): Promise<void> {
  const path = await engine.home.write(
    `${name}.ts`,
    `import { workflow } from "@engine/sdk";
import it from "${wanted.split("@")[0]}";
export const ${name} = workflow(
  { name: "${name}", requests: { packages: ["${wanted}"] } },
  async () => typeof it,
);
`,
  );
  const { code, stderr } = await engine.cli("workflow", "register", path);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

const startWorker = (engine: Engine, name: string, ...packages: string[]) =>
  engine.startWorker(name, { ENGINE_WORKERS__PACKAGES: JSON.stringify(packages) });

test("EXE-59 RES-1 RES-2 a requested package is the worker's own; a workflow waits for a worker that has it", async () => {
  await using engine = await startEngine({ workers: [] });
  await startWorker(engine, "plain").printed(/connected/);
  await register(engine, "usual", "semver@^7");
  await register(engine, "rare", "semver@^99");
  const rare = await engine.start("rare");
  const usual = await engine.start("usual");
  expect(await engine.untilEnded(usual)).toMatchObject({
    state: "COMPLETED",
    output: "object",
  });
  expect(await engine.http.execution(rare)).toMatchObject({ state: "CREATED", worker: null });

  startWorker(engine, "rich", "semver@99.1.0");
  expect(await engine.untilEnded(rare)).toMatchObject({ state: "COMPLETED" });
  const claims = (await engine.http.log(rare)).filter(({ type }) => type === "WORKFLOW_CLAIMED");
  expect(claims).toMatchObject([{ value: { worker: "rich" } }]);
});

test("LIV-6 a worker that only claims to have a package fails the execution at once, naming it", async () => {
  await using engine = await startEngine({ workers: [] });
  await register(engine, "fonts", "in-house-fonts@^2");
  startWorker(engine, "boastful", "in-house-fonts@2.1.0");
  const id = await engine.start("fonts");
  const { state, error } = await engine.untilEnded(id);
  expect(state).toBe("FAILED");
  expect(error).toMatchObject({
    message: expect.stringMatching(/"in-house-fonts".*requests\.packages/),
    details: { type: "WorkflowLoadError", details: { reason: "package_not_found" } },
  });
});
