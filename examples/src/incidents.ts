import { type HookEnvelope, pause, task, workflow } from "@engine/sdk";

const charge = task({ name: "charge" }, async ({ card, cents }: Order) => {
  if (card === "expired") throw new Error("the card has expired");
  return `charged ${cents} cents`;
});

interface Order {
  card: string;
  cents: number;
}

/** A payment whose failure somebody has to look at. */
//#region declared
export const checkout = workflow(
  {
    name: "checkout",
    namespace: "examples",
    hooks: [
      { on: "failed", workflow: "examples/open_incident", principal: "ops-bot" },
      { on: "paused", workflow: "examples/ask_somebody", principal: "ops-bot", name: "ask" },
    ],
  },
  async (order: Order) => {
    if (order.cents > 10_000) await pause("large_order");
    return await charge(order);
  },
);
//#endregion

const writeDown = task({ name: "write_down" }, async (text: string) => text);

/** Opens one incident for an event, however often it is told of it: by the key of the event. */
//#region target
export const openIncident = workflow(
  { name: "open_incident", namespace: "examples" },
  async ({ event_key, event }: HookEnvelope) => {
    // Whoever runs a checkout chooses what its error says: it is shown, and nothing is decided by it.
    await writeDown(`${event.workflow_name} has failed: ${JSON.stringify(event.value)}`);
    return { incident: event_key, execution: event.execution_id };
  },
);
//#endregion

/** Tells a person that something waits for an answer. */
export const askSomebody = workflow(
  { name: "ask_somebody", namespace: "examples" },
  async ({ event }: HookEnvelope) =>
    writeDown(`${event.execution_id} waits: npx engine execution resume ${event.execution_id}`),
);

/** Is fired by its own end: it runs four times, and the fourth fires nothing more. */
//#region loop
export const tidy = workflow(
  {
    name: "tidy",
    namespace: "examples",
    hooks: [
      { on: "completed", workflow: "examples/tidy", principal: "ops-bot", name: "tidy-again" },
    ],
  },
  async (given: HookEnvelope | null) => given?.hop ?? "by hand",
);
//#endregion
