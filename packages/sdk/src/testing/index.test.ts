import { expect, test } from "vitest";
import * as testing from "./index.ts";

test("the public surface is deliberate", () => {
  expect(Object.keys(testing)).toEqual(["testEngine"]);
});
