/** The program of the thread that checks large inputs. */
import { type Json, pickPaths } from "@engine/contract";
import { serveJson } from "@engine/http/json";
import { checkInputHere } from "../catalog/input/input-check.ts";
import { requestHash } from "./idempotency.ts";
import type { InputAnswer, InputJob } from "./input-thread.ts";

serveJson<InputJob, InputAnswer>(({ bytes, schema, root, hashedWith, paths }) => {
  const value: Json = JSON.parse(Buffer.from(bytes.buffer).toString("utf8"));
  checkInputHere(schema, value, root);
  return {
    bytes,
    ...(hashedWith !== undefined && { request_hash: requestHash(value, hashedWith) }),
    ...(paths && { picked: pickPaths(value, paths) }),
  };
});
