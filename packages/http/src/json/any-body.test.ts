/** `FUZZ_RUNS` sets how many bodies each property sees. */
import { EngineError } from "@engine/contract";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { parseJsonBody } from "./json-body.ts";
import { scanJson } from "./scan-json.ts";

const numRuns = Number(process.env["FUZZ_RUNS"] ?? 1000);
vi.setConfig({ testTimeout: 30_000 + numRuns * 20 });

const PIECES = [
  ...'{}[]:,"\\ \n\t0123456789-+.eEtfnu/*',
  ...'true false null \\u0000 \\ud800 "a": 1e999 -0 01 .5 0x1 NaN // \''.split(" "),
  "\u2028",
  "\ufeff",
  "😀",
];
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((all) => all.join(""));
const json = fc.jsonValue().map((value) => JSON.stringify(value, null, 1));
/** JSON that lost, gained or changed a little on its way. */
const damaged = fc.tuple(json, fc.nat(), fc.nat(3), pieces).map(([text, at, length, other]) => {
  const from = at % (text.length + 1);
  return text.slice(0, from) + other.slice(0, 3) + text.slice(from + length);
});
const text = fc.oneof(pieces, json, damaged, fc.string({ unit: "binary" }));

/** What the runtime's own reader says of it. */
function reference(from: string): { value: unknown } | undefined {
  try {
    return { value: from === "" ? null : JSON.parse(from) };
  } catch {
    return undefined;
  }
}

function refusal(bytes: Buffer): EngineError | undefined {
  try {
    parseJsonBody(bytes);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(EngineError);
    return error as EngineError;
  }
}

test("EXE-79 a body is read as the runtime reads it, or refused with the place where it stops being JSON", () => {
  fc.assert(
    fc.property(text, (given) => {
      const bytes = Buffer.from(given);
      const expected = reference(bytes.toString());
      if (expected) {
        expect(parseJsonBody(bytes)).toEqual(expected.value);
        return;
      }
      const refused = refusal(bytes);
      expect(refused).toMatchObject({ code: "bad_request" });
      const { position, line, column } = (refused?.details ?? {}) as Record<string, number>;
      expect(position).toBeLessThanOrEqual(given.length);
      const lines = given.split("\n");
      expect(line).toBeLessThanOrEqual(lines.length);
      expect(column).toBeLessThanOrEqual((lines[Number(line) - 1]?.length ?? 0) + 1);
    }),
    { numRuns },
  );
});

test("EXE-79 NET-1 any bytes at all are a value or a bad request", () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((all) => Buffer.from(all));
  fc.assert(
    fc.property(bytes, (given) => {
      const refused = refusal(given);
      if (refused) expect(refused.code).toBe("bad_request");
    }),
    { numRuns },
  );
});

test("NET-1 what is nested deeper than 128 levels is refused, however it ends, and nothing else for its depth", () => {
  const opened = fc.array(fc.constantFrom("[", '{"a":'), { minLength: 100, maxLength: 300 });
  fc.assert(
    fc.property(opened, fc.boolean(), pieces, (open, isClosed, rest) => {
      const closing = open.map((text) => (text === "[" ? "]" : "}")).reverse();
      const end = isClosed ? `1${closing.join("")}` : rest;
      const refused = refusal(Buffer.from(open.join("") + end));
      const isDeep = /deeper than 128/.test(refused?.message ?? "");
      if (open.length > 128) expect(isDeep).toBe(true);
      else if (isClosed) expect(refused).toBeUndefined();
    }),
    { numRuns },
  );
});

/** What a scan says of a text, from the value that the runtime makes of it. */
function counted(value: unknown, depth = 0): { values: number; depth: number; hasProto: boolean } {
  const found = { values: 1, depth, hasProto: false };
  if (typeof value !== "object" || value === null) return found;
  found.depth = depth + 1;
  for (const [key, item] of Object.entries(value)) {
    const inner = counted(item, depth + 1);
    found.values += inner.values;
    found.depth = Math.max(found.depth, inner.depth);
    found.hasProto ||= inner.hasProto || (key === "__proto__" && !Array.isArray(value));
  }
  return found;
}

function scanned(bytes: Buffer) {
  try {
    const { values, depth, hasProto, onlyKey } = scanJson(bytes);
    return { values, depth, hasProto, onlyKey };
  } catch (error) {
    return error as EngineError;
  }
}

test("EXE-79 NET-1 a large body is taken and refused as a small one is, by the same words", () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.uint8Array({ maxLength: 300 })), (given) => {
      const bytes = Buffer.from(given as string);
      if (bytes.length === 0) return;
      const refused = refusal(bytes);
      const found = scanned(bytes);
      if (!refused) expect(found).not.toBeInstanceOf(EngineError);
      else expect((found as EngineError).toBody()).toEqual(refused.toBody());
    }),
    { numRuns },
  );
});

test("EXE-79 what is counted in a body is what is in it", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", "$rich", "$stored", "_"));
  const tree = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  const escaped = (from: string) =>
    from.replace(/_/g, (letter, at: number) => (at % 2 === 0 ? "\\u005F" : letter));
  fc.assert(
    fc.property(tree, fc.boolean(), (value, isEscaped) => {
      const plain = JSON.stringify(value, null, isEscaped ? 1 : 0);
      const bytes = Buffer.from(isEscaped ? escaped(plain) : plain);
      const again = JSON.parse(bytes.toString());
      const isObject = typeof again === "object" && again !== null && !Array.isArray(again);
      const keys = isObject ? Object.keys(again) : [];
      const onlyKey = keys.length === 1 ? keys[0] : undefined;
      expect(scanned(bytes)).toEqual({ ...counted(again), onlyKey });
    }),
    { numRuns },
  );
});
