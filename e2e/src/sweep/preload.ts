/** Loaded with `--import` into servers and workers of a sweep: it watches every failpoint. */
import { subscribe } from "node:diagnostics_channel";
import { flushCompileCache } from "node:module";
import { noteContacts } from "./contacts.ts";
import { strike } from "./strike.ts";

// Processes that are killed keep nothing, and those that come after them are to start quickly.
setTimeout(flushCompileCache, 300).unref();

noteContacts();

for (const name of (process.env["SWEEP_CHANNELS"] ?? "").split(",").filter(Boolean)) {
  subscribe(name, (message) => {
    const { of } = message as { of: readonly string[] };
    if (of.length === 0) strike(name);
    for (const one of of) strike(`${name} ${one}`);
  });
}
