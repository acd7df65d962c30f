import { relative } from "node:path";
import { errorText, reportError } from "../io/cli-error.ts";
import type { CliIo } from "../io/cli-io.ts";
import { screenOf } from "../render/paint.ts";
import { reportProblems } from "../workflow-file/report-problems.ts";
import { checkedLines } from "./checked-lines.ts";
import type { FileNews } from "./file-news.ts";
import { newsLines, refusalText } from "./news-lines.ts";
import type { Checked } from "./replay-checks.ts";

/** Prints what `engine dev` has to say: problems on stderr, all else on stdout. */
export class DevReporter {
  readonly #io: CliIo;
  readonly #serverFlag: string;

  constructor(io: CliIo, serverFlag: string) {
    this.#io = io;
    this.#serverFlag = serverFlag;
  }

  /** What is wrong with files, with what they leave as it is. */
  problems(news: readonly FileNews[]): void {
    for (const one of news) {
      const file = relative(this.#io.cwd, one.path);
      if (one.kind === "registered" && one.items.some(({ created }) => created)) {
        reportProblems(this.#io, { problems: one.warnings });
      }
      if (one.kind === "refused") {
        reportProblems(this.#io, one);
        reportError(this.#io, refusalText(file, undefined, one.kept));
      }
      if (one.kind === "failed") {
        reportError(this.#io, refusalText(file, errorText(one.error), one.kept));
      }
    }
  }

  saved(news: readonly FileNews[]): void {
    this.problems(news);
    this.#io.out.write(newsLines(news, screenOf(this.#io), this.#io.cwd));
  }

  checked(checked: Checked): void {
    const options = { ...screenOf(this.#io), serverFlag: this.#serverFlag };
    this.#io.out.write(checkedLines(checked, options));
  }

  lookFailed(message: string): void {
    reportError(this.#io, `the files could not be looked at: ${message}`);
  }
}
