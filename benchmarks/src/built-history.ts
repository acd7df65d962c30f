import { gate } from "./gate.ts";
import type { HttpClient } from "./http-client.ts";
import type { WhatRan } from "./workflows/bench-workflows.ts";

/** A paused execution whose log holds that many tasks. */
export async function buildHistory(client: HttpClient, tasks: number): Promise<string> {
  const record = await client.post("/workflows/bench/history/run/sync", tasks);
  gate(record.state === "PAUSED", () => `history(${tasks}) is ${record.state}, not PAUSED`);
  return record.execution_id;
}

/** Answers its pause and waits for the end. */
export async function endHistory(client: HttpClient, id: string): Promise<WhatRan> {
  const record = await client.post(`/workflows/bench/history/resume/${id}`, null);
  gate(record.state === "COMPLETED", () => `${id} ended ${record.state} after its resume`);
  return record.output as unknown as WhatRan;
}
