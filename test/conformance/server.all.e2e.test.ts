/**
 * The server scenarios of the official conformance suite: against the fixtures themselves, to verify them, and against `/mcp/{toolset}`
 * with the fixtures as its upstream. The suite uses the 2025 revisions; the upstream servers use both.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from '../e2e/shared-service.ts';
import { startAuthorizingProxy, type AuthorizingProxy } from './authorizing-proxy.ts';
import { expectedFailures, failuresOf, keepFigures, listScenarios, runSuite, type SuiteResult } from './run-suite.ts';
import { startFixtureUpstream, type FixtureUpstream } from './upstream.ts';

const scenarios = listScenarios('server');
const expected = expectedFailures('server');

describe('the fixtures, called directly', () => {
  let upstream: FixtureUpstream;
  let result: SuiteResult;
  beforeAll(async () => {
    upstream = await startFixtureUpstream();
    result = await runSuite('server', ['--url', upstream.url, '--suite', 'all']);
  });
  afterAll(() => upstream.close());

  it('pass every scenario of the suite', () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(32);
    expect(scenarios.flatMap((scenario) => failuresOf(result, scenario).map((failure) => `${scenario}: ${failure}`))).toEqual([]);
  });
});

describe.each(['legacy', 'modern'] as const)('a toolset over MCP, with an upstream server of the %s era', (era) => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
  let upstream: FixtureUpstream;
  let proxy: AuthorizingProxy;
  let result: SuiteResult;

  beforeAll(async () => {
    upstream = await startFixtureUpstream(era);
    const document = { kind: 'mcp', url: upstream.url, trusted: true, sampling: true };
    const server = await service.call('PUT', '/v1/servers/fixtures', document);
    expect(server.json).toMatchObject({ health: { status: 'ok' }, warnings: [] });
    const tools = await service.call('GET', '/v1/servers/fixtures');
    const entries = tools.json.tools.map(({ canonical }: { canonical: string }) => ({ tool: canonical }));
    expect((await service.call('PUT', '/v1/toolsets/fixtures', { tools: entries })).status).toBe(201);
    proxy = await startAuthorizingProxy(service.url, service.key);
    result = await runSuite('server', ['--url', `${proxy.url}/mcp/fixtures`, '--suite', 'all']);
    keepFigures(`server, ${era} upstream`, result);
  });
  afterAll(async () => {
    proxy?.close();
    await upstream.close();
  });

  it.each(scenarios)('passes the scenario %s', (scenario) => {
    const failures = failuresOf(result, scenario);
    if (expected.has(scenario)) expect(failures).not.toEqual([]);
    else expect(failures).toEqual([]);
  });
});
