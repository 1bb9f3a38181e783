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

  it('are sent by the functions that the table types, and by no other one of the SDK', () => {
    const used = new Set(sources.flatMap((source) => [...source.matchAll(/client\.(\w+)\(/g)].map(([, name]) => name)));
    const sending = [...used].filter((name) => name?.startsWith('get') === false && !['connect', 'close'].includes(name));
    // `callTool` sends tools/call, `listen` sends subscriptions/listen, and `request` takes an `UpstreamMethod` or a task's method. The
    // notification says that roots have changed.
    expect(sending.sort()).toEqual(['callTool', 'listen', 'notification', 'request']);
  });
});
