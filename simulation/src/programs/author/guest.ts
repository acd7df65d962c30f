/** A workflow that comes and goes while requests for it do: it ends at once, with nothing to do. */
import { type Workflow, workflow } from "@engine/sdk";
import { port } from "./surroundings.ts";

/** Another number is another content. */
const VERSION = 1;

export const guest: Workflow<unknown, readonly unknown[]> = workflow(
  { name: "guest", namespace: "east" },
  async (_, ctx) => {
    // What a sequence of nothing returns, which is the program that it is given.
    const value = Array.from({ length: VERSION }).slice(VERSION);
    port()?.saw({ execution_id: ctx.executionId, path: "output", kind: "output", value });
    return value;
  },
);
