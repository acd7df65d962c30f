import { WORKER_PROTOCOL, type WorkerProtocol } from "@engine/contract";
import { Outage } from "../link/outage.ts";
import { OwnSession } from "../link/own-session.ts";
import { setTimer } from "./set-timer.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A session for tests of what stands on it: its tries follow each other almost at once. */
export function createTestSession(link: WorkerProtocol): OwnSession {
  return new OwnSession({
    link,
    registration: {
      name: "worker",
      instance_id: "0199c0de-0000-7000-8000-000000000000",
      protocol: WORKER_PROTOCOL,
      engine_version: "0.1.0",
      host: "host",
      pid: 1,
      runtime: { os: "linux", arch: "x64", node: "v24" },
      labels: {},
      slots: 1,
      runners: ["thread"],
      default_runner: "thread",
      resources: null,
      packages: [],
      services: [],
    },
    outage: new Outage({ log: silent, monotonic: () => 0 }),
    setTimer,
    random: () => 0.01,
    life: new AbortController().signal,
    onRenewed: () => {},
    onRefused: () => {},
  });
}
