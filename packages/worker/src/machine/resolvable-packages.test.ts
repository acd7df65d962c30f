import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resolvablePackages } from "./resolvable-packages.ts";

/** A folder with packages in it: what their manifests say, by folder. */
function installation(manifests: Record<string, unknown>): string {
  const root = mkdtempSync(join(tmpdir(), "engine-packages-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [folder, manifest] of Object.entries(manifests)) {
    const path = join(root, folder, "package.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof manifest === "string" ? manifest : JSON.stringify(manifest));
  }
  return root;
}

test("RES-3 a worker has the packages of every node_modules above it, the nearest of a name", async () => {
  const root = installation({
    "node_modules/left-pad": { version: "1.3.0" },
    "node_modules/sharp": { version: "0.33.0" },
    "node_modules/@acme/tools": { version: "2.0.0" },
    "app/node_modules/sharp": { version: "0.34.1" },
  });
  const { packages } = await resolvablePackages([], join(root, "app/src"));

  expect(packages).toEqual(
    expect.arrayContaining([
      { name: "left-pad", version: "1.3.0" },
      { name: "@acme/tools", version: "2.0.0" },
      { name: "sharp", version: "0.34.1" },
    ]),
  );
  expect(packages.filter(({ name }) => name === "sharp")).toHaveLength(1);
});

test("RES-3 what is no package is passed over", async () => {
  const root = installation({
    "node_modules/.cache": { version: "1.0.0" },
    "node_modules/broken": "{",
    "node_modules/nameless": { name: "nameless" },
  });
  const { packages } = await resolvablePackages([], root);

  const names = packages.map(({ name }) => name);
  expect(names).not.toEqual(expect.arrayContaining([".cache"]));
  expect(names).not.toEqual(expect.arrayContaining(["broken"]));
  expect(names).not.toEqual(expect.arrayContaining(["nameless"]));
});

test("RES-3 the packages of the configuration come on top, and win", async () => {
  const root = installation({ "node_modules/sharp": { version: "0.33.0" } });
  const added = ["sharp@1.0.0", "@acme/models@2.1.0", "@acme/any"];
  const { packages } = await resolvablePackages(added, root);

  expect(packages.slice(0, 3)).toEqual([
    { name: "sharp", version: "1.0.0" },
    { name: "@acme/models", version: "2.1.0" },
    { name: "@acme/any", version: "" },
  ]);
});

test("RES-3 a worker names at most 2,000 packages and knows how many it left out", async () => {
  const added = Array.from({ length: 2_003 }, (_, i) => `package-${i}@1.0.0`);
  const { packages, leftOut } = await resolvablePackages(added, installation({}));

  expect(packages).toHaveLength(2_000);
  expect(leftOut).toBeGreaterThanOrEqual(3);
});

test("RES-3 the worker's own installation has the SDK", async () => {
  const { packages } = await resolvablePackages([]);

  expect(packages).toContainEqual({ name: "@engine/sdk", version: expect.any(String) });
});
