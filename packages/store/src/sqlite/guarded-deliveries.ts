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
        WHERE d.hook_id = ? AND d.id = ? AND d.status = 'pending' AND d.attempts = ?
          AND h.revision = ?`)
      .get(hook_id, delivery_id, attempts, revision);
    return found !== undefined;
  }

  settle(guard: DeliveryGuard, execution_id: string, at: number): void {
    const { hook_id, delivery_id, attempts } = guard;
    this.#connection
      .prepareOnce(`
        UPDATE hook_deliveries
        SET status = 'delivered', execution_id = ?, attempts = ?, error = NULL, due_at = 0,
          settled_at = ?
        WHERE hook_id = ? AND id = ?`)
      .run(execution_id, attempts + 1, at, hook_id, delivery_id);
  }
}
