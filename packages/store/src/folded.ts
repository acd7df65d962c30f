/** As a label is compared: in any case, of any alphabet. */
export function folded(label: string): string {
  return label.toLowerCase();
}
