/** Tools by hostile authors: each run ends by itself, leaves nothing behind, and does not affect the next run. */
import { afterAll, describe, expect, it } from 'vitest';
import type { SandboxEnd } from '../../src/core/turn/run-code.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { runIn, type Asked } from './harness.ts';
import { sample } from '../selection.ts';
import { onBusyMachine } from '../busy-machine.ts';
import { printStatistics } from '../statistics.ts';

type Row = { id: string; class: string; code: string; expect: string; note: string };

/** Rows that end differently than their class, and why that is right. */
const exceptions = new Map([
  ['exhaust-099', 'an array literal defines its items, so that setter never runs'],
  ['exhaust-104', 'there is no setTimeout, so there is nothing to exhaust'],
]);

const declared = ['read_file', 'write_file', 'http_request', 'self', 'other'];
const words = ['process', 'require', 'Deno', 'Bun', 'fetch', 'WebSocket', 'caches', 'navigator', 'WebAssembly', 'SharedArrayBuffer', 'env'];

describeCorpus('security/sandbox-hostile.jsonl', (path) => {
  const rows = readJsonLines<Row>(path);
  const chosen = sample('hostile programs of the corpus', rows, (_, index) => index % 3 === 0);
  let expected = 0;

  describe('every row', { retry: onBusyMachine }, () => {
    it.each(chosen.map((row) => [row.id, row] as const))('ends %s as the corpus expects', async (id, row) => {
      const { end, calls } = await runIn.withCalls(row.code, { tools: declared });
      const fault = faultOf(row, end, calls);
      if (exceptions.has(id)) expect(end).toEqual({ end: 'returned', value: null, console: '' });
      else expect(fault).toBeNull();
      expect(Object.hasOwn(globalThis, 'pwned') || 'polluted' in {} || 'success' in {}).toBe(false);
      expect(await runIn('return [typeof pwned, typeof keep, ({}).success ?? null]')).toMatchObject({
        end: 'returned',
        value: ['undefined', 'undefined', null],
      });
      if (fault === null) expected++;
    });
  });

  afterAll(() => {
    const told = [...exceptions].map(([id, why]) => `${id} (${why})`).join(', ');
    printStatistics(`sandbox-hostile: ${chosen.length} of ${rows.length} rows, ${expected} as expected, exceptions: ${told}`);
  });
});

/** null when it ended as its class says. */
function faultOf(row: Row, end: SandboxEnd, calls: readonly Asked[]): string | null {
  const is = (holds: boolean): string | null => (holds ? null : `${row.note}: ${JSON.stringify(end).slice(0, 200)}`);
  switch (row.expect) {
    case 'undefined-or-inert':
      return is(end.end === 'returned' && end.value === 'undefined');
    case 'error-or-sandbox-realm':
      return is(end.end === 'threw' || (end.end === 'returned' && !words.some((word) => JSON.stringify(end.value).includes(`"${word}"`))));
    case 'contained':
      return is(end.end === 'threw' || end.end === 'returned' || end.end === 'limit');
    case 'limit':
      return is(end.end === 'limit' || end.end === 'threw');
    case 'policy-holds':
      return is(policyHolds[row.id]?.(end, calls) ?? false);
    case 'serialised-or-error':
      return is(end.end === 'threw' || end.end === 'limit' || (end.end === 'returned' && isData(end.value)));
    default:
      return `no rule for ${row.expect}`;
  }
}

function isData(value: unknown): boolean {
  return JSON.stringify(JSON.parse(JSON.stringify(value))) === JSON.stringify(value);
}

/** Exactly one call of read_file with these arguments, whatever else was tried. */
const asks =
  (name: string, args: unknown) =>
  (_end: SandboxEnd, calls: readonly Asked[]): boolean =>
    calls.length === 1 && calls[0]?.name === name && JSON.stringify(calls[0].args) === JSON.stringify(args);
const returns =
  (value: unknown) =>
  (end: SandboxEnd): boolean =>
    end.end === 'returned' && JSON.stringify(end.value) === JSON.stringify(value);
const nothing = (end: SandboxEnd, calls: readonly Asked[]): boolean => end.end !== 'suspended' && calls.length === 0;

/** The sandbox's part of the policy: only declared tools, a limited number of calls, unchanged arguments. The rest is tested with `callTool`. */
const policyHolds: Record<string, (end: SandboxEnd, calls: readonly Asked[]) => boolean> = {
  'tool-calls-105': (end, calls) => end.end === 'limit' && end.limit === 'calls' && calls.length === 100,
  'tool-calls-106': (end, calls) => end.end === 'limit' && end.limit === 'calls' && calls.length === 0,
  'tool-calls-107': asks('self', {}),
  'tool-calls-108': asks('other', {}),
  'tool-calls-109': nothing,
  'tool-calls-110': asks('read_file', { path: 'a' }),
  'tool-calls-111': nothing,
  'tool-calls-112': asks('read_file', { path: '../../etc/passwd' }),
  'tool-calls-113': asks('http_request', { url: 'http://169.254.169.254/' }),
  'tool-calls-114': nothing,
  'tool-calls-115': nothing,
  'tool-calls-116': returns(declared),
  'tool-calls-117': nothing,
  'tool-calls-118': returns({}),
  'tool-calls-119': returns([1]),
  'tool-calls-120': returns({ a: 1 }),
  'tool-calls-121': asks('read_file', { path: 'a' }),
  'tool-calls-122': asks('read_file', { path: 'a', confirmed: true, confirmationId: 'x' }),
  'tool-calls-123': nothing,
  'tool-calls-124': asks('read_file', 'a'),
  'tool-calls-125': asks('read_file', {}),
  'tool-calls-126': asks('read_file', { path: {} }),
  'tool-calls-127': asks('read_file', { path: 'a' }),
};
