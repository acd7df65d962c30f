import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const document = readFileSync(join(root, "docs/openapi.json"), "utf8");

async function problems(source: string): Promise<string[]> {
  const config = await loadConfig({ configPath: join(root, "redocly.yaml") });
  const found = await lintFromString({ source, absoluteRef: "openapi.json", config });
  return found.map(({ ruleId, message, location }) => {
    return `${ruleId}: ${message} at ${location[0]?.pointer}`;
  });
}

test("the OpenAPI document has nothing that its linter complains of", async () => {
  expect(await problems(document)).toEqual([]);
});

test("the linter sees what is wrong with a document", async () => {
  const { servers: _, security: __, ...rest } = JSON.parse(document);
  const ready = rest.paths["/ready"].get;
  ready.security = undefined;
  ready.responses = { 200: { description: "fine" } };
  const rules = (await problems(JSON.stringify(rest))).map((problem) => problem.split(":", 1)[0]);
  expect(new Set(rules)).toEqual(
    new Set(["no-empty-servers", "operation-4xx-response", "security-defined"]),
  );
});
