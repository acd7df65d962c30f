import { type OptionIssue, parsePackageRequest } from "@engine/contract";
import { validRange } from "semver";

/**
 * What is wrong with the packages that a workflow's option `requests` names, beyond what its shape
 * tells: a range that nothing can match against (RES-1). An option of a wrong shape is an issue
 * already.
 */
export function packageIssues(option: unknown): OptionIssue[] {
  const { packages } = (option ?? {}) as { packages?: unknown };
  if (!Array.isArray(packages)) return [];
  return packages.flatMap((stated: unknown, index): OptionIssue[] => {
    const range = typeof stated === "string" ? parsePackageRequest(stated)?.range : undefined;
    if (range === undefined || validRange(range) !== null) return [];
    const message = `option requests.packages of workflow() must be a list of packages, each a name or name@<semver range>, without "${stated}" at [${index}]: ${range} is no semver range`;
    return [{ path: "requests.packages", rule: "invalid_option", message }];
  });
}
