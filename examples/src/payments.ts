import { signal, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Invoice = z.object({ id: z.string(), customer: z.string(), cents: z.int().positive() });
type Invoice = z.infer<typeof Invoice>;

export const sendInvoice = task(
  { name: "send_invoice" },
  async ({ id, customer, cents }: Invoice) => `${customer} owes ${cents} cents for ${id}`,
);

const sendReminder = task(
  { name: "send_reminder" },
  async ({ invoice, open }: { invoice: Invoice; open: number }) =>
    `${invoice.customer} still owes ${open} cents for ${invoice.id}`,
);

/** Sends an invoice and waits for the bank to report payments: in one sum or in parts. */
export const collectPayment = workflow(
  { name: "collect_payment", namespace: "examples", input: Invoice },
  async (invoice) => {
    await sendInvoice(invoice);
    //#region collect
    let open = invoice.cents;
    let reminded = false;
    while (open > 0) {
      const payment = await signal<{ cents: number }>("paid", { timeout: "14d" });
      if (payment) {
        open -= payment.cents;
        continue;
      }
      if (reminded) break;
      await sendReminder({ invoice, open });
      reminded = true;
    }
    //#endregion
    return { open, reminded };
  },
);
