/** What a case of a replay shows that a check may refuse. Pure. */
import type { components } from '../../../client/src/index.ts';

type ReplayCase = components['schemas']['ReplayCase'];

/** The kinds of `--fail-on`. */
export const findingKinds = ['calls', 'rules', 'errors'] as const satisfies string[];
export type CaseFindingKind = (typeof findingKinds)[number];
export type CaseFinding = { kind: CaseFindingKind; text: string };

/** Other calls than recorded, rules that do not hold, and cases that could not be compared. */
export function findingsOf({ status, reason, calls, rules }: ReplayCase): CaseFinding[] {
  const found: CaseFinding[] = [];
  const { changed, added, missing } = calls;
  if (status === 'different' || status === 'ended') {
    const counts = Object.entries({ changed, added, missing }).flatMap(([kind, count]) => (count === 0 ? [] : [`${count} ${kind}`]));
    found.push({
      kind: 'calls',
      text: [...(counts.length === 0 ? [] : [`calls: ${counts.join(', ')}`]), ...(reason === null ? [] : [reason])].join('; ') || status,
    });
  }
  if (status === 'failed' || status === 'unreadable' || status === 'skipped') found.push({ kind: 'errors', text: reason ?? status });
  return [
    ...found,
    ...rules
      .filter(({ passed }) => !passed)
      .map(({ rule, detail }): CaseFinding => ({ kind: 'rules', text: `${JSON.stringify(rule)}: ${detail}` })),
  ];
}

/** As one line. */
export function findingsText(found: readonly CaseFinding[]): string {
  return found.map(({ text }) => text.replace(/\.$/, '')).join('; ');
}
