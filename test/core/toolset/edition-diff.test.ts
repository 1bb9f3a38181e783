import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Edition } from '../../../src/core/toolset/edition-tool.ts';
import { diffToolsets, type ToolsetDiff } from '../../../src/core/toolset/edition-diff.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { maxReportedDifferences } from '../../../src/core/toolset/edition-diff.ts';
import { runs } from '../../selection.ts';

const search = { type: 'object', properties: { query: { type: 'string' }, page: { type: 'integer', default: 1 } }, required: ['query'] };
const known = knownTools([
  toolOf('docs', 'search', { inputSchema: search }),
  ...['a', 'b', 'c', 'd', 'e'].map((name) => toolOf('s', `tool_${name}`)),
]);
const editionOf = async (document: object, over = known): Promise<Edition> => (await compile(document, over)).edition;
const diffOf = async (from: object, to: object): Promise<ToolsetDiff> =>
  diffToolsets({ edition: await editionOf(from) }, { edition: await editionOf(to) });
const letters = (order: string): object => ({ tools: [...order].map((letter) => ({ tool: `s.tool_${letter}` })) });

describe('diffToolsets', () => {
  it('returns nothing for equal versions', async () => {
    expect(await diffOf(letters('abc'), letters('abc'))).toEqual({ fields: [], changes: [], more: 0 });
  });

  it('reports the words and the choice of resources and prompts', async () => {
    const offering = (resources: unknown, prompts?: unknown) => ({
      ...letters('a'),
      resources,
      ...(prompts === undefined ? {} : { prompts }),
    });
    const before = offering([{ resource: 's.file:///a', name: 'A' }], ['s.review']);
    const after = offering([{ resource: 's.file:///a', name: 'B', uri: 'docs://b' }]);
    expect((await diffOf(before, after)).fields).toEqual([
      { path: '/resources/0/name', from: 'A', to: 'B' },
      { path: '/resources/0/uri', to: 'docs://b' },
      { path: '/prompts', from: ['s.review'] },
    ]);
  });

  it('reports added and removed entries', async () => {
    expect((await diffOf(letters('ab'), letters('bc'))).changes).toEqual([
      { change: 'added', canonical: 's.tool_c', wireName: 'tool_c', fields: [] },
      { change: 'removed', canonical: 's.tool_a', wireName: 'tool_a', fields: [] },
    ]);
  });

  it('reports all entries as added without an older version', async () => {
    const { changes, fields } = diffToolsets(null, { edition: await editionOf(letters('ab')), description: 'Two.' });
    expect([fields, changes.map(({ change, wireName }) => [change, wireName])]).toEqual([
      [],
      [
        ['added', 'tool_a'],
        ['added', 'tool_b'],
      ],
    ]);
  });

  it('reports a renamed tool as one changed field', async () => {
    const { changes } = await diffOf({ tools: [{ tool: 's.tool_a' }] }, { tools: [{ tool: 's.tool_a', name: 'first' }] });
    expect(changes).toEqual([
      { change: 'changed', canonical: 's.tool_a', wireName: 'first', fields: [{ path: '/wireName', from: 'tool_a', to: 'first' }] },
    ]);
  });

  it('matches several entries of one tool by their wire names, and the rest as renamed', async () => {
    const entry = (name: string, approval: string) => ({ tool: 's.tool_a', name, approval });
    const { changes } = await diffOf(
      { tools: [entry('one', 'policy'), entry('two', 'policy')] },
      { tools: [entry('three', 'policy'), entry('one', 'always')] },
    );
    expect(changes).toEqual([
      expect.objectContaining({
        change: 'changed',
        wireName: 'three',
        fields: [
          { path: '/wireName', from: 'two', to: 'three' },
          { path: '/position', from: 1, to: 0 },
        ],
      }),
      expect.objectContaining({ change: 'changed', wireName: 'one', fields: [{ path: '/approval', to: 'always' }] }),
    ]);
  });

  it('reports the exact place in aliases, texts and schemas', async () => {
    const other = knownTools([
      toolOf('docs', 'search', { inputSchema: { ...search, properties: { ...search.properties, page: { type: 'integer', default: 2 } } } }),
    ]);
    const from = { tools: [{ tool: 'docs.search', aliases: ['find', { name: 'seek', mode: 'hidden' }] }], description: 'Old.' };
    const to = {
      tools: [{ tool: 'docs.search', aliases: ['find', { name: 'seek', mode: 'deprecated', note: 'use find' }], description: 'Finds.' }],
    };
    const { changes, fields } = diffToolsets(
      { edition: await editionOf(from), description: 'Old.' },
      { edition: await editionOf({ ...to, announce: 'none' }, other) },
    );
    expect(fields).toEqual([
      { path: '/announce', from: 'prompt', to: 'none' },
      { path: '/description', from: 'Old.' },
    ]);
    expect(changes.flatMap((change) => change.fields)).toEqual([
      { path: '/aliases/seek/mode', from: 'hidden', to: 'deprecated' },
      { path: '/aliases/seek/note', to: 'use find' },
      { path: '/description', from: 'Does search.', to: 'Finds.' },
      { path: '/inputSchema/properties/page/default', from: 1, to: 2 },
      { path: '/refId', from: expect.any(String), to: expect.any(String) },
    ]);
  });

  it('reports only the entry that was moved, not those that it passed', async () => {
    const { changes } = await diffOf(letters('abcde'), letters('bcdea'));
    expect(changes).toEqual([
      { change: 'changed', canonical: 's.tool_a', wireName: 'tool_a', fields: [{ path: '/position', from: 0, to: 4 }] },
    ]);
    expect((await diffOf(letters('bcd'), letters('abcd'))).changes.map(({ change }) => change)).toEqual(['added']);
  });

  it('reports enough to restore the order, whatever changed', async () => {
    const orders = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(orders, orders, async (one, two) => {
        const { changes } = await diffOf(letters(one.join('')), letters(two.join('')));
        const named = new Set(changes.map(({ wireName }) => wireName.at(-1)));
        const still = (order: string[]) => order.filter((letter) => !named.has(letter));
        expect(still(two)).toEqual(still(one));
        for (const { change, wireName } of changes) {
          const letter = wireName.at(-1) as (typeof one)[number]; // The tools are named by it.
          expect([one.includes(letter), two.includes(letter)]).toEqual([change !== 'added', change !== 'removed']);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it('limits the reported fields and counts the rest', async () => {
    const many = (description: string) =>
      knownTools(
        Array.from({ length: 600 }, (_, index) => toolOf('s', `tool_${index}`, { description: `${description} ${index}.`, aliases: [] })),
      );
    const document = { tools: Array.from({ length: 600 }, (_, index) => ({ tool: `s.tool_${index}` })) };
    const { changes, more } = diffToolsets(
      { edition: await editionOf(document, many('Old')) },
      { edition: await editionOf(document, many('New')) },
    );
    expect(changes).toHaveLength(600);
    expect(changes.flatMap(({ fields }) => fields)).toHaveLength(maxReportedDifferences);
    expect(more).toBe(600 * 2 - maxReportedDifferences);
  });

  it('treats names of Object.prototype members as ordinary names', async () => {
    const schema = (type: string) => ({ type: 'object', properties: JSON.parse(`{"__proto__":{"type":"${type}"},"constructor":{}}`) });
    const over = (type: string) => knownTools([toolOf('s', 'tool_a', { inputSchema: schema(type) })]);
    const { changes } = diffToolsets(
      { edition: await editionOf(letters('a'), over('string')) },
      { edition: await editionOf(letters('a'), over('number')) },
    );
    expect(changes[0]?.fields).toContainEqual({ path: '/inputSchema/properties/__proto__/type', from: 'string', to: 'number' });
  });
});
