/**
 * Moments at which a worker that dies leaves something else behind, each a channel of
 * `node:diagnostics_channel`; see the failpoints of the server.
 */
import { type Channel, channel } from "node:diagnostics_channel";

/** The server knows this process, the process has not acted on that. */
export const registered: Channel = channel("engine:worker:registered");
/** A frame has arrived, nothing was made of it. */
export const received: Channel = channel("engine:worker:received");
/** A bundle has arrived; its file is not written. */
export const fetched: Channel = channel("engine:worker:fetched");
export const stored: Channel = channel("engine:worker:stored");
/** A copy is about to begin, or to go on in memory. */
export const beginning: Channel = channel("engine:worker:beginning");
/** A runner has handed events over, and their checkpoint is not sent. */
export const ran: Channel = channel("engine:worker:ran");
/** Checkpoints are committed, their runners do not know. */
export const answered: Channel = channel("engine:worker:answered");
export const releasing: Channel = channel("engine:worker:releasing");
export const released: Channel = channel("engine:worker:released");
/** From here on nothing new is taken. */
export const draining: Channel = channel("engine:worker:draining");

const FRAMES = ["welcome", "assign", "events", "control"];
const STATES = ["RUNNING", "PAUSED", "CANCELLING", "COMPLETED", "FAILED", "CANCELLED"];

/** Every failpoint of a worker, each as its channel followed by what it is of. */
export const WORKER_FAILPOINTS: readonly string[] = [
  ...FRAMES.map((of) => `${String(received.name)} ${of}`),
  ...["start", "wake"].map((of) => `${String(beginning.name)} ${of}`),
  ...STATES.map((of) => `${String(ran.name)} ${of}`),
  ...[registered, fetched, stored, answered, releasing, released, draining].map(({ name }) =>
    String(name),
  ),
];
