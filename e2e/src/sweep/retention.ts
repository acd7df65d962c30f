import { existsSync, readdirSync } from "node:fs";
import { until } from "../harness/until.ts";
import { listExecutions } from "../kill/all-executions.ts";
import { ask } from "./patient.ts";
import type { Plant } from "./plant.ts";
import { type Swept, sweptAt } from "./swept.ts";

const EXECUTIONS = 6;
const GONE_MS = 30_000;

/** An execution is kept for two seconds, and looked for every second, one at a time. */
const SOON = {
  ENGINE_RETENTION__RETENTION_DAYS: `${2 / 86_400}`,
  ENGINE_RETENTION__SWEEP_INTERVAL: "1",
  ENGINE_RETENTION__BATCH_SIZE: "1",
};

/** Kills the server while it removes what is old: in the end rows and values have to be gone. */
export async function sweepRetention(
  open: (options: { env: Readonly<Record<string, string>> }) => Promise<Plant>,
  failpoints: readonly string[],
): Promise<readonly Swept[]> {
  await using plant = await open({ env: SOON });
  await plant.startWorkers();
  await plant.engine.register("swept");
  const { http } = plant.engine;
  const input = { file: plant.file, value: 1 };
  const path = "/workflows/default/hoard/run/async";
  for (let i = 0; i < EXECUTIONS; i++) await ask(http, path, { method: "POST", body: input });
  const values = plant.home.file(".engine/values");
  await until("values are kept", () => existsSync(values) && readdirSync(values).length > 0);
  plant.arm(failpoints);

  const violations: string[] = [];
  const areStruck = () => failpoints.every((one) => plant.struck().includes(one));
  const isEmpty = async () => {
    const all = await listExecutions(plant.engine).catch(() => undefined);
    return all?.length === 0 && areStruck();
  };
  await until("all executions are removed", isEmpty, GONE_MS).catch((error) => {
    violations.push(String(error));
  });
  const areGone = () => readdirSync(values).length === 0;
  await until("all values are removed", areGone, 5_000).catch(() => {
    violations.push(`values of executions that are gone: ${readdirSync(values)}`);
  });
  violations.push(...plant.unexplained());
  const struck = plant.struck();
  return failpoints.map((failpoint) => sweptAt({ failpoint }, struck, violations));
}
