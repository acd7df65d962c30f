import type { Bus } from "../replicas/bus.ts";

/** Says that a schedule was written, to what fires schedules here and to the server that leads. */
export class ScheduleChanges {
  readonly #bus: Pick<Bus, "send">;
  readonly #listeners: (() => void)[] = [];

  constructor(bus: Pick<Bus, "send" | "listen" | "onMissed">) {
    this.#bus = bus;
    bus.listen(({ kind }) => {
      if (kind === "schedules") this.#hear();
    });
    bus.onMissed(() => this.#hear());
  }

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  tell(): void {
    this.#hear();
    void this.#bus.send({ kind: "schedules" });
  }

  #hear(): void {
    for (const listener of this.#listeners) listener();
  }
}
