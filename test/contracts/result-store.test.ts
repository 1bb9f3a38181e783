import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { utf8Length } from '../../src/core/text/utf8.ts';
import type { ResultStore } from '../../src/ports/result-store.ts';
import { createResultStore } from '../../src/objects/session/log/result-store.ts';
import { sessionMigrations } from '../../src/objects/session/object/schema.ts';
import { fakeSql } from '../fakes/sql-storage.ts';
import { maxStoredResultBytes } from '../../src/storage/kept-result.ts';
import { createMemoryResults } from '../../src/storage/memory-results.ts';
import { fetchedResultBytes } from '../../src/core/toolset/injected-tool.ts';

const text = (value: string) => [{ type: 'text' as const, text: value }];

const stores: { kind: string; make(maxBytes?: number): ResultStore }[] = [
  { kind: 'a session', make: (maxBytes) => createResultStore(fakeSql(sessionMigrations), maxBytes) },
  { kind: 'memory', make: createMemoryResults },
];

/** Reads all pieces, as a model pages through them. */
function pieces(results: ResultStore, callId: string, maxBytes: number): string[] {
  const found: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const piece = results.read(callId, offset, maxBytes);
    if (piece === null) throw new Error('it is not stored');
    found.push(piece.text);
    offset = piece.nextOffset;
  }
  return found;
}

describe.each(stores)('results stored in $kind', ({ make: store }) => {
  it('are read back whole in pieces of any size, none larger than requested', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (value, maxBytes) => {
        const results = store();
        results.store('call_1', text(value));
        const read = pieces(results, 'call_1', maxBytes);
        expect(read.join('')).toBe(value.toWellFormed());
        expect(read.every((piece) => utf8Length(piece) <= maxBytes)).toBe(true);
      }),
    );
  });

  it('return at least one character, however small the limit, and never half of one', () => {
    const results = store();
    results.store('call_1', text('a😀é'));
    expect(pieces(results, 'call_1', 1)).toEqual(['a', '😀', 'é']);
    expect(results.read('call_1', 2, 100)).toMatchObject({ text: '😀é', nextOffset: null });
  });

  it('hold five megabytes over many rows', () => {
    const results = store();
    const value = Array.from({ length: 400_000 }, (_, index) => `line ${index} 😀`).join('\n');
    expect(utf8Length(value)).toBeGreaterThan(5_000_000);
    results.store('call_1', text(value));
    expect(pieces(results, 'call_1', fetchedResultBytes).join('')).toBe(value);
    expect(results.read('call_1', 0, 10)?.totalBytes).toBe(utf8Length(value));
  });

  it('end with a note when they were too long to store', () => {
    const results = store();
    results.store('call_1', text('x'.repeat(maxStoredResultBytes + 1)));
    expect(results.read('call_1', maxStoredResultBytes, 1000)?.text).toMatch(/^\n\[Cut: only the first 16777216 of 16777217 bytes/);
  });

  it('have their images at the lines that name them, as many in a piece as a model can get', () => {
    const results = store();
    const image = (letter: string) => ({
      type: 'image' as const,
      data: letter.repeat(limits.maxResultMediaBytes - 100),
      mimeType: 'image/png',
    });
    const over = { type: 'image' as const, data: 'x'.repeat(limits.maxResultMediaBytes), mimeType: 'image/png' };
    results.store('call_1', [...text('first'), image('a'), over, ...text('then'), image('b')]);
    const first = results.read('call_1', 0, 1000);
    expect(first).toMatchObject({ text: 'first\n[image: image/png]\n[image: image/png]\nthen\n', media: [image('a')] });
    expect(results.read('call_1', first?.nextOffset ?? 0, 1000)).toMatchObject({
      text: '[image: image/png]',
      media: [image('b')],
      nextOffset: null,
    });
    expect(results.read('call_1', 0, 8)?.media).toEqual([image('a')]);
    expect(results.read('call_1', 7, 1000)?.media).toEqual([image('b')]);
    results.store('call_1', text('first'));
    expect(results.read('call_1', 0, 1000)?.media).toEqual([]);
  });

  it('are replaced by a second run of the same call', () => {
    const results = store();
    results.store('call_1', text('x'.repeat(2_000_000)));
    results.store('call_1', text('short'));
    expect(results.read('call_1', 0, 100)).toEqual({ text: 'short', media: [], nextOffset: null, totalBytes: 5 });
  });

  it('are dropped for new ones, the oldest first', () => {
    const results = store(30);
    for (let index = 0; index < 5; index += 1) results.store(`call_${index}`, text('x'.repeat(10)));
    results.store('call_3', text('y'));
    const held = [0, 1, 2, 3, 4].map((index) => results.read(`call_${index}`, 0, 1)?.text ?? null);
    expect(held).toEqual([null, null, 'x', 'y', 'x']);
  });

  it('are empty at first', () => {
    const results = store();
    expect([results.hasAny(), results.read('call_1', 0, 10)]).toEqual([false, null]);
    results.store('call_1', text('kept'));
    expect([results.hasAny(), results.has('call_1'), results.has('call_2')]).toEqual([true, true, false]);
  });
});

it('results of a session survive a restart', () => {
  const sql = fakeSql(sessionMigrations);
  createResultStore(sql).store('call_1', text('kept'));
  expect(createResultStore(sql).hasAny()).toBe(true);
});
