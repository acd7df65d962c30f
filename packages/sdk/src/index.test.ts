import { expect, test } from "vitest";
import * as sdk from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(sdk).sort()).toEqual([
    "CancelledError",
    "ChildCancelledError",
    "ChildFailedError",
    "ConfigMissingError",
    "DepthLimitError",
    "InvalidInputError",
    "InvalidOutputError",
    "NotFoundError",
    "SecretMissingError",
    "TaskError",
    "TaskNotAuthorizedError",
    "TaskTimeoutError",
    "TerminalError",
    "TransientUnsupportedError",
    "UnencodableValueError",
    "ValueTooLargeError",
    "call",
    "getConfig",
    "graph",
    "isWorkflow",
    "map",
    "now",
    "parallel",
    "pause",
    "pipeline",
    "progress",
    "random",
    "signal",
    "sleep",
    "task",
    "uuid",
    "workflow",
  ]);
});
