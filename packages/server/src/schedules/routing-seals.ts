import type { SchedulePatch, ScheduleRow } from "@engine/contract";
import { type DecideSchedule, openText, routingPlace, sealText } from "@engine/store";
import type { Domain } from "../domain.ts";
import type { EnginePorts } from "../engine-ports.ts";

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

  /** As it was given. */
  opened(row: ScheduleRow): ScheduleRow {
    const { ring, log } = this.#ports;
    const { name, id, routing_sealed } = row;
    if (!routing_sealed) return row;
    try {
      if (!ring) return { ...row, routing_input: UNREADABLE };
      const text = openText(ring, routingPlace(name, id), routing_sealed);
      return { ...row, routing_input: JSON.parse(text) };
    } catch (error) {
      log.error({ err: error, schedule: name }, "the routing input of a schedule does not open");
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
