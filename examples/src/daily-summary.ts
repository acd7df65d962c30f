import { cron, now, task, workflow } from "@engine/sdk";

interface Shop {
  readonly shop: string;
}

const countOrders = task(
  { name: "count_orders", retry: { maxAttempts: 5 } },
  async ({ shop, day }: Shop & { readonly day: string }) => (shop + day).length,
);

/** What a shop sold, each working day at seven in the morning. */
export const dailySummary = workflow(
  {
    name: "daily_summary",
    namespace: "examples",
    //#region schedule
    schedule: cron("0 7 * * 1-5", {
      timezone: "Europe/Lisbon",
      overlap: "queue",
      input: { shop: "books" },
    }),
    //#endregion
  },
  async ({ shop }: Shop) => {
    const day = (await now()).toISOString().slice(0, 10);
    return `${shop}, ${day}: ${await countOrders({ shop, day })} orders`;
  },
);
