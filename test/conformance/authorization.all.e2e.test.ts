/**
 * The authorization server scenarios of the official conformance suite against Moniker. The suite prints the URL that a person opens in a
 * browser; the test signs in and allows the client there.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../e2e/everything-server.ts';
import { shareService } from '../e2e/shared-service.ts';
import { waitFor } from '../wait-for.ts';
import { failuresOf, keepFigures, listScenarios, runSuite, type SuiteResult } from './run-suite.ts';

const scenarios = listScenarios('authorization');
const service = shareService();
let result: SuiteResult;

beforeAll(async () => {
  await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate' }] });
  const port = await freePort();
  const client = { redirect_uris: [`http://127.0.0.1:${port}/callback`], token_endpoint_auth_method: 'none' };
  const { json } = await service.call('POST', '/oauth/register', client);
  let decision: Promise<void> | null = null;
  const args = ['--url', service.url, '--client-id', json.client_id, '--resource', `${service.url}/mcp/desk`, '--port', String(port)];
  result = await runSuite('authorization', args, (printed) => {
    const [, url] = /^(http\S+\/oauth\/authorize\?\S+)\n/m.exec(printed) ?? [];
    if (url === undefined || decision !== null) return;
    decision = allow(url);
    // Awaited below, when the suite has ended.
    decision.catch(() => undefined);
  });
  await decision;
});
afterAll(() => keepFigures('authorization', result));

/** What the person and the browser do. */
async function allow(url: string): Promise<void> {
  const post = (to: string, fields: Record<string, string>, cookie = ''): Promise<Response> =>
    fetch(to, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers: { origin: service.url, cookie } });
  const signedIn = await post(`${service.url}/sign-in`, { key: service.key });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await (await fetch(url, { headers: { cookie } })).text();
  const consent = /name="consent" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const allowed = await post(url, { decision: 'allow', consent }, cookie);
  // The suite prints the URL before it listens for the callback.
  await waitFor(() => fetch(allowed.headers.get('location') ?? ''));
}

describe('Moniker as the authorization server of MCP clients', () => {
  it('is tested by both scenarios', () => {
    expect(scenarios).toEqual(['authorization-server-metadata-endpoint', 'authorization-code-grant']);
  });

  it.each(scenarios)('passes the scenario %s', (scenario) => {
    expect(failuresOf(result, scenario)).toEqual([]);
    expect(result.get(scenario)?.map(({ status }) => status)).not.toContain('SKIPPED');
  });
});
