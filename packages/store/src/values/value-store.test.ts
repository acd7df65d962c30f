import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Config } from "@engine/contract";
import { describe, expect, test, vi } from "vitest";
import { executionId } from "../conformance/sample.ts";
import { type FakeS3, startFakeS3 } from "../testing/fake-s3.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { fileValues } from "./file-values.ts";
import { openValueStore } from "./open-value-store.ts";
import { openS3Values } from "./s3-values.ts";
import type { ValueStore } from "./value-store.ts";

vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDTEST");
vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
vi.stubEnv("AWS_MAX_ATTEMPTS", "1");

interface Opened {
  readonly values: ValueStore;
  /** Where things lie that only the storage itself can see. */
  paths(): string[];
  /** Puts something there behind the engine's back. */
  overwrite(reference_id: string, text: string): void;
}

const folder = temporaryFolder();
let folders = 0;

function openFile(): Opened {
  const path = join(folder, String(++folders), "deep", "values");
  return {
    values: fileValues(path),
    paths: () => {
      mkdirSync(path, { recursive: true });
      const found = readdirSync(path, { recursive: true, withFileTypes: true });
      return found
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
    },
    overwrite: (reference_id, text) => writeFileSync(join(path, reference_id), text),
  };
}

async function openS3(s3: FakeS3 | undefined = undefined): Promise<Opened> {
  const { endpoint, objects } = s3 ?? (await startFakeS3());
  const options = { bucket: "values", prefix: "/engine/v/", endpoint, region: "eu-test-1" };
  const start = "values/engine/v/";
  return {
    values: await openS3Values(options),
    paths: () => [...objects.keys()].map((key) => key.replace(start, "")),
    overwrite: (reference_id, text) => objects.set(start + reference_id, text),
  };
}

const TEXT = '{"a":"ü—😀","b":[1,2]}';
const DIGEST = createHash("sha256").update(TEXT).digest("hex");
const execution_id = executionId(1);

for (const [type, open] of [
  ["file", openFile],
  ["s3", openS3],
] as const) {
  describe(`${type} storage`, () => {
    test("EXE-49 a value is kept under its execution and the hash of its text", async () => {
      const { values } = await open();
      const reference = await values.save(execution_id, TEXT);
      expect(reference).toEqual({
        storage_type: type,
        reference_id: `${execution_id}/${DIGEST}`,
        metadata: { bytes: Buffer.byteLength(TEXT) },
      });
      expect(await values.load(reference.reference_id)).toBe(TEXT);
    });

    test("EXE-49 the same text again is the same object, also when saved at once", async () => {
      const { values, paths } = await open();
      const first = await values.save(execution_id, TEXT);
      const again = await Promise.all([
        values.save(execution_id, TEXT),
        values.save(execution_id, TEXT),
      ]);
      expect(again).toEqual([first, first]);
      expect(paths()).toEqual([first.reference_id]);
      const other = await values.save(executionId(2), TEXT);
      expect(paths().sort()).toEqual([first.reference_id, other.reference_id]);
    });

    test("EXE-49 the values of an execution go together, those of others stay", async () => {
      const { values, paths } = await open();
      for (const text of ["1", "2", "3", "4", "5"]) await values.save(execution_id, text);
      const other = await values.save(executionId(2), TEXT);
      await values.deleteAll(execution_id);
      await values.deleteAll(execution_id);
      expect(paths()).toEqual([other.reference_id]);
    });

    test("a value that is gone, or was changed behind our back, is not found", async () => {
      const { values, overwrite } = await open();
      const missing = `${execution_id}/${DIGEST}`;
      const gone = { code: "not_found", details: { resource: "value" } };
      await expect(values.load(missing)).rejects.toMatchObject(gone);
      const { reference_id } = await values.save(execution_id, TEXT);
      overwrite(reference_id, '{"a":');
      await expect(values.load(reference_id)).rejects.toMatchObject(gone);
    });

    test("nothing outside the storage can be named", async () => {
      const { values, paths } = await open();
      for (const id of ["..", ".", "", "a/b", "../x", "a\\b", "a\0"]) {
        await expect(values.save(id, TEXT)).rejects.toThrow(/not an execution id/);
        await expect(values.deleteAll(id)).rejects.toThrow(/not an execution id/);
        await expect(values.load(`${id}/${DIGEST}`)).rejects.toMatchObject({ code: "not_found" });
      }
      for (const reference of [DIGEST, `${execution_id}/..`, `${execution_id}/${DIGEST}/x`]) {
        await expect(values.load(reference)).rejects.toMatchObject({ code: "not_found" });
      }
      expect(paths()).toEqual([]);
    });
  });
}

test("a storage folder that cannot be written is trouble to try again, without its path", async () => {
  const path = join(folder, "occupied");
  writeFileSync(path, "a file");
  const error = await fileValues(path)
    .save(execution_id, TEXT)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "unavailable" });
  expect(String(error)).not.toContain(dirname(path));
});

test("S3 gets every request signed, with the credentials of its own chain", async () => {
  const s3 = await startFakeS3();
  const { values } = await openS3(s3);
  const { reference_id } = await values.save(execution_id, TEXT);
  await values.load(reference_id);
  await values.deleteAll(execution_id);
  expect(s3.signatures).toHaveLength(4);
  for (const signature of s3.signatures) {
    expect(signature).toMatch(/Credential=AKIDTEST\/\d{8}\/eu-test-1\/s3\/aws4_request/);
  }
});

test("an S3 that refuses, or has no such bucket, is trouble to try again and no missing value", async () => {
  const s3 = await startFakeS3();
  const { values } = await openS3(s3);
  const { reference_id } = await values.save(execution_id, TEXT);
  for (const [status, code] of [
    [403, "AccessDenied"],
    [404, "NoSuchBucket"],
    [503, "SlowDown"],
  ] as const) {
    s3.refusal = { status, code };
    const answer = { code: "unavailable", message: expect.stringContaining(code) };
    await expect(values.load(reference_id)).rejects.toMatchObject(answer);
    await expect(values.save(execution_id, TEXT)).rejects.toMatchObject(answer);
  }
});

test("EXE-97 the storage is the file one in the home folder unless the configuration says else", async () => {
  const home = join(folder, "home");
  const values = await openValueStore(Config.parse({ home }));
  const { reference_id } = await values.save(execution_id, TEXT);
  const named = await openValueStore(
    Config.parse({ home: "elsewhere", storage: { path: join(home, "values") } }),
  );
  expect(await named.load(reference_id)).toBe(TEXT);
});

test("EXE-97 an S3 storage without a bucket, a region or the SDK stops the start in one line", async () => {
  vi.stubEnv("AWS_CONFIG_FILE", join(folder, "no-config"));
  vi.stubEnv("AWS_REGION", undefined);
  await expect(openValueStore(Config.parse({ storage: { type: "s3" } }))).rejects.toMatchObject({
    code: "invalid_input",
    message: 'engine.storage.bucket: type = "s3" needs the name of a bucket',
  });
  const options = { bucket: "values", prefix: "" };
  await expect(openS3Values(options)).rejects.toMatchObject({
    code: "invalid_input",
    message: "engine.storage.region: no region is known; set it here or in AWS_REGION",
  });
  // What Node says when the package is not there.
  const missing = Object.assign(new Error("Cannot find package '@aws-sdk/client-s3' imported …"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(openS3Values(options, () => Promise.reject(missing))).rejects.toMatchObject({
    code: "invalid_input",
    message:
      'engine.storage.type: "s3" needs the package @aws-sdk/client-s3; install it beside the engine: npm install @aws-sdk/client-s3',
  });
});
