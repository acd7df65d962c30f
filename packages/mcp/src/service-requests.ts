import type { Client, Frame } from "@engine/client";
import { EngineError, ServiceRun, TaskProgress } from "@engine/contract";
import type {
  AskedExecution,
  AskedResume,
  AskedRun,
  ListedService,
  RunFrame,
  ServiceCalls,
} from "./service-calls.ts";

export interface ServiceRequestsOptions {
  /** Name of the service. */
  readonly service: string;
  /** Sends each request with the credential of the MCP request, and none with another. */
  readonly client: Pick<Client, "services" | "executions">;
  /** What is known of the service by that credential; see {@link ServiceCalls.list}. */
  readonly list: (options?: { readonly fresh?: boolean }) => Promise<ListedService>;
}

/**
 * The calls of tools as requests of the routes that others use (MCP-8): what a service answers, whom it
 * refuses and what it masks is said there alone. Server and gateway differ in how a request gets to them.
 */
export function serviceRequests({ service, client, list }: ServiceRequestsOptions): ServiceCalls {
  const { services, executions } = client;
  const of = ({ endpoint }: Pick<AskedExecution, "endpoint">) => ({
    service,
    workflow: endpoint.name,
  });
  const keyOf = ({ idempotency_key: key }: AskedRun) =>
    key === undefined ? {} : { headers: { "idempotency-key": key } };
  return {
    list,
    async run(asked) {
      const params = { ...of(asked), mode: "async" } as const;
      return runOf((await services.runMode({ params, ...keyOf(asked), body: asked.input })).body);
    },
    async resume(asked) {
      const { execution_id, input: body } = asked;
      const params = { ...of(asked), execution_id, mode: "async" } as const;
      return runOf((await services.resumeMode({ params, body })).body);
    },
    async status({ execution_id, ...asked }) {
      return services.status({ params: { ...of(asked), execution_id } });
    },
    async *follow(asked, signal) {
      for await (const frame of await begun(asked, signal)) {
        const told = frameOf(frame);
        if (told) yield told;
      }
    },
    async cancel({ endpoint, execution_id: id }) {
      const params = { ns: endpoint.namespace, wf: endpoint.name, id };
      await executions.cancel({ params, body: null });
    },
  };

  function begun(
    asked: AskedRun | AskedResume,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Frame>> {
    const body = asked.input;
    const params = { ...of(asked), mode: "stream" } as const;
    if (asked.kind === "run") {
      return services.runMode.stream({ params, ...keyOf(asked), body }, { signal });
    }
    const { execution_id } = asked;
    return services.resumeMode.stream({ params: { ...params, execution_id }, body }, { signal });
  }
}

/** Undefined for a frame that tells a tool nothing, such as one that a newer server has. */
function frameOf({ event, data }: Frame): RunFrame | undefined {
  if (event === "task.progress") {
    const progress = TaskProgress.safeParse(data);
    return progress.success ? { kind: "progress", value: progress.data.value } : undefined;
  }
  return event.includes(".execution.") ? { kind: "state", run: runOf(data) } : undefined;
}

/** An answer that is no execution is of another version of the engine, or of no engine. */
function runOf(answered: unknown): ServiceRun {
  const run = ServiceRun.safeParse(answered);
  if (run.success) return run.data;
  throw new EngineError("internal", "the engine's answer does not fit; its version is another");
}
