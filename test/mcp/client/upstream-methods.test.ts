import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { upstreamMethods } from '../../../src/core/tools/upstream-method.ts';

const folder = join(import.meta.dirname, '../../../src/mcp/client');

/** What servers ask Moniker, and media types. */
const notSent = new Set([
  'elicitation/create',
  'roots/list',
  'sampling/createMessage',
  'application/json',
  'text/plain',
  'text/event-stream',
]);

const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8').replaceAll(/^import .*$/gm, ''));

describe('the methods that the MCP client sends', () => {
  it('have a row in the table that says what authorizes each', () => {
    const named = sources.flatMap((source) => [...source.matchAll(/'((?:[a-z]+\/)+[a-zA-Z]+)'/g)].map(([, method]) => method ?? ''));
    const sent = new Set(named.filter((method) => !notSent.has(method) && !method.startsWith('notifications/')));
    expect([...sent].filter((method) => !(method in upstreamMethods))).toEqual([]);
    expect(sent.size).toBeGreaterThan(12);
  });

  it('are written by the functions that the table types, and nowhere else', () => {
    const writing = sources.filter((source) => source.includes('requestText('));
    expect(writing).toHaveLength(1);
    // `request`, `handshake` and `sendLast`.
    expect(writing[0]?.match(/method: UpstreamMethod/g)?.length).toBeGreaterThan(2);
  });
});
