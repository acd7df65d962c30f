/** How a process masks secrets in whatever it tells; every line here is public. */
export { type EnvelopeMasks, maskEnvelopes } from "./envelope-masks.ts";
export type { MaskStream } from "./mask-stream.ts";
export { maskedValuesOf } from "./masked-values.ts";
export { createMasker, type Masker } from "./masker.ts";
