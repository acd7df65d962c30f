import { expect, test } from "vitest";
import * as node from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(node).sort()).toEqual([
    "definedFacts",
    "findWorkflow",
    "installReplaySafeGlobals",
    "installSourceStacks",
    "isWorkflow",
    "machineTime",
    "nodeHost",
    "refusedReply",
    "replayHistory",
    "resolveEmbeddedCall",
    "runResult",
    "setLocalHost",
    "startExecution",
    "traceOf",
  ]);
});
