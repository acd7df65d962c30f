//#region workflow
import { pause, sleep, task, workflow } from "@engine/sdk";

export interface Order {
  readonly id: string;
  readonly cents: number;
}

export const charge = task(
  { name: "charge", retry: { maxAttempts: 3, delay: "10s" }, timeout: "30s" },
  async (order: Order, { idempotencyKey, signal }) => {
    const body = JSON.stringify({ cents: order.cents, key: idempotencyKey });
    const answer = await fetch("https://pay.example/charges", { method: "POST", body, signal });
    if (!answer.ok) throw new Error(`payment answered ${answer.status}`);
    return (await answer.json()) as { receipt: string };
  },
);

export const ship = task({ name: "ship" }, async (order: Order) => {
  const answer = await fetch(`https://depot.example/parcels/${order.id}`, { method: "PUT" });
  return answer.text();
});

export const checkout = workflow({ name: "checkout", namespace: "shop" }, async (order: Order) => {
  if (order.cents > 50_000) {
    const answer = await pause<{ ok: boolean }>("review", { output: order, after: "2d" });
    if (answer === undefined) return { status: "expired" };
    if (!answer.ok) return { status: "refused" };
  }
  const { receipt } = await charge(order);
  await sleep("1h"); // Until then the customer may correct the address.
  return { status: "shipped", receipt, parcel: await ship(order) };
});
//#endregion
