import { expect, test } from "vitest";
import * as sdk from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(sdk).sort()).toEqual([
    "CancelledError",
    "InvalidInputError",
    "InvalidOutputError",
    "TaskError",
    "TaskTimeoutError",
    "TerminalError",
    "UnencodableValueError",
    "ValueTooLargeError",
    "isWorkflow",
    "map",
    "now",
    "parallel",
    "pause",
    "pipeline",
    "progress",
    "random",
    "task",
    "uuid",
    "workflow",
  ]);
});
