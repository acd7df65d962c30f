import { EngineError } from "@engine/contract";
import type { Engine } from "@engine/server";
import { operatorCall } from "./accounts.ts";
import type { ServiceAsked } from "./evidence.ts";
import type { Network } from "./network.ts";
import type { ServiceChoice } from "./plan.ts";
import { Process } from "./process.ts";
import { PROGRAM_WORKFLOWS } from "./programs/program-source.ts";
import type { Random } from "./random.ts";
import type { Servers } from "./servers.ts";
import type { World } from "./world.ts";

/** The one service of a run. */
const SERVICE = "programs";

const TIMEOUT_MS = 30_000;
/** Requests that come around each change, which is when they may be answered by what is not so any more. */
const ASKED = 8;
const AROUND_MS = 3_000;

interface Parts {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly servers: Servers;
}

/** Somebody who changes a service, and those who call what it offers, on all servers. */
export class ServiceUsers {
  readonly asked: ServiceAsked[] = [];
  /** Requests that are not over. */
  open = 0;
  readonly #parts: Parts;
  readonly #process: Process;

  constructor(parts: Parts) {
    this.#parts = parts;
    const random = parts.random.fork("c4");
    this.#process = new Process(parts.world, { name: "c4", id: "c4", random, pace: 0 });
  }

  begin(choice: ServiceChoice): void {
    const { random } = this.#parts;
    void this.#change(choice);
    for (let i = 0; i < ASKED; i++) {
      const workflow = random.pick(PROGRAM_WORKFLOWS);
      this.#process.after(random.next() * AROUND_MS, () => void this.#ask(workflow));
    }
  }

  async #change({ workflow, deed }: ServiceChoice): Promise<void> {
    await this.#call(`${deed} ${workflow}`, async ({ services }) => {
      if (deed === "delete") return services.delete(SERVICE, operatorCall("services.delete"));
      const refs = PROGRAM_WORKFLOWS.map((name) => `default/${name}`);
      const choice = { namespaces: [], workflows: refs, exclusions: [], mcp_enabled: false };
      const exclusions = [`default/${workflow}`];
      const change =
        deed === "exclude" ? { add_exclusions: exclusions } : { remove_exclusions: exclusions };
      try {
        await services.create({ name: SERVICE, ...choice }, operatorCall("services.create"));
      } catch (error) {
        if (!(error instanceof EngineError && error.code === "service_exists")) throw error;
        await services.change(SERVICE, change, operatorCall("services.update"));
      }
      return undefined;
    });
  }

  /** As a call through the service begins: by looking up what its name stands for. */
  async #ask(workflow: string): Promise<void> {
    const { world } = this.#parts;
    await this.#call(`look up ${workflow}`, async ({ services }, server) => {
      const began_at = world.now;
      const answer = await services.resolve(SERVICE, workflow).then(
        () => "offered" as const,
        (error: unknown) => refusalOf(error),
      );
      this.asked.push({ server, began_at, ended_at: world.now, workflow, answer });
    });
  }

  async #call(
    what: string,
    act: (engine: Engine, server: string) => Promise<unknown>,
  ): Promise<void> {
    const { network, servers, random } = this.#parts;
    const at = random.below(servers.count);
    const to = `s${at + 1}`;
    this.open++;
    try {
      await network.call({
        ...{ from: this.#process, to, what: () => what, timeoutMs: TIMEOUT_MS, mayRepeat: false },
        serve: () => act(servers.engine(at), to),
      });
    } catch {
      // Whoever changes it tries no more, and whoever asks has no answer.
    } finally {
      this.open--;
    }
  }
}

/** @throws Whatever says nothing about the service, as that the database is away. */
function refusalOf(error: unknown): "not_offered" | "no_service" {
  const resource = error instanceof EngineError ? error.details?.["resource"] : undefined;
  if (resource === "service") return "no_service";
  if (resource === "workflow") return "not_offered";
  throw error;
}
