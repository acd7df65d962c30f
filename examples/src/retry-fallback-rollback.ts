import { TerminalError, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Order = z.object({ id: z.string(), cents: z.int().positive(), card: z.string() });
type Order = z.infer<typeof Order>;

interface Payment {
  paid_by: "card" | "invoice";
  note: string;
}

//#region retry
const reserveStock = task(
  { name: "reserve_stock", retry: { maxAttempts: 4, delay: "10ms", backoff: 2 }, timeout: "5s" },
  async (order: Order, { attempt, idempotencyKey }) => {
    // Stands for a warehouse that answers the third time.
    if (attempt < 3) throw new Error(`the warehouse is busy (attempt ${attempt})`);
    return { reservation: `${order.id}/${idempotencyKey.split(":").at(-1)}` };
  },
);
//#endregion

//#region fallback
const charge = task(
  {
    name: "charge",
    retry: { maxAttempts: 3, delay: "10ms" },
    // Undoes what a failed attempt may have left behind, before the fallback starts.
    rollback: async (order: Order) => {
      console.log(`released the hold on card ${order.card}`);
    },
    fallback: async (_order: Order, failure): Promise<Payment> => ({
      paid_by: "invoice",
      note: failure.message,
    }),
  },
  async (order: Order): Promise<Payment> => {
    // More attempts would not help, so the rest of them are skipped.
    if (order.card.startsWith("0000")) throw new TerminalError(`card ${order.card} was declined`);
    return { paid_by: "card", note: `charged ${order.cents} cents` };
  },
);
//#endregion

/** Reserves the goods and takes the money: by card, or else by invoice. */
export const placeOrder = workflow(
  { name: "place_order", namespace: "examples", input: Order },
  async (order) => {
    const stock = await reserveStock(order);
    const payment = await charge(order);
    return { ...stock, ...payment };
  },
);
