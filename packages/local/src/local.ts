import { randomBytes, randomUUID } from "node:crypto";
import { createUuidV7, type Event, notFound } from "@engine/contract";
import type { AnyWorkflow, LocalRunOptions, RunResult } from "@engine/sdk";
import { nodeHost, runResult } from "@engine/sdk/node";
import { ExecutionSeals } from "@engine/store";
import { assertWorkflow, decideContinue } from "./continue-rules.ts";
import type { LocalParts, LocalWorld } from "./local-parts.ts";
import { LocalProcess } from "./local-process.ts";
import { encodeInput, newLocalExecution } from "./new-local-execution.ts";
import { storedOutput } from "./stored-output.ts";

/** An engine inside the caller's process: no server, no worker, no slots (EXE-12). */
export interface Local {
  /**
   * Resolves when the execution has ended or paused, or when only a child that has paused keeps it
   * waiting; a sleep or a wait for a signal is waited for here.
   */
  run(workflow: AnyWorkflow, input?: unknown, options?: LocalRunOptions): Promise<RunResult>;
  /** Stops what still runs, such as children that nobody waits for. */
  close(): Promise<void>;
}

/** Opens a local engine on a store, which it closes with itself. */
export function openLocal(parts: LocalParts): Local {
  /** Those that were run, by qualified name: a parent is found here when its child has ended. */
  const known = new Map<string, AnyWorkflow>();
  const world = worldOf(parts, known);
  const { store, values } = world;
  const process = new LocalProcess(world);

  return {
    async run(workflow, input, options = {}) {
      known.set(workflow.qualifiedName, workflow);
      const { executionId, onStarted } = options;
      if (executionId === undefined) return start(workflow, input, onStarted);
      return proceed(workflow, input, { ...options, executionId });
    },
    async close() {
      await process.close();
      await store.close();
    },
  };

  async function start(
    workflow: AnyWorkflow,
    input: unknown,
    onStarted: LocalRunOptions["onStarted"],
  ): Promise<RunResult> {
    const of = { input: encodeInput(input), trigger: { kind: "local" as const } };
    const fresh = newLocalExecution(workflow, of, world);
    const { row } = await store.executions.create(fresh, process.successor.claimant);
    onStarted?.(row.execution_id);
    await process.run(workflow, row);
    return resultOf(workflow, row.execution_id);
  }

  async function proceed(
    workflow: AnyWorkflow,
    input: unknown,
    { executionId, pause, onStarted }: LocalRunOptions & { executionId: string },
  ): Promise<RunResult> {
    const held = process.find(executionId);
    if (held && input === undefined) {
      // This very process runs it already: there is nothing to take over.
      assertWorkflow(held.execution.row, workflow);
      onStarted?.(executionId);
      await held.rest;
      return resultOf(workflow, executionId);
    }
    const how = { workflow, input, pause, ...process.successor };
    const { row } = await process.change(executionId, (row) => decideContinue(row, how));
    // Only an execution that has ended is left without this process as its owner.
    if (row.session !== null) {
      onStarted?.(executionId);
      await process.adoptChildren(row);
      await process.run(workflow, row);
    }
    return resultOf(workflow, executionId);
  }

  async function resultOf(workflow: AnyWorkflow, execution_id: string): Promise<RunResult> {
    const row = await store.executions.find(execution_id);
    if (!row) throw notFound("execution", execution_id);
    const log = await store.log.read(execution_id);
    const events: Event[] = log.map(({ event: { sealed: _, ...event } }) => event);
    return runResult({ ...row, output: await storedOutput(row, workflow, values) }, events);
  }
}

function worldOf(parts: LocalParts, known: ReadonlyMap<string, AnyWorkflow>): LocalWorld {
  const host = parts.host ?? nodeHost();
  const clock = parts.clock ?? (() => host.now());
  const newId = parts.newId ?? createUuidV7(clock, randomUUID);
  return {
    // Without a source of secrets and configs none exist: a task that declares one fails.
    settings: { secrets: async () => ({}), configs: async () => ({}) },
    services: {},
    newSeed: () => randomBytes(16).toString("hex"),
    ...parts,
    host,
    clock,
    newId,
    session: newId(),
    ring: parts.ring,
    seals: new ExecutionSeals(parts.ring, parts.store.executionKeys),
    findWorkflow: (name) => known.get(name) ?? parts.findWorkflow?.(name),
  };
}
