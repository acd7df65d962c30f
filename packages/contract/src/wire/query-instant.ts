import * as z from "zod";
import { parseUtcInstant } from "../values/time.ts";

/** An instant as people write it in a query; milliseconds since 1970. */
export const QueryInstant = z.string().transform((text, context) => {
  const at = parseUtcInstant(text);
  if (Number.isFinite(at)) return at;
  context.addIssue({
    code: "custom",
    message: "must be an instant such as 2026-11-20T09:00:00Z",
    input: text,
  });
  return z.NEVER;
});
