import { setTimeout as work } from "node:timers/promises";
import { graph, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Order = z.object({
  id: z.string(),
  cents: z.int().positive(),
  gift: z.boolean().default(false),
  /** How long the bank takes, which stands for a slow service. */
  bank_ms: z.number().default(0),
});
type Order = z.infer<typeof Order>;

const check = task({ name: "check" }, async (order: Order) => {
  if (order.cents > 1_000_000) throw new Error(`order ${order.id} is too large`);
  return order;
});

const reserve = task({ name: "reserve" }, async ({ id }: Order) => ({ shelf: `shelf of ${id}` }));

//#region charge
export const charge = task(
  {
    name: "charge",
    // Runs when the order is cancelled while the bank is being asked.
    rollback: async ({ id }: Order) => {
      console.log(`voided the charge of ${id}`);
    },
  },
  async ({ id, cents, bank_ms }: Order, { signal }) => {
    await work(bank_ms, undefined, { signal });
    return { receipt: `${cents} cents for ${id}` };
  },
);
//#endregion

const wrap = task({ name: "wrap" }, async ({ shelf }: { shelf: string }) => `paper for ${shelf}`);

interface Parcel {
  readonly charge: { readonly receipt: string };
  readonly reserve: { readonly shelf: string };
  readonly wrap?: string;
}
const ship = task({ name: "ship" }, async ({ reserve, charge, wrap }: Parcel) => ({
  sent: [reserve.shelf, charge.receipt, ...(wrap === undefined ? [] : [wrap])],
}));

/** Checks an order, reserves and charges at once, wraps gifts, and ships when all of it is done. */
export const fulfilOrder = workflow(
  { name: "fulfil_order", namespace: "examples", input: Order },
  async (order) => {
    //#region graph
    const fulfil = graph("fulfil", {
      check: { run: check },
      reserve: { after: ["check"], run: reserve },
      charge: { after: ["check"], run: charge },
      wrap: { after: ["reserve"], when: () => order.gift, run: wrap },
      ship: { after: ["reserve", "charge", "wrap"], run: ship },
    });
    const { ship: shipment } = await fulfil(order);
    //#endregion
    return shipment;
  },
);
