import { ChildFailedError, call, map, task, workflow } from "@engine/sdk";
import { z } from "zod";

const PRICES: Readonly<Record<string, number>> = { chair: 4_900, desk: 19_900, lamp: 2_500 };

const lookUp = task({ name: "look_up" }, async (item: string) => {
  const cents = PRICES[item];
  if (cents === undefined) throw new Error(`no price for ${item}`);
  return cents;
});

/** Prices one item. An execution of its own: it may pause, be cancelled, be run again alone. */
export const priceItem = workflow(
  { name: "price_item", namespace: "examples", input: z.string() },
  async (item) => await lookUp(item),
);

const file = task({ name: "file" }, async (quote: Quote) => `${quote.customer}.pdf`);

/** Files a quote; nobody waits for it. */
export const archiveQuote = workflow(
  { name: "archive_quote", namespace: "examples" },
  async (quote: Quote) => await file(quote),
);

interface Quote {
  readonly customer: string;
  readonly cents: number;
}

const Request = z.object({ customer: z.string(), items: z.array(z.string()).min(1) });

/** Prices every item in a child of its own and has the quote archived on the side. */
export const quote = workflow(
  { name: "quote", namespace: "examples", input: Request },
  async ({ customer, items }) => {
    //#region results
    const on_request: string[] = [];
    const prices = await map(items, async (item) => {
      try {
        return await call(priceItem, item);
      } catch (error) {
        if (!(error instanceof ChildFailedError)) throw error;
        on_request.push(item);
        return 0;
      }
    });
    //#endregion
    const cents = prices.reduce((sum, price) => sum + price, 0);
    //#region detach
    const archive_id = await call(
      archiveQuote,
      { customer, cents },
      { wait: false, detach: true }, // It goes on when this execution ends or is cancelled.
    );
    //#endregion
    return { customer, cents, on_request, archive_id };
  },
);
