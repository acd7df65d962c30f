import { expect, test } from "vitest";
import { OriginRule } from "./origin-rule.ts";

const rule = new OriginRule(["https://app.example.com", "https://tools.example/billing"]);

test.each([
  "http://localhost",
  "http://localhost:5173",
  "https://localhost:9000",
  "http://127.0.0.1:9000",
  "http://127.8.9.10",
  "http://[::1]:9000",
  "https://app.example.com",
  "https://tools.example",
])("GW-15 a page of %s may call", (origin) => {
  expect(rule.allows(origin)).toBe(true);
});

test.each([
  "null",
  "",
  "https://evil.example",
  "http://app.example.com",
  "https://app.example.com:8443",
  "https://app.example.com.evil.example",
  "http://localhost.evil.example",
  "http://localhost@evil.example",
  "http://127.0.0.1.evil.example",
  "http://evil.localhost",
  "http://128.0.0.1",
  "http://0.0.0.0",
  "http://[::2]",
  "file://localhost",
  "localhost",
  "http://localhost, https://evil.example",
])("GW-15 a page of %s may not", (origin) => {
  expect(rule.allows(origin)).toBe(false);
});
