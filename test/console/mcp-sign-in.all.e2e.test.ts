/** A stock MCP client connects by address alone, with a person in a real browser. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport, UnauthorizedError, type OAuthClientProvider } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAccessibilityViolations, phone, scrollsSideways } from './browser.ts';
import { describeConsole } from './console-tab.ts';

describeConsole('a stock MCP client with the address of a toolset', {}, ({ service, openTab }) => {
  let receiver: Server;
  let returned: (url: URL) => void = () => undefined;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      if (request.url?.startsWith('/callback') !== true) return void response.end('You may close this page.');
      // As some clients do, to a page of another origin.
      response.writeHead(302, { location: `http://localhost:${(receiver.address() as AddressInfo).port}/done` }).end();
      returned(new URL(request.url, 'http://127.0.0.1'));
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'local.calculate' }] });
  });
  afterAll(() => {
    receiver.close();
  });

  /** The memory of a client that can open a browser and listens on a loopback port, as command line clients do. */
  function createProvider(open: (url: URL) => void): OAuthClientProvider & { saved: Record<string, unknown> } {
    const redirect = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/callback`;
    const saved: Record<string, unknown> = {};
    const keep = (name: string) => (value: unknown) => {
      saved[name] = value;
    };
    return {
      saved,
      redirectUrl: redirect,
      clientMetadata: { client_name: 'Stock client', redirect_uris: [redirect], token_endpoint_auth_method: 'none' },
      state: () => 'state-of-the-client',
      clientInformation: () => saved.client as never,
      saveClientInformation: keep('client'),
      tokens: () => saved.tokens as never,
      saveTokens: keep('tokens'),
      redirectToAuthorization: open,
      saveCodeVerifier: keep('verifier'),
      codeVerifier: () => String(saved.verifier),
    };
  }

  async function signInAndDecide(page: Page, url: URL, decision: 'Allow' | 'Deny'): Promise<string> {
    await page.goto(url.href);
    if (page.url().includes('/sign-in')) {
      await page.getByLabel('Root key').fill(service.key);
      await page.getByRole('button', { name: 'Sign in with the root key' }).click();
    }
    await page.getByRole('heading', { name: 'Allow Stock client to use your tools?' }).waitFor();
    const shown = await page.getByRole('main').textContent();
    await page.getByRole('button', { name: decision }).click();
    await page.getByText('You may close this page.').waitFor();
    return shown ?? '';
  }

  it('opens the browser, where the user signs in and allows it, then lists and calls a tool', async () => {
    let opened: URL | null = null;
    const provider = createProvider((url) => {
      opened = url;
    });
    const url = new URL(`${service.url}/mcp/desk`);
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider });
    await expect(new Client({ name: 'stock', version: '1' }).connect(first)).rejects.toThrow(UnauthorizedError);
    const { page, faults } = await openTab();
    const arrived = new Promise<URL>((resolve) => {
      returned = resolve;
    });
    const shown = await signInAndDecide(page, opened as unknown as URL, 'Allow');
    expect(shown).toContain('Stock client');
    expect(shown).toContain('an application on this computer');
    expect(shown).toContain('calculate');
    const callback = await arrived;
    expect(callback.searchParams.get('state')).toBe('state-of-the-client');
    expect(callback.searchParams.get('iss')).toBe(service.url);
    await first.finishAuth(callback.searchParams);
    expect(faults.filter((fault) => !/\/callback|\/done|favicon/.test(fault))).toEqual([]);

    const client = new Client({ name: 'stock', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['calculate']);
    const result = await client.callTool({ name: 'calculate', arguments: { expression: '6 * 7' } });
    expect(JSON.stringify(result.content)).toContain('42');

    // The client refreshes by itself when its access token is refused.
    const tokens = provider.saved.tokens as { access_token: string };
    provider.saved.tokens = { ...tokens, access_token: 'expired' };
    const again = new Client({ name: 'stock', version: '1' });
    await again.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
    expect((await again.listTools()).tools).toHaveLength(1);
    await client.close();
    await again.close();
  });

  it('receives the error when the user denies it', async () => {
    let opened: URL | null = null;
    const provider = createProvider((url) => {
      opened = url;
    });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/desk`), { authProvider: provider });
    await expect(new Client({ name: 'stock', version: '1' }).connect(transport)).rejects.toThrow(UnauthorizedError);
    const { page } = await openTab();
    const arrived = new Promise<URL>((resolve) => {
      returned = resolve;
    });
    await signInAndDecide(page, opened as unknown as URL, 'Deny');
    expect((await arrived).searchParams.get('error')).toBe('access_denied');
  });

  it('opens the program of a private-use scheme: the policy of the page allows this redirect', async () => {
    const redirect = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const metadata = { client_name: 'Cursor', redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
    const { json } = await service.call('POST', '/oauth/register', metadata);
    const authorize = new URL(`${service.url}/oauth/authorize`);
    const query = { response_type: 'code', client_id: json.client_id, redirect_uri: redirect, code_challenge: 'c'.repeat(43) };
    for (const [name, value] of Object.entries({ ...query, code_challenge_method: 'S256', resource: `${service.url}/mcp/desk` }))
      authorize.searchParams.set(name, value);
    const { page, faults } = await openTab();
    await page.goto(authorize.href);
    await page.getByLabel('Root key').fill(service.key);
    await page.getByRole('button', { name: 'Sign in with the root key' }).click();
    await page.getByText('Any program on your device can open cursor: links').waitFor();
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Allow' }).click();
    expect((await sent).headers().location).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=mc_/);
    // Chromium reports a blocked redirect in the console of the page, before the page can do anything else.
    await page.evaluate('document.title');
    expect(faults.filter((fault) => fault.includes('Content Security Policy'))).toEqual([]);
  });

  it('asks on a page that is accessible, also on a phone', async () => {
    let opened: URL | null = null;
    const provider = createProvider((url) => {
      opened = url;
    });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/mcp/desk`), { authProvider: provider });
    await expect(new Client({ name: 'stock', version: '1' }).connect(transport)).rejects.toThrow(UnauthorizedError);
    const { page, faults } = await openTab({ viewport: phone });
    await page.goto((opened as unknown as URL).href);
    await page.getByLabel('Root key').fill(service.key);
    await page.getByRole('button', { name: 'Sign in with the root key' }).click();
    await page.getByRole('heading', { name: 'Allow Stock client to use your tools?' }).waitFor();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(faults).toEqual([]);
    if (process.env.MONIKER_SCREENSHOT !== undefined) await page.screenshot({ path: process.env.MONIKER_SCREENSHOT, fullPage: true });
  });
});
