import type Database from "better-sqlite3";
import type { EpochPort, Epochs } from "../ports/epochs.ts";
import type { Connection } from "./connection.ts";

/**
 * The row of epochs, read once for each change of it: this connection hears of its own raises, and the
 * version of the file tells of anybody else's. So what is asked every second is no statement (AUTH-57).
 */
export class KnownEpochs implements EpochPort {
  readonly #connection: Connection;
  readonly #stored: EpochPort;
  #known: Promise<Epochs> | undefined;

  constructor(db: Database.Database, connection: Connection, stored: EpochPort) {
    this.#connection = connection;
    this.#stored = stored;
    db.function("epoch_raised", () => {
      this.#known = undefined;
      return null;
    });
    db.exec(`CREATE TEMP TRIGGER epoch_raised AFTER UPDATE ON main.epochs
      BEGIN SELECT epoch_raised(); END`);
    connection.remember(() => {
      this.#known = undefined;
    });
  }

  async read(): Promise<Epochs> {
    await this.#connection.read(() => this.#connection.lookBeside());
    if (this.#known) return this.#known;
    const reading = this.#stored.read();
    this.#known = reading;
    reading.catch(() => {
      if (this.#known === reading) this.#known = undefined;
    });
    return reading;
  }
}
