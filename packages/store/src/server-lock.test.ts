import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockServer } from "./server-lock.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const folder = temporaryFolder();

test("a home folder has one server; the second is told which file says so", () => {
  const home = join(folder, "home");
  const lock = lockServer(home);
  expect(() => lockServer(home)).toThrow(
    expect.objectContaining({
      code: "conflict",
      message: `another server runs on ${home}/server.lock; stop it or choose another ENGINE_HOME`,
    }),
  );
  const other = lockServer(join(folder, "another home"));
  lock.release();
  lock.release();
  lockServer(home).release();
  other.release();
});

test("servers that share a database may share a home folder as well", () => {
  const home = join(folder, "shared");
  const lock = lockServer(home);
  lockServer(home, "postgres://ann:secret@db/engine").release();
  expect(() => lockServer(home, "sqlite:engine.db")).toThrow("another server runs");
  lock.release();
});

test("a server that is killed leaves its home free", async () => {
  const home = join(folder, "killed");
  const script = `
    const { lockServer } = await import("${new URL("./server-lock.ts", import.meta.url)}");
    globalThis.lock = lockServer(${JSON.stringify(home)});
    console.log("locked");
    setInterval(() => undefined, 60_000);`;
  const args = ["--conditions=@engine/source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  expect(() => lockServer(home)).toThrow(expect.objectContaining({ code: "conflict" }));
  child.kill("SIGKILL");
  await once(child, "exit");
  lockServer(home).release();
});

test("a home that cannot be used is named", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  const home = join(folder, "blocked");
  mkdirSync(join(home, "server.lock"), { recursive: true });
  for (const bad of [file, home]) {
    expect(() => lockServer(bad)).toThrow(
      expect.objectContaining({ code: "unavailable", message: expect.stringContaining(bad) }),
    );
  }
});
