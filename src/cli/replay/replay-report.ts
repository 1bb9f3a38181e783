/** A replay as the terminal shows it: the counts, what changed in sums, and the cases to look at. */
import { type components, type MonikerClient, paginate } from '../../../client/src/index.ts';
import { print } from '../../local/printing.ts';
import { inLine, renderTable } from '../output.ts';
import { findingsOf, findingsText } from './findings.ts';

type Replay = components['schemas']['Replay'];
type ReplayCase = components['schemas']['ReplayCase'];
type Facts = components['schemas']['ReplayFacts'];

/** Cases that a run shows; `moniker replay show` has all. */
const maxShownCases = 20;
const idLength = 13;

export async function casesOf(client: MonikerClient, id: string): Promise<ReplayCase[]> {
  const cases: ReplayCase[] = [];
  for await (const one of paginate(client, '/v1/replays/{replay}/cases', { path: { replay: id }, query: { limit: 200 } })) cases.push(one);
  return cases;
}

/** `40 cases: 36 same, 3 different, 1 failed`. */
export function countsOf({ cases: { total, left, done, ...counts } }: Replay): string {
  const parts = Object.entries(counts).flatMap(([status, count]) => (count === 0 ? [] : [`${count} ${status}`]));
  const open = total - done - counts.skipped;
  return [
    `${total === 1 ? '1 case' : `${total} cases`}: ${[...parts, ...(open > 0 ? [`${open} to do`] : [])].join(', ') || 'none'}`,
    ...(left > 0 ? [`${left} left out`] : []),
  ].join('; ');
}

/** `session 0a1b2c3d4e5f turn_1a2b3c4d`, or `request …`: the beginnings of the ids, which tell them apart. */
export function subjectOf({ session, turn, request }: Pick<ReplayCase, 'session' | 'turn' | 'request'>): string {
  const [kind, id] = request === null ? ['session', session ?? '-'] : ['request', request];
  return [`${kind} ${id.slice(0, idLength)}`, ...(turn === null ? [] : [turn.slice(0, idLength)])].join(' ');
}

/** Of the cases with something to look at. */
export function caseRows(cases: readonly ReplayCase[]): string[][] {
  return cases.flatMap((one) => {
    const found = findingsOf(one);
    return found.length === 0 ? [] : [[String(one.number), one.status, subjectOf(one), findingsText(found)]];
  });
}

/** `stopped (maxCost was used)`. */
export function endText(status: Replay['status'], reason: string | null): string {
  return reason === null ? status : `${status} (${reason.replace(/\.$/, '')})`;
}

export function printReplay(replay: Replay, cases: readonly ReplayCase[], { all = false } = {}): void {
  const { id, suite, status, reason, rules, uncounted, recorded, replayed } = replay;
  const rows = caseRows(cases);
  const shown = all ? rows : rows.slice(0, maxShownCases);
  if (shown.length > 0) print(`${renderTable([['CASE', 'STATUS', 'RECORDED IN', 'WHY'], ...shown])}\n`);
  if (rows.length > shown.length) print(`And ${rows.length - shown.length} more: moniker replay show ${id}\n`);
  print(renderTable([['', 'RECORDED', 'REPLAYED'], ...factRows(recorded, replayed)]));
  const of = suite === null ? '' : ` of ${suite.name}@${suite.version}`;
  const checked = rules.passed + rules.failed === 0 ? '' : ` Rules: ${rules.passed} hold, ${rules.failed} do not.`;
  const lost = uncounted === 0 ? '' : ` Not counted: what ${uncounted} attempts used that did not end.`;
  print(`\n${inLine(`Replay ${id}${of}: ${endText(status, reason)}. ${countsOf(replay)}.${checked}${lost}`)}`);
}

function factRows(recorded: Facts, replayed: Facts): string[][] {
  const row = (label: string, text: (facts: Facts) => string): string[] => [label, text(recorded), text(replayed)];
  return [
    row('calls', ({ calls }) => String(calls)),
    row('steps', ({ steps }) => String(steps)),
    row('input tokens', ({ inputTokens, cachedInputTokens }) => `${inputTokens} (${cachedInputTokens} cached)`),
    row('output tokens', ({ outputTokens }) => String(outputTokens)),
    row('cost', ({ cost }) => (cost === null ? 'unknown' : String(Number(cost.toPrecision(3))))),
    row('time', ({ durationMs }) => `${(durationMs / 1_000).toFixed(1)} s`),
    row('approvals', ({ approvals }) => String(approvals)),
  ];
}
