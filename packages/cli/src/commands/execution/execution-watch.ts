import { setTimeout as delay } from "node:timers/promises";
import type { Frame } from "@engine/client";
import { EngineError, ExecutionRecord, isTerminal } from "@engine/contract";
import type { Command } from "commander";
import {
  actOnExecution,
  type ExecutionOptions,
  executionArgument,
} from "../../arguments/execution-argument.ts";
import { examples } from "../../examples.ts";
import { Reported } from "../../io/cli-error.ts";
import type { CliIo } from "../../io/cli-io.ts";
import { isState } from "../../render/frame-view.ts";
import { type ServerCall, serverFlag } from "../../server-call.ts";
import { concludeWith, nextStep } from "../run-answer.ts";
import { printFrame } from "../run-stream.ts";

interface WatchOptions extends ExecutionOptions {
  readonly events?: boolean;
}

export function addWatch(execution: Command, io: CliIo): void {
  const command = execution
    .command("watch")
    .summary("Follows an execution to its end.")
    .description(
      "Follows an execution to its end, also through pauses: its state now, each one it passes through and the progress in between. A server that restarts is waited for, and nothing but progress is missed. Ctrl-C ends the watching; the execution goes on.",
    )
    .option("--events", "each event of its log too, from now on");
  actOnExecution(io, executionArgument(command), async (call, _, options: WatchOptions) => {
    const leaving = new AbortController();
    void io.stopSignals().first.then(() => leaving.abort());
    await call(async (server, id) => {
      const ended = await followToEnd(io, server, { id, options, signal: leaving.signal });
      if (ended) return concludeWith(io, ended, options);
      const again = `npx engine execution watch ${id}${serverFlag(options)}`;
      io.err.write(`note: the execution goes on; watch it again with: ${again}\n`);
      throw new Reported();
    });
  });
  examples(command, [
    "execution watch 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10",
    "execution watch --last",
    "execution watch 0198c2f4-5b7a-7c31-9d7e-3f1b8a6c2d10 --events --format json",
  ]);
}

interface Watched {
  readonly id: string;
  readonly options: WatchOptions;
  readonly signal: AbortSignal;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** The record that the execution ended with; undefined when the user stopped watching before. */
async function followToEnd(
  io: CliIo,
  server: ServerCall,
  { id, options, signal }: Watched,
): Promise<ExecutionRecord | undefined> {
  const events = options.events ? ("all" as const) : undefined;
  let after: number | undefined;
  let told: number | undefined;
  let pauseMs = 0;
  while (!signal.aborted) {
    try {
      const query = { mode: "stream", events } as const;
      const headers = { "last-event-id": after };
      const call = { params: { id }, query, headers };
      const frames = await server.client.executions.get.stream(call, { signal });
      if (pauseMs > 0) io.err.write(`note: connected to ${server.url} again\n`);
      pauseMs = 0;
      for await (const frame of frames) {
        after = frame.id ?? after;
        const record = recordOf(frame);
        // Among events, the state a reader comes back at is told again.
        if (record && frame.id === told) continue;
        if (record) told = frame.id;
        printFrame(io, frame, options);
        if (record && isTerminal(record.state)) return record;
        if (record?.state === "PAUSED" && options.format === "simple") {
          io.err.write(nextStep(record, options));
        }
      }
    } catch (error) {
      if (signal.aborted) break;
      // Before the first frame there is nothing to come back to.
      if (after === undefined || !isUnavailable(error)) throw error;
    }
    if (signal.aborted) break;
    if (pauseMs === 0) io.err.write(`note: lost ${server.url}; trying to reach it again\n`);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function recordOf(frame: Frame): ExecutionRecord | undefined {
  return isState(frame) ? ExecutionRecord.parse(frame.data) : undefined;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof EngineError && error.code === "unavailable";
}
