import * as z from "zod";
import { Name } from "./catalog.ts";

/** What a cached task output is kept under (EXE-49a). */
export const CacheKey = z.strictObject({
  namespace: Name,
  task: Name,
  /** The option's `version`, by which an author drops what was kept before. */
  version: z.string().min(1).max(256),
  /** SHA-256, in hexadecimal, of the task's input or of what `key(input)` gave. */
  digest: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in hexadecimal"),
});
export type CacheKey = Readonly<z.infer<typeof CacheKey>>;
