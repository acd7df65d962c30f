import type { DeliveryGuard } from "@engine/contract";
import type { Connection } from "./connection.ts";

/** Deliveries that creations settle, in their transactions. */
export class GuardedDeliveries {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Whether nothing has happened to a delivery or to its hook since a try was judged (HOOK-26). */
  holds({ delivery_id, attempts, hook_id, revision }: DeliveryGuard): boolean {
    const found = this.#connection
      .prepareOnce(`
        SELECT 1 FROM hook_deliveries AS d JOIN hooks AS h ON h.id = d.hook_id
        WHERE d.id = ? AND d.status = 'pending' AND d.attempts = ? AND h.id = ? AND h.revision = ?`)
      .get(delivery_id, attempts, hook_id, revision);
    return found !== undefined;
  }

  settle({ delivery_id, attempts }: DeliveryGuard, execution_id: string, at: number): void {
    this.#connection
      .prepareOnce(`
        UPDATE hook_deliveries
        SET status = 'delivered', execution_id = ?, attempts = ?, error = NULL, due_at = 0,
          settled_at = ?
        WHERE id = ?`)
      .run(execution_id, attempts + 1, at, delivery_id);
  }
}
