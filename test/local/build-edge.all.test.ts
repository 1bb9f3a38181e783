/** The built edge handler: what it imports, how large it is, and that its modules work together outside of the bundler. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { createEdgeHandler } from '../../src/edge.ts';
import { buildEdge, edgeModule } from '../../src/local/build/build-edge.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-edge-'));
const maxBytes = 6_000_000;

beforeAll(async () => {
  await buildEdge(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('imports no module that only Cloudflare has, and few of Node', () => {
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const external = new Set(
    sources.flatMap((source) => [...source.matchAll(/["']((?:cloudflare|node|bun):[\w/]+)["']/g)].map(([, name]) => name)),
  );
  expect([...external].filter((name) => name?.startsWith('cloudflare:'))).toEqual([]);
  expect([...external].sort()).toEqual(['node:async_hooks', 'node:crypto', 'node:zlib']);
});

it('stays small enough for edge platforms', () => {
  const bytes = readdirSync(folder).reduce((sum, file) => sum + readFileSync(join(folder, file)).length, 0);
  expect(bytes).toBeLessThan(maxBytes);
});

it('answers requests, with its sandbox', async () => {
  const built = (await import(/* @vite-ignore */ pathToFileURL(join(folder, edgeModule)).href)) as {
    createEdgeHandler: typeof createEdgeHandler;
  };
  const MONIKER_ROOT_KEY = 'root-key-of-at-least-thirty-two-characters';
  const toolsets = { work: { tools: [{ tool: 'builtin.run_code' }] } };
  const handler = await built.createEdgeHandler({ env: { MONIKER_ROOT_KEY, MONIKER_LOG: 'error' }, project: { toolsets } });
  const response = await handler(
    new Request('https://edge.example/v1/toolsets/work/calls', {
      method: 'POST',
      headers: { authorization: `Bearer ${MONIKER_ROOT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'run_code', arguments: { code: 'return [1, 2].map((n) => n * 21);' } }),
    }),
  );
  expect(await response.text()).toContain('[21,42]');
});
