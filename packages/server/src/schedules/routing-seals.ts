import {
  checkRoutingInput,
  EngineError,
  type RoutingInput,
  routingInputFault,
  type SchedulePatch,
  type ScheduleRow,
} from "@engine/contract";
import { type DecideSchedule, openText, routingPlace, type Sealed, sealText } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";
import { neededRing } from "../secrets/needed-ring.ts";

type Ports = Pick<EnginePorts, "store" | "ring" | "log">;

/** Schedules that are looked at together. */
const BATCH = 100;

/** Nobody can send it, so that whatever is sent instead of what does not open is another one. */
const UNREADABLE = { "": null };

type Routing = Pick<ScheduleRow, "routing_input" | "routing_sealed">;

/**
 * Routing inputs of schedules are stored sealed wherever there is a key, and nobody reads them (RIN-3).
 * Here they are opened, to be compared with what is sent and to be matched.
 */
export class RoutingSeals implements Domain {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** What was stored before there was a key is sealed at the first start with one. */
  async recover(): Promise<void> {
    const { store, ring, log } = this.#ports;
    if (!ring) return;
    for (;;) {
      const names = await store.schedules.listUnsealed(BATCH);
      for (const name of names) {
        const seal: DecideSchedule = ({ id, routing_input, routing_sealed }) =>
          routing_sealed ? undefined : this.#stored({ name, id }, routing_input);
        await store.schedules.change(name, seal);
      }
      if (names.length > 0) log.info({ schedules: names.length }, "routing inputs are sealed now");
      if (names.length < BATCH) return;
    }
  }

  /** As it is stored. */
  sealed(row: ScheduleRow): ScheduleRow {
    return { ...row, ...this.#stored(row, row.routing_input) };
  }

  /**
   * What a start of the schedule is given.
   *
   * @throws EngineError `encryption_unavailable` for one that does not open, `invalid_routing_input` for
   *   one of before there were rules.
   */
  given({ name, id, routing_input, routing_sealed }: ScheduleRow): RoutingInput {
    const text = routing_sealed && this.#open({ name, id }, routing_sealed);
    const { value, reason } = checkRoutingInput(text === null ? routing_input : JSON.parse(text));
    if (value) return value;
    const message = `the routing input of schedule ${name} ${routingInputFault(reason)}; give it another one`;
    throw new EngineError("invalid_routing_input", message, { details: { reason } });
  }

  /** As it was given. */
  opened(row: ScheduleRow): ScheduleRow {
    const { name, routing_sealed } = row;
    if (!routing_sealed) return row;
    try {
      return { ...row, routing_input: JSON.parse(this.#open(row, routing_sealed)) };
    } catch (err) {
      const { log } = this.#ports;
      log.error({ err, schedule: name }, "the routing input of a schedule does not open");
      return { ...row, routing_input: UNREADABLE };
    }
  }

  /** A decision that sees schedules as they were given, and whose changes are stored sealed. */
  deciding(decide: DecideSchedule): DecideSchedule {
    return (row) => {
      const patch: SchedulePatch | undefined = decide(this.opened(row));
      if (patch?.routing_input === undefined) return patch;
      return { ...patch, ...this.#stored(row, patch.routing_input) };
    };
  }

  #open({ name, id }: Pick<ScheduleRow, "name" | "id">, sealed: Sealed): string {
    return openText(neededRing(this.#ports.ring), routingPlace(name, id), sealed);
  }

  #stored(
    { name, id }: Pick<ScheduleRow, "name" | "id">,
    routing_input: ScheduleRow["routing_input"],
  ): Routing {
    const { ring } = this.#ports;
    const isEmpty = Object.keys(routing_input).length === 0;
    if (!ring || isEmpty) return { routing_input, routing_sealed: null };
    const text = JSON.stringify(routing_input);
    return { routing_input: {}, routing_sealed: sealText(ring, routingPlace(name, id), text) };
  }
}
