import { createHash, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Config } from "@engine/contract";
import { expect, onTestFinished, test } from "vitest";
import { type ReadRing, type RingSources, readKeyRing } from "./key-ring.ts";

function homeFolder(): string {
  const home = mkdtempSync(join(tmpdir(), "engine-ring-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function read(
  encryption: object,
  sources: Partial<Omit<RingSources, "encryption">> = {},
): ReadRing & { readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const config = Config.parse({ security: { encryption } });
  const found = readKeyRing({
    encryption: config.security.encryption,
    home: sources.home ?? homeFolder(),
    kind: sources.kind ?? "postgres",
    warn: (message) => warnings.push(message),
  });
  return { ...found, warnings };
}

const bytes = (fill: number) => Buffer.alloc(32, fill);
const base64 = (fill: number) => bytes(fill).toString("base64");
const idOf = (key: Buffer) => createHash("sha256").update(key).digest("hex").slice(0, 8);

test("SEC-1 a key alone is called by the first digits of its hash", () => {
  const { ring, problems } = read({ key: base64(1) });
  expect(problems).toEqual([]);
  expect(ring?.ids).toEqual([idOf(bytes(1))]);
  expect(ring?.primary).toEqual({ id: idOf(bytes(1)), key: bytes(1) });
});

test("SEC-1 a key in a file is the same key", () => {
  const home = homeFolder();
  const path = join(home, "key");
  writeFileSync(path, `${base64(1)}\n`, { mode: 0o600 });
  const { ring, warnings } = read({ key_file: path });
  expect(ring?.primary.id).toBe(idOf(bytes(1)));
  expect(warnings).toEqual([]);
});

test("SEC-1 of several keys the primary one seals, and all can be found", () => {
  const keys = { old: base64(1), "2026-10": base64(2) };
  const { ring } = read({ keys, primary: "2026-10" });
  expect(ring?.primary).toEqual({ id: "2026-10", key: bytes(2) });
  expect(ring?.of("old")).toEqual({ id: "old", key: bytes(1) });
  expect(ring?.of("other")).toBeUndefined();
  expect(ring?.ids.toSorted()).toEqual(["2026-10", "old"]);
});

test("SEC-1 on SQLite a key is made beside the database at need, once, for its owner alone", () => {
  const home = join(homeFolder(), "new");
  const [made, other] = [1, 2].map(() => read({}, { home, kind: "sqlite" }));
  expect([made?.problems, made?.ring?.ids, made?.ring?.of("a")]).toEqual([[], [], undefined]);
  expect(existsSync(home)).toBe(false);
  const primary = made?.ring?.primary;
  expect(primary?.key).toHaveLength(32);
  expect(made?.ring?.ids).toEqual([primary?.id]);
  // A process that looked before finds it, too.
  expect(other?.ring?.of(primary?.id ?? "")).toEqual(primary);
  expect(statSync(join(home, "encryption-key")).mode & 0o777).toBe(0o600);
  const again = read({}, { home, kind: "sqlite" });
  expect(again.ring?.primary).toEqual(primary);
  expect(read({}, { kind: "sqlite" }).ring?.primary.id).not.toBe(primary?.id);
});

test("SEC-1 servers that share a database have no key of their own", () => {
  const home = homeFolder();
  expect(read({}, { home })).toEqual({ ring: undefined, problems: [], warnings: [] });
  expect(existsSync(join(home, "encryption-key"))).toBe(false);
});

test("SEC-1 where none can be made nothing can be sealed, and nothing else is wrong", () => {
  const file = join(homeFolder(), "file");
  writeFileSync(file, "");
  const { ring, problems } = read({}, { home: join(file, "home"), kind: "sqlite" });
  expect(problems).toEqual([]);
  expect(() => ring?.primary).toThrow(expect.objectContaining({ code: "encryption_unavailable" }));
});

test("AUTH-3 a key beside the database that is none is told at once", () => {
  const home = homeFolder();
  writeFileSync(join(home, "encryption-key"), "x", { mode: 0o600 });
  const { ring, problems } = read({}, { home, kind: "sqlite" });
  expect(ring).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("expected base64 of 32 bytes")]);
});

test("SEC-1 where a key is configured none is made", () => {
  const home = homeFolder();
  read({ key: base64(1) }, { home, kind: "sqlite" });
  expect(existsSync(join(home, "encryption-key"))).toBe(false);
});

test("AUTH-3 a key that others may read is closed to them, with a warning", () => {
  const path = join(homeFolder(), "key");
  writeFileSync(path, base64(1));
  chmodSync(path, 0o644);
  const { ring, warnings } = read({ key_file: path });
  expect(ring).toBeDefined();
  expect(warnings).toEqual([expect.stringContaining("could be read by others")]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.runIf(process.getuid?.() === 0)("AUTH-3 a key of another user is refused", async () => {
  const { chownSync } = await import("node:fs");
  const path = join(homeFolder(), "key");
  writeFileSync(path, base64(1), { mode: 0o600 });
  chownSync(path, 12_345, 12_345);
  const { ring, problems } = read({ key_file: path });
  expect(ring).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("belongs to another user")]);
});

test("AUTH-3 everything wrong is told at once, and never the key", () => {
  const short = randomBytes(16).toString("base64");
  const { ring, problems } = read({
    key: short,
    key_file: "/nowhere/key",
    keys: { a: "not base64!", b: base64(2) },
    primary: "c",
  });
  expect(ring).toBeUndefined();
  expect(problems).toEqual([
    "engine.security.encryption.key and engine.security.encryption.key_file and engine.security.encryption.keys: only one of them can be set",
    expect.stringMatching(
      /^engine\.security\.encryption\.key: expected base64 of 32 bytes.*got 16/,
    ),
    expect.stringMatching(/^engine\.security\.encryption\.key_file: .* cannot be read \(ENOENT\)/),
    expect.stringMatching(/^engine\.security\.encryption\.keys\.a: expected base64/),
    "engine.security.encryption.primary: engine.security.encryption.keys has no key c, only a, b",
  ]);
  expect(problems.join("\n")).not.toContain(short);
  expect(problems.join("\n")).not.toContain("not base64!");
});

test.each([
  [{ keys: { a: base64(1) } }, "engine.security.encryption.primary: needed"],
  [{ keys: {}, primary: "a" }, "engine.security.encryption.primary: "],
  [{ primary: "a" }, "engine.security.encryption.primary: names a key"],
  [{ key: `${base64(1)}AAAA` }, "engine.security.encryption.key: expected base64 of 32 bytes"],
])("AUTH-3 %j is no ring", (encryption, problem) => {
  const { ring, problems } = read(encryption);
  expect(ring).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining(problem)]);
});
