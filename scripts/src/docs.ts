/**
 * Prints the pages that come from tables and fills the code of all other pages from the examples.
 * `--check` writes nothing and fails when a page is not what it would be.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openApiDocument, routes } from "@engine/contract";
import { cliPage } from "./pages/cli-page.ts";
import { configurationPage } from "./pages/configuration-page.ts";
import { errorsPage } from "./pages/errors-page.ts";
import { httpPage } from "./pages/http-page.ts";
import { workerMetricsPage } from "./pages/worker-metrics-page.ts";
import { syncSnippets } from "./snippets.ts";

const root = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readText("packages/contract/package.json")) as { version: string };
const info = { title: "Engine", version, server: "http://127.0.0.1:8000" };
const document = openApiDocument(routes, info);

const pages = new Map<string, string>([
  ["docs/http.md", httpPage(openApiDocument(routes, { ...info, eachMode: false }))],
  ["docs/errors.md", errorsPage()],
  ["docs/configuration.md", configurationPage()],
  ["docs/cli.md", cliPage()],
  ["docs/worker-metrics-and-services.md", workerMetricsPage()],
  ["docs/openapi.json", `${JSON.stringify(document, null, 2)}\n`],
]);
for (const path of globSync(["README.md", "CONTRIBUTING.md", "docs/**/*.md"], { cwd: root })) {
  if (pages.has(path)) continue;
  pages.set(
    path,
    syncSnippets(readText(path), (source) => readText(join(dirname(path), source))),
  );
}

const stale = [...pages].filter(([path, text]) => readText(path) !== text);
if (!process.argv.includes("--check")) {
  for (const [path, text] of stale) {
    writeFileSync(join(root, path), text);
    console.log(`wrote ${path}`);
  }
} else if (stale.length) {
  for (const [path] of stale) console.error(`${path} is out of date: run "npm run docs"`);
  process.exitCode = 1;
}

/** The text of a file of the repository, empty when there is none. */
function readText(path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
