/** Where a request's defects are written whole; nothing of them goes over the wire. */
export interface HttpLog {
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}
