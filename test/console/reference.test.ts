import { beforeAll, describe, expect, it } from 'vitest';
import { initialForm, toCall } from '../../src/console/pages/docs/call.ts';
import { exampleOf } from '../../src/console/pages/docs/example.ts';
import { type ApiReference, operationsUsing, readReference, referredSchemas, streaming } from '../../src/console/pages/docs/reference.ts';
import { buildSearchIndex, searchReference, type SearchIndex } from '../../src/console/pages/docs/search.ts';
import { snippetsOf } from '../../src/console/pages/docs/snippets.ts';
import { bodyOf, createHarness } from '../http/harness.ts';

let document: { paths: Record<string, Record<string, unknown>> };
let reference: ApiReference;
let index: SearchIndex;

beforeAll(async () => {
  document = await bodyOf(await createHarness().send('GET', '/openapi.json'));
  reference = readReference(document);
  index = buildSearchIndex(reference);
});

const titles = (query: string): string[] => searchReference(index, query).map(({ title }) => title);

describe('the reference of this service', () => {
  it('has every operation once, in a group', () => {
    const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
    expect(count).toBeGreaterThan(100);
    expect(reference.operations.size).toBe(count);
    expect(reference.tags.flatMap(({ operations }) => operations)).toHaveLength(count);
    expect(reference.tags.map(({ name }) => name)).not.toContain('Other');
  });

  it('separates the scopes from the description', () => {
    const operation = reference.operations.get('createChatCompletion');
    expect(operation?.scopes).toEqual(['chat']);
    expect(operation?.description).not.toContain('Scope:');
  });

  it('refers only to schemas that exist', () => {
    expect([...referredSchemas(document)].filter((name) => reference.schemas[name] === undefined)).toEqual([]);
  });

  it('knows which operations use a schema, also through other schemas', () => {
    expect(operationsUsing(reference, 'ToolsetEntry').map(({ id }) => id)).toContain('putToolset');
  });

  it('knows which operations stream', () => {
    expect(streaming(reference.operations.get('createChatCompletion')!)).toBe('optional');
    expect(streaming(reference.operations.get('getHealth')!)).toBe('never');
  });

  it('has a readable example of every schema, and snippets of every operation', () => {
    for (const [name, schema] of Object.entries(reference.schemas)) {
      const size = JSON.stringify(exampleOf(schema, reference.schemas, 'response')).length;
      expect([name, size < 20_000]).toEqual([name, true]);
    }
    for (const operation of reference.operations.values()) {
      const form = initialForm(operation, reference.schemas);
      for (const { code } of snippetsOf(toCall(operation, form), 'http://localhost', '')) expect(code).not.toContain('undefined');
    }
  });
});

describe('the search', () => {
  it('finds every operation first by its id and by its path with its method', () => {
    const missed = [...reference.operations.values()].filter(({ id, method, path }) => {
      const first = (query: string): string | undefined => searchReference(index, query)[0]?.href;
      return first(id) !== `#operation/${id}` || first(`${method} ${path}`) !== `#operation/${id}`;
    });
    expect(missed.map(({ id }) => id)).toEqual([]);
  });

  it('ranks names above descriptions', () => {
    expect(titles('chat completion')[0]).toMatch(/^Create a chat completion/);
    expect(titles('toolset')[0]).toMatch(/toolset/i);
  });

  it('matches parameters and schemas', () => {
    expect(titles('idempotency-key').length).toBeGreaterThan(1);
    expect(titles('ToolsetEntry')).toContain('ToolsetEntry');
    expect(searchReference(index, 'TurnRequest').some(({ kind }) => kind === 'operation')).toBe(true);
  });

  it('requires every word, in any order and case', () => {
    expect(titles('COMPLETION chat')).toContain('Create a chat completion (OpenAI)');
    expect(titles('chat zebra')).toEqual([]);
    expect(titles('   ')).toEqual([]);
  });

  it('treats signs of regular expressions as text', () => {
    for (const query of ['.*', '(', '[a', '\\', '{toolset}']) expect(() => titles(query)).not.toThrow();
    expect(titles('{toolset}').length).toBeGreaterThan(3);
  });
});
