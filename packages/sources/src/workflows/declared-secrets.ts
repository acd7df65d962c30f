import type { SourceIssue } from "@engine/contract";
import { type Subject, sourceIssue } from "../modules/source-issues.ts";
import type { Place } from "../modules/source-module.ts";
import { namesIn } from "./record-values.ts";

/** A secret that a workflow or task declares, and what is said of it where there is none of that name. */
export interface DeclaredSecret {
  readonly name: string;
  readonly warning: SourceIssue;
}

/** @param at Where the option is written, or what it belongs to. */
export function declaredSecrets(secrets: unknown, at: Place, subject: Subject): DeclaredSecret[] {
  return namesIn([secrets]).map((name) => {
    const message = `there is no secret ${name} yet: what asks for it fails until one is set, by npx engine secrets set ${name}`;
    const finding = { rule: "secret_unknown", message, place: at, path: "secrets" } as const;
    return { name, warning: sourceIssue(finding, subject) };
  });
}
