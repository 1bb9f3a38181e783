/** A case of a suite as a line of text. Pure. */
import type { components } from '../../../../client/src/index.ts';

type SuiteCase = components['schemas']['SuiteCase'];

export function caseLine(one: SuiteCase): string {
  return 'request' in one ? `request ${one.request}` : [one.session, one.turn ?? ''].join(' ').trim();
}

export function caseFromLine(line: string): SuiteCase {
  const [first = '', second, ...rest] = line.trim().split(/\s+/);
  if (first === 'request' && second !== undefined) return { request: [second, ...rest].join(' ') };
  return { session: first, ...(second !== undefined && { turn: [second, ...rest].join(' ') }) };
}
