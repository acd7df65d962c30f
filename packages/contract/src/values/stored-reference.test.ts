import { expect, test } from "vitest";
import { type StoredReference, storageOf } from "./stored-reference.ts";

test("EXE-49 a reference tells who keeps its value", () => {
  const keeper = (storage_type: StoredReference["storage_type"]) => storageOf({ storage_type });
  expect(keeper("inline")).toBe("inline");
  expect([keeper("file"), keeper("s3")]).toEqual(["engine", "engine"]);
  expect([keeper("vault"), keeper("S3"), keeper("")]).toEqual(["custom", "custom", "custom"]);
});
