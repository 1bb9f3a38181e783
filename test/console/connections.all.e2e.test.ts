import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeConsole } from './console-tab.ts';

const callback = 'http://127.0.0.1:33418/callback';
const verifier = 'v'.repeat(43);
const hostileName = 'Editor\u202e<b>x</b>';

describeConsole('connected apps in the console', {}, ({ service, visit, lookAt, openTab }) => {
  /** Returns the path that an MCP client opens in the browser. */
  async function authorizePath(): Promise<string> {
    const metadata = { client_name: hostileName, redirect_uris: [callback], token_endpoint_auth_method: 'none' };
    const headers = { 'content-type': 'application/json' };
    const registered = await fetch(`${service.url}/oauth/register`, { method: 'POST', headers, body: JSON.stringify(metadata) });
    const { client_id = '' } = (await registered.json()) as { client_id?: string };
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id, redirect_uri: callback, resource: `${service.url}/mcp/demo` },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', scope: 'tools toolsets' },
    });
    return `/oauth/authorize?${query}`;
  }

  const clientOf = (path: string) => new URL(path, service.url).searchParams.get('client_id') ?? '';

  it('lists an app that a person signed in to, and disconnects it', async () => {
    await visit('/console/connections/apps', async (page) => {
      await page.getByRole('heading', { name: 'No app is connected' }).waitFor();
    });
    const { page } = await openTab();
    await page.route(`${callback}*`, (route) => route.fulfill({ body: 'the client' }));
    const path = await authorizePath();
    await page.goto(service.url + path);
    await page.getByLabel('Key', { exact: false }).first().fill(service.key);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('the client').waitFor();
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const fields = { grant_type: 'authorization_code', code, client_id: clientOf(path), redirect_uri: callback, code_verifier: verifier };
    expect((await fetch(`${service.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(200);
    await page.context().close();
    await visit('/console/connections', async (tab) => {
      await tab.getByRole('link', { name: 'Apps' }).click();
      const row = tab.getByRole('row').filter({ hasText: 'EditorU+202E<b>x</b>' });
      await row.getByText('/mcp/demo').waitFor();
      await row.getByRole('button', { name: 'Disconnect' }).click();
      await row.getByRole('group').getByRole('button', { name: 'Disconnect' }).click();
      await tab.getByRole('heading', { name: 'No app is connected' }).waitFor();
    });
    expect((await service.call('GET', '/v1/grants')).json.items).toEqual([]);
  });

  it('is accessible and fits its window, as are the pages that an app opens', async () => {
    const path = await authorizePath();
    await lookAt('/console/connections/apps', async (page, look) => {
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
      await look('apps');
      await page.goto(service.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await look('sign-in');
      await page.getByLabel('Key', { exact: false }).first().fill(service.key);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Allow' }).waitFor();
      await look('consent');
    });
  });
});
