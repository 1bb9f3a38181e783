/** Findings of a listed definition as they are gathered: where each is, in bounded words. What is found is said by those who look. */
import type { Finding } from './hold.ts';

/** As many as there are texts; how many are told is the reader's (`listing.ts`). */
export function addFinding(findings: Finding[], { finding, path, message }: Finding): void {
  findings.push({ finding, path: shortPath(path), message });
}

export function shortPath(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300).toWellFormed()}…` : path;
}
