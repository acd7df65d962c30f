/** Where a second kill may follow the first one. */

/** What the successor of a server comes by, and what its workers do about it. */
const AFTER_SERVER = [
  "engine:store:migrated",
  "engine:server:recovered sessions",
  "engine:server:recovered queue",
  "engine:server:recovered lead",
  "engine:server:recovered listening",
  "engine:store:writing sessions.connect",
  "engine:store:written sessions.connect",
  "engine:worker:received welcome",
  "engine:worker:answered",
  "engine:http:answering-line",
];

/** What the successor of a worker comes by, and what its server does about it. */
const AFTER_WORKER = [
  "engine:worker:registered",
  "engine:store:written sessions.open",
  "engine:store:writing sessions.lose",
  "engine:store:written sessions.lose",
  "engine:server:decided row alone",
  "engine:server:committed row alone",
  "engine:server:assigning recover",
  "engine:server:assigned recover",
  "engine:worker:received assign",
  "engine:worker:beginning start",
  "body begins",
  "engine:worker:ran RUNNING",
];

/** By what was killed first. */
export const RECOVERIES = { server: AFTER_SERVER, worker: AFTER_WORKER } as const;
