/** `useChat` of the AI SDK in a page of another origin, in a browser. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from '../e2e/shared-service.ts';
import { isSkipped } from '../selection.ts';
import { browserPath, launchBrowser, noBrowser } from './browser.ts';

const title = 'useChat in a browser';

describe.skipIf(isSkipped(browserPath === null, title, noBrowser))(title, async () => {
  const { outputFiles } = await build({
    entryPoints: [`${import.meta.dirname}/use-chat-page.js`],
    ...{ bundle: true, write: false, minify: true, define: { 'process.env.NODE_ENV': '"production"' } },
  });
  const html = `<!doctype html><title>Chat</title><body><script>${outputFiles[0]?.text.replaceAll('</script', '<\\/script')}</script>`;
  const pages = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((resolve) => void pages.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`; // A TCP server.
  const service = shareService({ MONIKER_ALLOWED_ORIGINS: origin });
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
    await service.call('PUT', '/v1/toolsets/guarded', { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });
  afterAll(async () => {
    await browser?.close();
    pages.close();
  });

  /** Opens the page and sends a message whose call waits. */
  async function ask(): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    await page.goto(`${origin}/#${new URLSearchParams({ url: service.url, key: service.key }).toString()}`);
    await page.getByLabel('Message').fill('/shell echo it ran >> ran.txt; echo it ran');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('group', { name: 'builtin.bash' }).getByText('approval-requested').waitFor();
    return { page, faults };
  }
  const answers = (page: Page) => page.getByRole('article', { name: 'assistant' });
  const newest = async () => (await service.call('GET', '/v1/sessions?limit=1')).json.items[0].id as string;

  it('shows the call with its arguments, and continues the same message when the user approves it', async () => {
    const { page, faults } = await ask();
    await expect.poll(() => answers(page).textContent()).toContain('echo it ran >> ran.txt');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('group', { name: 'builtin.bash' }).getByText('output-available').waitFor();
    await expect.poll(() => answers(page).locator('p').last().textContent()).toContain('it ran');
    await expect.poll(() => page.locator('output').textContent()).toBe('ready');
    expect([await answers(page).count(), faults]).toEqual([1, []]);
    expect((await service.call('GET', `/v1/sessions/${await newest()}/files/ran.txt`)).text).toBe('it ran\n');
    await page.close();
  });

  it('sends a denial with its reason, which the model reads', async () => {
    const { page, faults } = await ask();
    await page.getByLabel('Reason').fill('Use the staging host');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('group', { name: 'builtin.bash' }).getByText('output-denied').waitFor();
    await expect.poll(() => answers(page).locator('p').last().textContent()).toContain('Use the staging host');
    expect([await answers(page).count(), faults]).toEqual([1, []]);
    expect((await service.call('GET', `/v1/sessions/${await newest()}/files/ran.txt`)).status).toBe(404);
    await page.close();
  });

  it('shows that the call was decided elsewhere, and nothing runs', async () => {
    const { page } = await ask();
    const session = await newest();
    const [{ callId }] = (await service.call('GET', `/v1/sessions/${session}/approvals`)).json.items;
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'deny' });
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('output').getByText('was already denied').waitFor();
    expect((await service.call('GET', `/v1/sessions/${session}/files/ran.txt`)).status).toBe(404);
    await page.close();
  });
});
