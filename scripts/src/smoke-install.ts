/** Installs the packed tarballs in an empty folder and uses them from there, as a user would. */
import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const home = mkdtempSync(join(tmpdir(), "engine-smoke-"));

try {
  for (const folder of globSync("packages/*", { cwd: root })) {
    run("npm", ["pack", "--silent", "--pack-destination", home], join(root, folder));
  }
  writeFileSync(join(home, "package.json"), '{ "type": "module", "private": true }');
  const tarballs = globSync("*.tgz", { cwd: home }).map((file) => `./${file}`);
  run("npm", ["install", "--no-audit", "--no-fund", ...tarballs], home);
  copyFileSync(join(root, "examples/src/hello.ts"), join(home, "hello.ts"));
  const printed = execFileSync(
    process.execPath,
    ["node_modules/@engine/cli/bin/engine.js", "exec", "hello.ts", "hello_world", '"World"'],
    { cwd: home, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  if (!printed.includes("Hello, World")) {
    throw new Error(`expected the output "Hello, World", engine exec printed: ${printed}`);
  }
  console.log("the packed packages install and run");
} finally {
  rmSync(home, { recursive: true, force: true });
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
}
