/**
 * The server scenarios that each revision requires, against a server of both eras whose tools ask while a call is open: what it passes
 * directly, it passes through `/mcp/{toolset}` too.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from '../e2e/shared-service.ts';
import { startAuthorizingProxy, type AuthorizingProxy } from './authorizing-proxy.ts';
import { failuresOf, keepFigures, runSuite, type SuiteResult } from './run-suite.ts';
import { startFixtureUpstream, type FixtureUpstream } from './upstream.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
let upstream: FixtureUpstream;
let proxy: AuthorizingProxy;

beforeAll(async () => {
  upstream = await startFixtureUpstream('both', true);
  const document = { kind: 'mcp', url: upstream.url, trusted: true, sampling: true };
  expect((await service.call('PUT', '/v1/servers/dual', document)).json).toMatchObject({ connection: { era: 'modern' }, warnings: [] });
  const { json } = await service.call('GET', '/v1/servers/dual');
  const tools = json.tools.map(({ canonical }: { canonical: string }) => ({ tool: canonical }));
  expect((await service.call('PUT', '/v1/toolsets/dual', { tools })).status).toBe(201);
  proxy = await startAuthorizingProxy(service.url, service.key);
});
afterAll(async () => {
  proxy?.close();
  await upstream.close();
});

const passedBy = (result: SuiteResult): string[] => [...result.keys()].filter((name) => failuresOf(result, name).length === 0).sort();

/** What the fixtures pass of the scenarios with the largest part of each revision; they have no tasks and few tools for `input_required`. */
const required = {
  '2025-11-25': ['tools-call-elicitation', 'tools-call-sampling', 'elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
  '2026-07-28': [
    'server-stateless',
    'http-custom-header-server-validation',
    'http-header-validation',
    'caching',
    'tools-call-with-progress',
  ],
} as const;

describe.each(['2025-11-25', '2026-07-28'] as const)('a server of both eras, for clients of %s', (revision) => {
  it('passes through a toolset what it passes directly', async () => {
    const run = (url: string): Promise<SuiteResult> => runSuite('revision', ['--url', url, '--requirements', revision]);
    const direct = passedBy(await run(upstream.url));
    const result = await run(`${proxy.url}/mcp/dual`);
    keepFigures(`revision ${revision}`, result);
    expect(direct).toEqual(expect.arrayContaining([...required[revision]]));
    expect(passedBy(result)).toEqual(expect.arrayContaining(direct));
  });
});
