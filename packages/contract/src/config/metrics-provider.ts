/** What has to stand in `engine.workers.metrics_provider`, in words. */
export const METRICS_PROVIDER =
  'a file and one of its exports, as "./metrics.ts#collect"; without "#collect" its default export; "" for none';

export interface MetricsProvider {
  readonly path: string;
  /** Of the export that gives the metrics. */
  readonly name: string;
}

/** Undefined for text that names no file, or nothing that an export can be called. */
export function parseMetricsProvider(text: string): MetricsProvider | undefined {
  const at = text.lastIndexOf("#");
  if (at < 0) return text === "" ? undefined : { path: text, name: "default" };
  const path = text.slice(0, at);
  const name = text.slice(at + 1);
  const isName = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
  return path !== "" && isName ? { path, name } : undefined;
}
