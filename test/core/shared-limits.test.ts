/** `docs/limits.md` has every bound that keys and workspaces share, as the code has it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { poolBounds, queuedWrites, storedBounds, type PoolBounds } from '../../src/core/limits/pools.ts';
import type { ShareBounds } from '../../src/core/limits/fair-share.ts';
import { MB } from '../../src/core/limits/units.ts';

/** Bodies of strangers have their own section. */
const { strangerBodies: _strangers, ...pools } = poolBounds;
const all: (ShareBounds & Partial<PoolBounds>)[] = [...Object.values(pools), ...Object.values(storedBounds), queuedWrites];
const docs = join(import.meta.dirname, '../../docs/limits.md');
const inBytes = new Set(['bodyBytes', 'sandboxBytes', 'loggedBodies']);

function figure(bounds: ShareBounds, amount: number): string {
  if (amount === Number.POSITIVE_INFINITY) return '';
  return inBytes.has(bounds.limit) ? `${amount / MB} MB` : amount.toLocaleString('en-US');
}

it('The documentation has the maxima and waits of every bound that keys and workspaces share', () => {
  const text = readFileSync(docs, 'utf8');
  const rows = text.split('\n').flatMap((line) => {
    const [, name, , perKey, perWorkspace, total, above] = line.split('|').map((cell) => cell.trim());
    return above === undefined || name?.startsWith('`') !== true || name === '`limit`'
      ? []
      : [[name, perKey, perWorkspace, total, /waits \d+ s/.exec(above)?.[0] ?? '']];
  });
  const expected = all.map((bounds) => [
    `\`${bounds.limit}\`${bounds.total === Number.POSITIVE_INFINITY ? ' *' : ''}`,
    ...[bounds.perKey, bounds.perWorkspace, bounds.total].map((amount) => figure(bounds, amount)),
    bounds.waitMs === undefined ? '' : `waits ${bounds.waitMs / 1_000} s`,
  ]);
  expect(rows.toSorted()).toEqual(expected.toSorted());
});

it('The documentation has the maxima, the wait and the time of bodies of strangers', () => {
  const text = readFileSync(docs, 'utf8').replaceAll(/\s+/g, ' ');
  const { perKey, total, waitMs } = poolBounds.strangerBodies;
  expect(text).toContain(
    `have to arrive within ${limits.strangersBodyTimeoutMs / 1_000} seconds, and take ${perKey / MB} MB of memory at a time for each address and ${total / MB} MB in all. Others wait up to ${waitMs / 1_000} seconds`,
  );
});

it('No key alone can use all of what its workspace or the service has', () => {
  for (const { limit, perKey, perWorkspace, total } of all) {
    expect(perKey, limit).toBeLessThan(perWorkspace);
    expect(perWorkspace, limit).toBeLessThan(total);
  }
});
