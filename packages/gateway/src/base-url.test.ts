import { expect, test } from "vitest";
import { baseUrl } from "./base-url.ts";

test.each([
  [undefined, "0.0.0.0", "http://localhost:9000"],
  [undefined, "::", "http://localhost:9000"],
  [undefined, "127.0.0.1", "http://127.0.0.1:9000"],
  [undefined, "::1", "http://[::1]:9000"],
  [undefined, "billing.internal", "http://billing.internal:9000"],
  ["https://tools.example/billing/", "0.0.0.0", "https://tools.example/billing"],
])("MCA-4 with base URL %s and host %s clients find it at %s", (mcpBaseUrl, host, expected) => {
  expect(baseUrl({ mcpBaseUrl, host }, 9000)).toBe(expected);
});
