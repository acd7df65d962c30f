import { createClient } from "@engine/client";
import { ROUTING_INPUT_HEADER, type ServiceEndpoint } from "@engine/contract";
import {
  type Call,
  headerValues,
  type InnerFetch,
  type ProtocolReply,
  redacted,
  THIS_SERVER,
} from "@engine/http";
import {
  createStatelessEndpoint,
  type McpCaller,
  type McpEndpoint,
  serviceRequests,
  type WaitLimits,
} from "@engine/mcp";
import type { EpochWatch } from "../auth/epoch-watch.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { outputIssues } from "../catalog/input/output-check.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { every } from "../every.ts";
import type { MaskSets } from "../secrets/mask-set.ts";
import { KnownServices } from "./known-services.ts";
import { toEndpoint } from "./service-record.ts";
import { endpointsOf, type ServiceView } from "./service-view.ts";
import type { Services } from "./services.ts";

interface Parts {
  readonly ports: Pick<EnginePorts, "monotonic" | "setTimer" | "log">;
  readonly services: Pick<Services, "find">;
  readonly catalog: Pick<Catalog, "onChange">;
  readonly epochs: Pick<EpochWatch, "onChange" | "current">;
  readonly limits: WaitLimits;
  /** Of the product. */
  readonly version: string;
  /** Bytes that a message may have. */
  readonly maxBodyBytes: number;
  /** Requests to this server, for somebody at that address. */
  readonly requests: (address: string | undefined) => InnerFetch;
  readonly masks: Pick<MaskSets, "known" | "current">;
}

type Asking = Pick<Call, "headers" | "raw_headers" | "address">;

/** An endpoint and what it was made of. */
interface Served {
  readonly endpoint: McpEndpoint;
  view: ServiceView;
  /** The service's description, without what nobody may read. */
  about: string | null;
  /** Requests that are not over, subscriptions among them. */
  open: number;
  stopLooking: (() => void) | undefined;
}

/** For how long clients may keep a list (MCP-19). */
const LIST_TTL_MS = 1_000;
/** Whoever subscribed to changes of tools hears of them within a second, whatever news was lost (MCP-18). */
const LOOK_MS = 1_000;

/** The MCP endpoints of services (SVC-17): made at the first request, and kept while they are used. */
export class McpEndpoints {
  readonly #parts: Parts;
  readonly #served = new Map<string, Served>();
  readonly #known: KnownServices;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#known = new KnownServices(() => parts.masks.known());
    const changed = () => this.#changed();
    parts.epochs.onChange("services", changed);
    parts.catalog.onChange(changed);
  }

  /**
   * Answers a request of the protocol.
   *
   * @param view Of a service that offers tools.
   * @throws EngineError `redaction_unavailable`.
   */
  async answer(view: ServiceView, call: Asking): Promise<ProtocolReply> {
    const caller = this.#callerOf(view.row.name, call);
    const about = await this.#about(view);
    return {
      speak: async (request, response) => {
        const served = this.#servedOf(view);
        served.about = about;
        served.open += 1;
        served.stopLooking ??= this.#look(view.row.name, served);
        await served.endpoint.handle(request, response, caller);
        served.open -= 1;
        if (served.open > 0) return;
        served.stopLooking?.();
        served.stopLooking = undefined;
      },
    };
  }

  /** The only text that comes from no other route, which would have looked through it (RED-3). */
  async #about({ row: { description } }: ServiceView): Promise<string | null> {
    const masks = this.#parts.masks.known() ?? (await this.#parts.masks.current());
    return description === null ? null : redacted(masks, "text", description);
  }

  #servedOf(view: ServiceView): Served {
    const { name } = view.row;
    const known = this.#served.get(name);
    if (known) return known;
    const endpoint = this.#endpointOf(name);
    endpoint.update(allEndpoints(view));
    const served: Served = { endpoint, view, about: null, open: 0, stopLooking: undefined };
    this.#served.set(name, served);
    return served;
  }

  #endpointOf(service: string): McpEndpoint {
    const { ports, limits, version, maxBodyBytes } = this.#parts;
    const { log } = ports;
    return createStatelessEndpoint({
      ...{ service, version, limits, maxBodyBytes, listTtlMs: LIST_TTL_MS },
      describe: () => this.#served.get(service)?.about ?? null,
      checkOutput: outputIssues,
      clock: ports.monotonic,
      setTimer: ports.setTimer,
      onError: (err) => log.debug({ err, service }, "a message of MCP was not taken"),
      onDefect: (err) => log.error({ err, service }, "a call of a tool failed"),
    });
  }

  /** With the caller's own credential, and none with another (MCP-8). */
  #callerOf(service: string, { headers, raw_headers, address }: Asking): McpCaller {
    const given = headers["authorization"]?.toString();
    const inner = this.#parts.requests(address);
    // As often as it came: the route that a run is asked of says what is wrong with it (RIN-2).
    const routing = headerValues(raw_headers, ROUTING_INPUT_HEADER);
    const own = {
      ...(given !== undefined && { authorization: given }),
      ...(routing.length > 0 && { [ROUTING_INPUT_HEADER]: routing }),
    };
    const send: InnerFetch = (url, asked) =>
      inner(url, { ...asked, headers: { ...asked.headers, ...own } });
    const client = createClient({ baseUrl: THIS_SERVER, fetch: send });
    const list = () => this.#known.get(service, { authorization: given, send });
    return {
      calls: serviceRequests({ service, client, list }),
      hasToken: given !== undefined,
    };
  }

  /** News may be lost, and nobody else may ask meanwhile. */
  #look(name: string, served: Served): () => void {
    const { ports, epochs } = this.#parts;
    return every(ports.setTimer, { ms: LOOK_MS }, async () => {
      if (served.endpoint.listeners === 0) return;
      await epochs.current();
      await this.#refresh(name, served);
    });
  }

  #changed(): void {
    for (const [name, served] of this.#served) {
      if (served.open === 0) this.#served.delete(name);
      else void this.#refresh(name, served);
    }
  }

  async #refresh(name: string, served: Served): Promise<void> {
    const { services, ports } = this.#parts;
    try {
      const view = await services.find(name);
      if (view === served.view) return;
      if (view?.row.mcp_enabled) {
        served.view = view;
        served.endpoint.update(allEndpoints(view));
        return;
      }
      if (this.#served.get(name) === served) this.#served.delete(name);
      await served.endpoint.close();
    } catch (err) {
      // The next look tells.
      ports.log.warn({ err, service: name }, "subscribers were not told of a service's tools");
    }
  }
}

/** Of one viewer who may know all: what some may not see is no change of the tools (MCP-18). */
function allEndpoints(view: ServiceView): readonly ServiceEndpoint[] {
  const all = { can_run: true, isKnown: true };
  return endpointsOf(view).map((version) => toEndpoint(view.row.name, version, all));
}
