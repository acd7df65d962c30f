import { task, workflow } from "@engine/sdk";
import { z } from "zod";

const Amount = z.object({ cents: z.int(), from: z.string(), to: z.string() });
type Amount = z.infer<typeof Amount>;

//#region cache
export const exchangeRate = task(
  {
    name: "exchange_rate",
    // Amounts differ from call to call; the rate depends on the currencies alone.
    cache: { ttl: "1h", key: ({ from, to }: Amount) => [from, to] },
  },
  async ({ from, to }: Amount) => {
    // Stands for a service that charges for each request.
    return from === to ? 1 : 1 + (from.length + to.length) / 100;
  },
);
//#endregion

/** Converts an amount at a rate that is at most an hour old. */
export const convertAmount = workflow(
  { name: "convert_amount", namespace: "examples", input: Amount },
  async (amount) => Math.round(amount.cents * (await exchangeRate(amount))),
);
