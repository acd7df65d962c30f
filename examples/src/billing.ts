import { pause, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Order = z.object({ id: z.string(), cents: z.int().positive() });
type Order = z.infer<typeof Order>;

const charge = task({ name: "charge" }, async ({ id }: Order) => `receipt-${id}`);
const giveBack = task({ name: "give_back" }, async ({ id }: Order) => `refund-${id}`);
const transfer = task({ name: "transfer" }, async (cents: number) => `transferred ${cents} cents`);

//#region invoice
/** Charges an order and says what it cost, with tax. */
export const invoice = workflow(
  { name: "invoice", namespace: "billing", input: Order },
  async (order) => {
    const receipt = await charge(order);
    return { id: order.id, receipt, total: Math.round(order.cents * 1.23) };
  },
);
//#endregion

/** Gives back what an order cost. */
export const refund = workflow(
  { name: "refund", namespace: "billing", input: Order },
  async (order) => ({ id: order.id, receipt: await giveBack(order) }),
);

//#region payout
/** Pays somebody out once a person has said yes. */
export const payout = workflow(
  { name: "payout", namespace: "billing", input: z.object({ to: z.string(), cents: z.int() }) },
  async ({ to, cents }) => {
    const answer = await pause<{ approved: boolean } | null>("approve", { output: { to, cents } });
    return answer?.approved ? await transfer(cents) : "refused";
  },
);
//#endregion
