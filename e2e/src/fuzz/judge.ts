/** What is wrong with an answer, whatever was asked. */
import { AnswerCheck } from "@engine/server/answer-check";
import type { RawRequest, Request } from "./requests.ts";
import type { Answer } from "./wire.ts";

/** A stack, a file of the engine's, a statement, or what a driver or the system says. */
const INSIDE =
  /(?:\n|\\n)\s*at \S+ \(|\(node:internal|node_modules|file:\/\/\/|\/packages\/\w+\/(?:src|dist)|\b(?:SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|SQLITE_|SqliteError|\bE(?:ACCES|NOENT|CONNREFUSED|PIPE)\b|duplicate key value|syntax error at or near/;

export class Judge {
  readonly #check = new AnswerCheck();
  readonly #secrets: readonly string[];

  /** @param folders Paths of this machine that no answer may hold. */
  constructor(folders: readonly string[]) {
    this.#secrets = folders;
  }

  /** Undefined when nothing is. */
  fault(request: Request | RawRequest, answer: Answer): string | undefined {
    const { status, type, head, text, isHung } = answer;
    if (isHung) return `no answer came, and the connection stayed open; ${text}`;
    const isRaw = "raw" in request;
    // A connection may be ended without a word where nothing was asked that could be answered.
    if (status === 0) {
      if (isRaw || mayBeCut(request)) return undefined;
      return `the connection ended without an answer: ${text}`;
    }
    const all = `${head}\n${text}`;
    const inside = INSIDE.exec(all)?.[0] ?? this.#secrets.find((folder) => all.includes(folder));
    if (inside !== undefined) return `the answer tells of the inside: ${JSON.stringify(inside)}`;
    if (text.includes('"code":"internal"')) return "a defect of the engine";
    // What has no body cannot tell whether it is an execution that failed.
    const isFailure = text === "" || text.includes('{"execution_id"');
    if (status === 500 && !isFailure) return "500 without a failed execution";
    if (isRaw) return undefined;
    return this.#check.misfit({ method: request.method, path: request.path, status, type, text });
  }
}

/** What is too large is refused while it is still being sent, and then nobody may read the answer. */
function mayBeCut({ body, headers }: Request): boolean {
  return (body?.length ?? 0) > 64 * 1024 || headers.some((text) => text.length > 8_000);
}
