import { EngineError } from "@engine/contract";
import type { Engine } from "@engine/server";
import { type Account, oftenFirst, operatorCall } from "./accounts.ts";
import type { OfferDeed, ServiceAnswer, ServiceAsked } from "./evidence.ts";
import type { LoadedPrograms } from "./load-programs.ts";
import type { Network } from "./network.ts";
import type { ServiceChoice } from "./plan.ts";
import { Process } from "./process.ts";
import { GUEST, GUEST_INPUT, GUEST_NAMESPACES } from "./programs/guest-source.ts";
import { PROGRAM_WORKFLOWS } from "./programs/program-source.ts";
import type { Random } from "./random.ts";
import type { Servers } from "./servers.ts";
import type { World } from "./world.ts";

/** The one service of a run, which has every guest there is and the programs one by one. */
const SERVICE = "programs";
const CHOICE = {
  namespaces: [...GUEST_NAMESPACES],
  workflows: PROGRAM_WORKFLOWS.map((name) => `default/${name}`),
  exclusions: [],
  mcp_enabled: false,
};

const TIMEOUT_MS = 30_000;
/** Requests that come around each change, which is when they may be answered by what is not so any more. */
const ASKED = 8;
const AROUND_MS = 3_000;
/** Of these most are for what changes, and some of those start it. */
const FOR_WHAT_CHANGES = 0.7;
const STARTS = 0.15;

interface Parts {
  readonly world: World;
  readonly random: Random;
  readonly network: Network;
  readonly servers: Servers;
  readonly programs: LoadedPrograms;
  /** For whom guests are started; nobody with authorization off. */
  readonly accounts: readonly Account[];
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Who changes a service and what there is for it, and those who call what it offers, on all servers. */
export class ServiceUsers {
  readonly asked: ServiceAsked[] = [];
  readonly deeds: Mutable<OfferDeed>[] = [];
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
      const isOfIt = random.chance(FOR_WHAT_CHANGES);
      const workflow = isOfIt ? choice.workflow : random.pick([...PROGRAM_WORKFLOWS, GUEST]);
      const starts = workflow === GUEST && random.chance(STARTS);
      const ask = () => void (starts ? this.#start(workflow) : this.#lookUp(workflow));
      this.#process.after(random.next() * AROUND_MS, ask);
    }
  }

  async #change(choice: ServiceChoice): Promise<void> {
    const { world } = this.#parts;
    const { deed, namespace, workflow } = choice;
    await this.#call(`${deed} ${namespace}/${workflow}`, async (engine, process) => {
      const made: Mutable<OfferDeed> = { process, began_at: world.now, done_at: null };
      this.deeds.push(made);
      await this.#do(choice, engine);
      made.done_at = world.now;
    });
  }

  async #do(
    { deed, namespace, workflow, number }: ServiceChoice,
    { services, catalog }: Engine,
  ): Promise<unknown> {
    switch (deed) {
      case "register": {
        const source = this.#parts.programs.guestSource({ namespace, number });
        return catalog.register({ source }, { by: null });
      }
      case "unregister":
        return catalog.delete(namespace, workflow);
      case "retire": {
        const { version } = await catalog.get(namespace, workflow);
        return catalog.delete(namespace, workflow, version);
      }
      case "delete":
        return services.delete(SERVICE, operatorCall("services.delete"));
      default: {
        const exclusions = [`${namespace}/${workflow}`];
        const change =
          deed === "exclude" ? { add_exclusions: exclusions } : { remove_exclusions: exclusions };
        try {
          return await services.create(
            { name: SERVICE, ...CHOICE },
            operatorCall("services.create"),
          );
        } catch (error) {
          if (!(error instanceof EngineError && error.code === "service_exists")) throw error;
          return services.change(SERVICE, change, operatorCall("services.update"));
        }
      }
    }
  }

  /** As a call through the service begins: by looking up what its name stands for. */
  async #lookUp(workflow: string): Promise<void> {
    await this.#ask({ workflow, starts: false }, async ({ services }) => {
      const { namespace, name, version } = (await services.resolve(SERVICE, workflow)).record;
      return `${namespace}/${name} v${version}`;
    });
  }

  /** As it goes on, and is answered at once. */
  async #start(workflow: string): Promise<void> {
    const { accounts, random } = this.#parts;
    const by = oftenFirst(accounts, random.next())?.id ?? null;
    await this.#ask({ workflow, starts: true }, async ({ services, executions }) => {
      const { namespace, name } = (await services.resolve(SERVICE, workflow)).record;
      const { row } = await executions.start({
        ...{ namespace, workflow: name, input: GUEST_INPUT, by, trigger: { kind: "api" } },
      });
      return `${row.namespace}/${row.workflow} v${row.version ?? 0}`;
    });
  }

  async #ask(
    asked: Pick<ServiceAsked, "workflow" | "starts">,
    act: (engine: Engine) => Promise<ServiceAnswer>,
  ): Promise<void> {
    const { world } = this.#parts;
    const what = `${asked.starts ? "start" : "look up"} ${asked.workflow}`;
    await this.#call(what, async (engine, process) => {
      const began_at = world.now;
      const answer = await act(engine).catch(refusalOf);
      this.asked.push({ ...asked, process, began_at, ended_at: world.now, answer });
      world.trace.say(process, () => `says ${answer} (${what})`);
    });
  }

  async #call(
    what: string,
    act: (engine: Engine, process: string) => Promise<unknown>,
  ): Promise<void> {
    const { network, servers, random } = this.#parts;
    const at = random.below(servers.count);
    this.open++;
    try {
      await network.call({
        ...{ from: this.#process, to: `s${at + 1}`, what: () => what, timeoutMs: TIMEOUT_MS },
        mayRepeat: false,
        serve: () => act(servers.engine(at), servers.process(at)?.id ?? ""),
      });
    } catch {
      // Whoever changes it tries no more, and whoever asks has no answer.
    } finally {
      this.open--;
    }
  }
}

/** @throws Whatever says nothing about the service, as that the database is away. */
function refusalOf(error: unknown): ServiceAnswer {
  if (!(error instanceof EngineError)) throw error;
  if (error.code === "name_collision") return "name_collision";
  const resource = error.details?.["resource"];
  if (resource === "service") return "no_service";
  if (resource === "workflow") return "not_offered";
  throw error;
}
