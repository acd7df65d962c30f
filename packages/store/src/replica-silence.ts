/** A server that has said nothing for longer is gone: it holds no session, and does not lead. */
export const REPLICA_GONE_MS = 6_000;
