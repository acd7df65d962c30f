/** A permission, and whether the caller holds it. */
export function heldLine(permission: string, isHeld: boolean): string {
  return `${isHeld ? "yes" : "no "}  ${permission}`;
}
