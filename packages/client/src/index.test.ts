import { expect, test } from "vitest";
import * as client from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(client).sort()).toEqual([
    "FrameStream",
    "ResultTimeoutError",
    "WorkflowCancelledError",
    "WorkflowFailedError",
    "WorkflowPausedError",
    "createClient",
    "trustCaFile",
  ]);
});
