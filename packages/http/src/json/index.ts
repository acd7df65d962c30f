/** Large JSON as text, for code that serves no route itself: nothing here loads the HTTP side. */
export { isWrappedText, JsonText, printed } from "./json-text.ts";
export { JsonThread } from "./json-thread.ts";
export { LargeJson } from "./large-json.ts";
export { type JsonBytes, type JsonJob, serveJson } from "./serve-json.ts";
