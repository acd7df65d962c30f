import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../harness/until.ts";
import type { Ledger } from "./ledger.ts";
import { ask } from "./patient.ts";
import type { Plant } from "./plant.ts";
import { Site } from "./site.ts";
import { runWorkload } from "./strands.ts";

/** By then a workload has begun. */
const UNDER_WAY_MS = 150;
/** What heartbeats need until they are written: a server collects them for 5 s. */
const BEATS_MS = 5_500;

let workloads = 0;

/** Brings processes to failpoints; resolves when the workload that it makes is over. */
export type Trigger = (plant: Plant, ledger: Ledger) => Promise<void>;

export const workload: Trigger = (plant, ledger) => {
  const { file, credentials } = plant;
  const { http } = plant.engine;
  return runWorkload(new Site({ http, ledger, file, number: ++workloads, credentials }));
};

/** A workload in whose middle something else happens. */
function during(happens: (plant: Plant) => void | Promise<void>): Trigger {
  return async (plant, ledger) => {
    const soon = sleep(UNDER_WAY_MS).then(() => happens(plant));
    await Promise.all([workload(plant, ledger), soon]);
  };
}

const serverRestarted = during((plant) => plant.kill(plant.server));

/** They are away longer than their grace. */
const workersLost = during((plant) => {
  for (const worker of plant.workers.values()) plant.kill(worker);
});

const workersDrained = during(async (plant) => {
  const { http } = plant.engine;
  await until("workers have something to give back", async () => {
    const { body } = await ask<{ items: { load: number }[] }>(http, "/workers");
    return body.items.some(({ load }) => load > 0);
  });
  for (const [name, worker] of plant.workers) {
    plant.dismissed(worker);
    const body = { timeout_seconds: 0 };
    await ask(http, `/admin/workers/${name}/drain`, { method: "POST", body });
  }
});

const heartbeats: Trigger = async (plant, ledger) => {
  await Promise.all([workload(plant, ledger), sleep(BEATS_MS)]);
};

/** What is not reached by one is tried with the next. */
export const TRIGGERS: readonly Trigger[] = [
  workload,
  serverRestarted,
  workersLost,
  workersDrained,
  heartbeats,
];
