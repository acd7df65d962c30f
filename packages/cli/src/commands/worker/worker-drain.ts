import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type WorkerRecord } from "@engine/contract";
import type { Command } from "commander";
import { secondsOrZero } from "../../arguments/option-values.ts";
import { examples } from "../../examples.ts";
import { Reported } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { counted } from "../../render/counted.ts";
import { workerBrief } from "../../render/worker-view.ts";
import { type ServerCall, type ServerOptions, serverFlag } from "../../server-call.ts";
import { onFleet } from "./on-fleet.ts";

interface DrainOptions extends ServerOptions {
  readonly timeout?: number;
  readonly wait?: boolean;
}

export function addDrain(worker: Command, io: CliIo): void {
  const command = worker
    .command("drain")
    .summary("Makes a worker end.")
    .description(
      "Makes a worker end: it takes nothing new, lets what it runs come to an end or to a good place to go on elsewhere, gives back the rest, and leaves.",
    )
    .argument("<name>", "name of the worker")
    .option(
      "--timeout <seconds>",
      "for what it runs; 0 = give it back at once (default: its own drain_timeout)",
      secondsOrZero,
    )
    .option("--wait", "until it has left, telling what is left to do");
  onFleet(io, command, async (server, name: string, options: DrainOptions) => {
    const { timeout, wait } = options;
    const body = timeout === undefined ? null : { timeout_seconds: timeout };
    const asked = await server.client.fleet.drain({ params: { name }, body });
    const record = wait ? await untilGone(io, server, asked, options) : asked;
    server.print(record, workerBrief);
    if (wait || options.format === "json") return;
    const flag = serverFlag(options);
    io.err.write(`see what is left with: npx engine worker show ${name}${flag}\n`);
  });
  examples(command, [
    "worker drain gpu-1",
    "worker drain gpu-1 --wait",
    "worker drain gpu-1 --timeout 300 --wait",
  ]);
}

const LOOK_MS = 500;

/** Looks again and again until the worker has left, and tells what it has left whenever that changes. */
async function untilGone(
  io: CliIo,
  { client }: ServerCall,
  asked: WorkerRecord,
  options: DrainOptions,
): Promise<WorkerRecord> {
  const { name } = asked;
  const leaving = new AbortController();
  void io.stopSignals().first.then(() => leaving.abort());
  let told = "";
  for (let record = asked; ; ) {
    if (record.status === "offline" || isAnother(record, asked)) return record;
    if (record.desired_state !== "draining") {
      throw new Error(`worker ${name} was made ${record.desired_state} meanwhile and stays`);
    }
    const left = leftText(record);
    if (left !== told) io.err.write(`${left}\n`);
    told = left;
    await delay(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (leaving.signal.aborted) {
      const again = `npx engine worker show ${name}${serverFlag(options)}`;
      io.err.write(`note: worker ${name} goes on draining; see how it is with: ${again}\n`);
      throw new Reported();
    }
    record = await client.fleet.show({ params: { name } }).catch(stayAt(record));
  }
}

/** A process of the same name that came after the one which drained. */
function isAnother(now: WorkerRecord, then: WorkerRecord): boolean {
  return now.desired_state === "active" && now.connected_at !== then.connected_at;
}

function leftText({ name, load }: WorkerRecord): string {
  if (load === 0) return `${name} has nothing left and is leaving`;
  return `${name} has ${counted(load, "execution")} left`;
}

/** A server that is away for a moment says nothing of the worker. */
function stayAt(record: WorkerRecord): (error: unknown) => WorkerRecord {
  return (error) => {
    if (error instanceof EngineError && error.code === "unavailable") return record;
    throw error;
  };
}
