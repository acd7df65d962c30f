/**
 * What looks wrong and is right: the only things that judges let pass. Each says which judge takes it,
 * and why. A run counts how often: one that is never taken is not needed, one that is taken all the
 * time hides something.
 */
export const EXCUSES = {
  "deleted by retention": {
    judge: "acknowledgedStarts",
    why: "What ended long enough ago is deleted, also when its start was acknowledged.",
  },
  "parked inside its function": {
    judge: "attributableRuns",
    why: "A function that waits for something gives its slot back, and is entered again by whoever goes on.",
  },
  "held inside its function": {
    judge: "attributableRuns",
    why: "A function that calls a task which is held for its principal goes back with it, and is entered again.",
  },
  "run again after a fault": {
    judge: "attributableRuns",
    why: "Who loses its worker, or the way to it, goes on elsewhere, and what was under way runs again.",
  },
  "recorded in the source of a fork": {
    judge: "attributableRuns",
    why: "A fork has the outcomes of functions that ran for the execution it was forked from.",
  },
  "begun in vain behind a cancel": {
    judge: "cancels",
    why: "A call that the code makes while it is unwound is recorded, and cancelled at once, or refused for its input.",
  },
  "begun by a copy that was kept": {
    judge: "cancels",
    why: "A worker that lost its server goes on; what it began before it heard of a cancel is recorded behind it.",
  },
  "on its way when a cancel came": {
    judge: "cancels",
    why: "A function that began before the cancel may have its start in the log behind it, and is entered again by who unwinds.",
  },
  "the word of a cancel takes its time": {
    judge: "cancels",
    why: "A worker that was not told yet goes on for a few seconds.",
  },
  "cut off from the word of a cancel": {
    judge: "cancels",
    why: "A worker that nobody reaches goes on until its session is given up.",
  },
  "nobody came to unwind": {
    judge: "cancels",
    why: "Without a worker an execution ends after a while, and its log says that it was not unwound.",
  },
  "cancelled before it was entered": {
    judge: "cancels",
    why: "A call whose function never began has nothing to undo.",
  },
  "null cannot be told from null": {
    judge: "consumedOnce",
    why: "Nothing in a log says which request brought a value that many of them send.",
  },
  "output of code that was ahead": {
    judge: "liveValues",
    why: "What code returned ahead of its log may be lost with what it made of it; only the recorded output counts.",
  },
  "timed out ahead of its log": {
    judge: "liveValues",
    why: "A running copy ends its waits by itself and goes on; an answer that is recorded first wins, and the code runs again.",
  },
  "value that no log holds": {
    judge: "liveValues",
    why: "Code runs ahead of its log; what it saw there may be lost, and nothing follows from it.",
  },
  "seen by a copy that was given up": {
    judge: "liveValues",
    why: "A copy that lost its claim goes on for a moment, and what it sees is lost.",
  },
  "reference shown for a value": {
    judge: "oneEnd",
    why: "While the storage of large values is away, an answer shows where the value is kept.",
  },
  "session ended by a wrong clock": {
    judge: "placement",
    why: "When a session ended is written by a clock that somebody had set.",
  },
  "ended from outside": {
    judge: "possibleOutputs",
    why: "A cancel, or an end that the engine makes, comes whatever the program would have come to.",
  },
  "opened anew by a fork": {
    judge: "racingResumes",
    why: "A fork opens the pause that was open at its cut again, and another answer resumes it.",
  },
  "large output cut off by a fork": {
    judge: "recordedOnce",
    why: "A large output is told by the outcome alone; a fork that cuts that off runs the function again.",
  },
  "rolled back behind its end": {
    judge: "recordedOnce",
    why: "A call that was given up is rolled back behind its outcome.",
  },
  "code never ran": {
    judge: "replayedLogs",
    why: "An execution that ended before a worker had it has nothing to replay.",
  },
  "sleeps by a clock that was set back": {
    judge: "resting",
    why: "A short sleep keeps its slot, also when a clock that is set back makes it a long one.",
  },
  "schedule's clock set back": {
    judge: "scheduleTicks",
    why: "The clock by which a tick was due was set between the tick and its start.",
  },
  "sent again after a hand-over": {
    judge: "singleWriter",
    why: "What a worker wrote under an earlier claim it may send again, and is told that it is there.",
  },
  "stream ended with its server": {
    judge: "streamOrder",
    why: "A server that stops ends every stream, whatever it was about.",
  },
  "state of the moment": {
    judge: "streamOrder",
    why: "The first frame tells the state, which may have come about without an event.",
  },
  "told, and then ended from outside": {
    judge: "toldTraces",
    why: "A call may be recorded with what follows it; an end from outside can come first, and then no log has it.",
  },
  "cut off from the word of its rights": {
    judge: "usablePrincipals",
    why: "A worker that nobody reaches goes on until it notices the silence, and begins what it could before.",
  },
  "worker's clock was set": {
    judge: "timers",
    why: "A worker measures what it waits by the time that passes, not by a clock that somebody sets.",
  },
  "another server's clock is behind": {
    judge: "timers",
    why: "A delay that is over by the clock of one server stays over where its worker comes to another one before the attempt begins.",
  },
  "woken by a server": {
    judge: "timers",
    why: "Who was parked until a server's clock said that it is time begins by the server's word, whatever its own clock says.",
  },
} as const;

export type ExcuseName = keyof typeof EXCUSES;

/** Takes an excuse. @returns True, always: what it is asked behind is let pass. */
export type Excuse = (name: ExcuseName) => true;

/** Of a judge that is asked by itself. */
export const uncounted: Excuse = () => true;

/** How often each excuse was taken. */
export type Excused = ReadonlyMap<ExcuseName, number>;
