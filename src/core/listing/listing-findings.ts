/** Collects findings about a listed definition, with bounded paths and messages. */
import type { Finding } from './hold.ts';

/** Adds one finding. The number is bounded by the number of texts; `listing.ts` limits how many are reported. */
export function addFinding(findings: Finding[], { finding, path, message }: Finding): void {
  findings.push({ finding, path: shortPath(path), message });
}

export function shortPath(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300).toWellFormed()}…` : path;
}
