/**
 * The event streams that are open now. A hijacked reply is out of Fastify's sight, so shutdown has
 * to end the streams itself, or closing would wait for readers that never leave.
 */
export class OpenStreams {
  readonly #ends = new Set<() => void>();

  get size(): number {
    return this.#ends.size;
  }

  /** @returns Takes the stream off the list again. */
  add(end: () => void): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /** Ends every stream without a closing frame (EXE-94). */
  endAll(): void {
    for (const end of [...this.#ends]) end();
  }
}
