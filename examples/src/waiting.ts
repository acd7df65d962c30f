import { setTimeout as work } from "node:timers/promises";
import { call, pause, signal, sleep, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Order = z.object({
  id: z.string(),
  address: z.string(),
  ship_at: z.iso.datetime(),
  patience_days: z.number().positive(),
  /** How long the courier takes to answer, which stands for a slow service. */
  courier_ms: z.number().default(0),
});
type Order = z.input<typeof Order>;

const DAY = 24 * 60 * 60 * 1000;

//#region task
const bookCourier = task(
  {
    name: "book_courier",
    timeout: "10m",
    // Also runs when the execution is cancelled while the courier is being booked.
    rollback: async (order: Order) => {
      console.log(`withdrew the request for ${order.id}`);
    },
  },
  async (order: Order, { signal }) => {
    await work(order.courier_ms, undefined, { signal });
    return `courier for ${order.id} to ${order.address}`;
  },
);
//#endregion

/** Books whoever brings the parcel. */
export const bookDelivery = workflow(
  { name: "book_delivery", namespace: "examples", input: Order },
  async (order) => bookCourier(order),
);

/** Waits for a person, a date, another workflow and an outside event, one after the other. */
export const deliverOrder = workflow(
  { name: "deliver_order", namespace: "examples", input: Order },
  async (order) => {
    //#region pause
    const answer = await pause<{ address: string }>("check_address", {
      output: order.address,
      after: "2d",
    });
    const address = answer?.address ?? order.address; // Nobody answered: it is right.
    //#endregion

    //#region sleep
    await sleep(new Date(order.ship_at));
    //#endregion

    //#region call
    const booking = await call(bookDelivery, { ...order, address });
    //#endregion

    //#region signal
    const receipt = await signal<{ signed_by: string }>("delivered", {
      timeout: order.patience_days * DAY,
    });
    if (!receipt) return { booking, delivered: false };
    return { booking, delivered: true, signed_by: receipt.signed_by };
    //#endregion
  },
);
