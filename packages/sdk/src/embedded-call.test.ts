import type { NewExecution } from "@engine/contract";
import { expect, test } from "vitest";
import { resolveEmbeddedCall } from "./embedded-call.ts";
import { workflow } from "./workflow.ts";

const child = workflow({ name: "child" }, async () => null);

test.each([{ name: "page", delivery_id: "d", hop: 2 }, null])(
  "HOOK-33 a child has the hook of its parent behind it, in a local run too: %j",
  (hook) => {
    const start = { workflow: "default/child", input: null, wait: true, detach: false };
    const parent = { execution_id: "e1", depth: 0, hook };
    const resolved = resolveEmbeddedCall(
      { parent, task_call_id: "call~1", start },
      { max_depth: 3, target: () => child, fresh: (_, of) => of as NewExecution },
    );
    expect(resolved).toMatchObject({ kind: "child", fresh: { hook } });
  },
);
