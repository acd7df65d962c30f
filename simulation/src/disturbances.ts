import { WORKER_ISSUER } from "@engine/contract";
import { ACCOUNT_ROLE, type Account, isUsable, oftenFirst, operatorCall } from "./accounts.ts";
import type { Clients } from "./clients.ts";
import type { ActivitySet, Fault } from "./evidence.ts";
import type { Network } from "./network.ts";
import type { Disturbance } from "./plan.ts";
import type { Process } from "./process.ts";
import type { Servers } from "./servers.ts";
import type { CommitRecord } from "./store/commit-record.ts";
import type { Workers } from "./workers.ts";
import type { World } from "./world.ts";

interface Parts {
  readonly world: World;
  readonly network: Network;
  readonly servers: Servers;
  readonly workers: Workers;
  readonly clients: Clients;
  readonly record: CommitRecord;
  /** None with authorization off. */
  readonly accounts: readonly Account[];
  /** Some of those that are disabled are banned, too. */
  readonly bans: boolean;
  readonly note: (fault: Fault) => void;
  readonly activity: (set: ActivitySet) => void;
  readonly isRough: () => boolean;
}

/** What is on its way to a store is there by then. */
const IN_FLIGHT_MS = 2_000;

/** The same through a server: a message that takes its time, and a slow store. */
const LATE_MS = 10_000;

/** An account is barred when an execution of it is at work, which is looked for so often. */
const MOST_LOOKS = 200;
const LOOK_MS = 100;
/** Longer than a worker may go on that nobody reaches. */
const MOST_BARRED_MS = 20_000;

/** Does to processes what the plan says, and undoes all of it. */
export class Disturbances {
  readonly #parts: Parts;
  readonly #paused = new Set<string>();
  /** Workers whose credentials were revoked. */
  readonly #revoked = new Set<string>();
  readonly #pausing = new Set<Promise<void>>();
  /** Workers that are paused, accounts that are barred, or may be. */
  #held = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin({ kind, target, ms, drawn }: Disturbance): void {
    const { world, servers, workers, network, accounts, bans, note, isRough } = this.#parts;
    if (!isRough()) return;
    const [server, worker] = [target % servers.count, target % workers.count];
    const names = { worker: workers.nameOf(worker), server: `s${server + 1}` };
    const noted = (fault: Fault["kind"], of: "worker" | "server" | null, until: number | null) =>
      note({
        kind: fault,
        at: world.now,
        until,
        worker: of === "worker" ? names.worker : null,
        server: of === "server" ? names.server : null,
      });
    // Another life begins soon, as whatever supervises processes would see to.
    const soon = Math.min(ms, 10_000);
    const until = world.now + ms;
    switch (kind) {
      case "kill_worker":
        noted("kill_worker", "worker", world.now + soon);
        workers.kill(worker);
        world.after(soon, () => workers.start(worker));
        break;
      case "kill_server":
        noted("kill_server", "server", world.now + soon);
        servers.kill(server);
        world.after(soon, () => servers.start(server));
        break;
      case "stall_worker":
        noted("stall_worker", "worker", until);
        workers.stall(worker, ms);
        break;
      case "stall_server":
        noted("stall_server", "server", until);
        servers.stall(server, ms);
        break;
      case "drain_worker":
        noted("drain_worker", "worker", null);
        void workers.drain(worker).then(() => world.after(soon, () => workers.start(worker)));
        break;
      case "stop_server":
        noted("kill_server", "server", null);
        void servers.stop(server).then(() => world.after(soon, () => servers.start(server)));
        break;
      case "partition": {
        noted("partition", "worker", until);
        const [a, b] = [names.worker, names.server];
        // One way, the other way, or both.
        if (drawn < 0.7) network.block(a, b, ms);
        if (drawn > 0.4) network.block(b, a, ms);
        world.trace.say(
          "network",
          () => `parts ${a} and ${b} for ${ms} ms${drawn < 0.4 || drawn >= 0.7 ? ", one way" : ""}`,
        );
        break;
      }
      case "clock_jump":
        noted("clock_jump", drawn < 0.5 ? "worker" : "server", null);
        this.#jump(drawn < 0.5 ? workers.life(worker)?.process : servers.process(server), {
          ms: Math.round((drawn - 0.5) * 4 * Math.min(ms, 20_000)),
        });
        break;
      case "pause_worker":
        this.#pausing.add(this.#pause(names.worker, ms));
        break;
      case "bar_account": {
        const account = oftenFirst(accounts, (drawn * 10) % 1);
        const how = drawn >= 0.6 ? "role" : bans && drawn < 0.3 ? "ban" : "disable";
        if (account)
          this.#pausing.add(this.#bar(account, { ms: Math.min(ms, MOST_BARRED_MS), how }));
        break;
      }
      case "revoke_worker":
        noted("revoke_worker", "worker", world.now + soon);
        this.#pausing.add(this.#revoke(names.worker, soon));
        break;
    }
  }

  /** Whether somebody keeps a worker from its work, or an execution from going on. */
  get isHolding(): boolean {
    const { accounts, record } = this.#parts;
    if (this.#held > 0 || record.shut.size > 0) return true;
    return accounts.some(({ id }) => !isUsable(record.principals, id));
  }

  /** Everything runs again, and every clock is right. */
  async heal(): Promise<void> {
    const { world, servers, workers, network } = this.#parts;
    world.trace.say("world", () => "heals: nothing is broken any more");
    network.heal();
    for (const one of servers.processes) this.#healProcess(one, { worker: null, server: one.name });
    for (const one of workers.processes) this.#healProcess(one, { worker: one.name, server: null });
    for (let at = 0; at < servers.count; at++) servers.start(at);
    for (let at = 0; at < workers.count; at++) workers.start(at);
    // A pause that is still on its way must not come last.
    await Promise.all(this.#pausing);
    await this.#wakeAll();
    for (const name of this.#revoked) await this.#letIn(name);
    await this.#giveAllBack();
    this.#held = 0;
  }

  #healProcess(process: Process, of: Pick<Fault, "worker" | "server">): void {
    if (!process.isAlive) return;
    process.goOn();
    if (process.time.skew === 0) return;
    const { world, note } = this.#parts;
    note({ kind: "clock_jump", at: world.now, until: null, ...of });
    process.time.skew = 0;
  }

  async #pause(name: string, ms: number): Promise<void> {
    this.#paused.add(name);
    this.#held++;
    await this.#set(name, "paused");
    this.#parts.world.after(ms, () => {
      this.#pausing.add(this.#set(name, "active").then(() => void this.#held--));
    });
  }

  /** Until that holds: a server that stood still may yet do what others were asked for in its place. */
  async #wakeAll(): Promise<void> {
    const { clients, record } = this.#parts;
    if (this.#paused.size === 0) return;
    for (const name of this.#paused) await this.#set(name, "active");
    do {
      await clients.pause(LATE_MS);
      for (const name of record.shut) await this.#set(name, "active");
    } while (record.shut.size > 0);
  }

  async #set(worker: string, desired: "active" | "paused"): Promise<void> {
    const { clients, world, activity } = this.#parts;
    // Known from the beginning: it may be done although nobody hears so.
    const set = { asked_at: world.now, at: null as number | null, worker, desired };
    activity(set);
    const isDone = await clients.operate(`make worker ${worker} ${desired}`, ({ fleet }) =>
      desired === "paused" ? fleet.pause(worker) : fleet.resume(worker),
    );
    if (isDone) set.at = world.now;
  }

  /** An account that cannot be used, or holds nothing: executions that run as it are held (AUTH-36). */
  async #bar(
    account: Account,
    { ms, how }: { readonly ms: number; readonly how: "disable" | "ban" | "role" },
  ): Promise<void> {
    const { clients, world } = this.#parts;
    const { subject } = account;
    this.#held++;
    await this.#untilAtWork(account);
    if (how === "disable") {
      await clients.operate(`disable ${subject}`, ({ principals }) =>
        principals.disable({ subject }, operatorCall("principals.disable")),
      );
    } else if (how === "ban") {
      await clients.operate(`ban ${subject}`, ({ principals }) =>
        principals.ban({ subject }, null, operatorCall("principals.ban")),
      );
    } else {
      await clients.operate(`revoke the role of ${subject}`, ({ principals }) =>
        principals.revokeRole({ subject }, ACCOUNT_ROLE, operatorCall("principals.revokeRole")),
      );
    }
    world.after(ms, () => {
      this.#pausing.add(this.#giveBack(account).then(() => void this.#held--));
    });
  }

  /** Most of the time executions wait: so it is looked for one that a worker has, for a while. */
  async #untilAtWork({ id }: Account): Promise<void> {
    const { clients, record, isRough } = this.#parts;
    for (let looks = 0; looks < MOST_LOOKS && isRough(); looks++) {
      const open = [...record.open.values()];
      if (open.some(({ run_as, session }) => run_as === id && session !== null)) return;
      await clients.pause(LOOK_MS);
    }
  }

  async #giveBack({ subject }: Account): Promise<void> {
    const { clients, bans } = this.#parts;
    if (bans) {
      await clients.operate(`unban ${subject}`, ({ principals }) =>
        principals.unban({ subject }, operatorCall("principals.unban")),
      );
    }
    await clients.operate(`enable ${subject}`, ({ principals }) =>
      principals.enable({ subject }, operatorCall("principals.enable")),
    );
    await clients.operate(`give ${subject} its role`, ({ principals }) =>
      principals.grantRole({ subject }, ACCOUNT_ROLE, operatorCall("principals.grantRole")),
    );
  }

  /** Until that holds: a database may still do what a server that has died had asked of it. */
  async #giveAllBack(): Promise<void> {
    const { accounts, clients, record } = this.#parts;
    if (accounts.length === 0) return;
    do {
      await clients.pause(IN_FLIGHT_MS);
      for (const account of accounts) {
        if (!isUsable(record.principals, account.id)) await this.#giveBack(account);
      }
    } while (accounts.some(({ id }) => !isUsable(record.principals, id)));
  }

  /** Revokes the line of a worker's credential, with its session, and keeps it away for a while. */
  async #revoke(worker: string, ms: number): Promise<void> {
    const { clients, world } = this.#parts;
    this.#revoked.add(worker);
    this.#held++;
    const name = { subject: worker, issuer: WORKER_ISSUER };
    await clients.operate(`disable worker ${worker}`, ({ principals }) =>
      principals.disable(name, operatorCall("principals.disable")),
    );
    world.after(ms, () => {
      this.#pausing.add(this.#letIn(worker).then(() => void this.#held--));
    });
  }

  async #letIn(worker: string): Promise<void> {
    const { clients, world, note } = this.#parts;
    const name = { subject: worker, issuer: WORKER_ISSUER };
    await clients.operate(`enable worker ${worker}`, ({ principals }) =>
      principals.enable(name, operatorCall("principals.enable")),
    );
    note({ kind: "revoke_worker", at: world.now, until: null, worker, server: null });
  }

  #jump(process: Process | undefined, { ms }: { ms: number }): void {
    if (!process) return;
    process.time.skew += ms;
    this.#parts.world.trace.say(process.name, () => `has its clock set by ${ms} ms`);
  }
}
