import type { Page } from 'playwright-core';
import { beforeAll, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { allowEcho, describeConsole, shareEcho } from './console-tab.ts';

const hostileModel = 'echo/evil\u202etxt<img src=x>';

describeConsole('the usage page of the console', allowEcho, ({ service, visit, lookAt }) => {
  shareEcho(service);
  let session: string;
  beforeAll(async () => {
    session = (await service.call('POST', '/v1/sessions', { model: 'echo/words', toolset: 'demo' })).json.id;
    for (const input of ['one', 'call shell {"command": "date"}', 'two'])
      await service.call('POST', `/v1/sessions/${session}/turns`, { input });
    await service.call('PATCH', '/v1/workspaces/default', { settings: { requestLog: { bodies: true } } });
    const message = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }], stream: false });
    expect((await service.call('POST', '/v1/chat/completions', { ...message('echo/free'), stream: true })).status).toBe(200);
    await service.call('POST', '/v1/chat/completions', message(hostileModel));
    await vi.waitUntil(async () => (await service.call('GET', '/v1/usage')).json.totals.calls >= 5, { timeout: waitMs });
    await vi.waitUntil(async () => (await service.call('GET', '/v1/requests')).json.items.length >= 5, { timeout: waitMs });
  });

  const row = (page: Page, table: string, text: string) =>
    page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });

  it('shows bars for each day with their numbers by model, and says which calls have no known cost', async () => {
    const { totals } = (await service.call('GET', '/v1/usage?by=model')).json;
    await visit('/console/usage', async (page) => {
      const words = row(page, 'Usage by model', 'echo/words');
      await words.waitFor();
      // 4 calls with 100 tokens of input and 20 of output, at 10 and 50 for a million.
      expect(await words.getByRole('cell').allTextContents()).toMatchObject(['4', '0', '400', '0', '80', '0.008', expect.any(String)]);
      expect(await row(page, 'Usage by model', 'echo/free').textContent()).toContain('unknown');
      await page.getByText(`The cost of ${totals.unpricedCalls} of ${totals.calls} calls is unknown`).waitFor();
      const chart = page.getByRole('img', { name: /^Cost for each day/ });
      expect(await chart.getAttribute('aria-label')).toContain('0.008');
      expect(await chart.locator('g').count()).toBe(30);
      expect(await chart.locator('rect.series-0').last().getAttribute('height')).not.toBe('0');
      await page.getByText('Numbers of each day').click();
      await row(page, 'Cost by day', new Date().toISOString().slice(0, 10)).getByText('0.008').first().waitFor();
    });
  });

  it('keeps range, grouping and filters in the address', async () => {
    await visit('/console/usage', async (page) => {
      await page.getByRole('button', { name: '7 days' }).click();
      await page.getByLabel('Group by').selectOption('key');
      await row(page, 'Usage by key', 'root').waitFor();
      await page.getByLabel('Show').selectOption('tokens');
      await page.getByLabel('Model', { exact: true }).fill('echo/words');
      await page.keyboard.press('Enter');
      await expect.poll(() => row(page, 'Usage by key', 'root').getByRole('cell').first().textContent()).toBe('4');
      const address = page.url();
      expect(new URL(address).searchParams.get('by')).toBe('key');
      await page.reload();
      await expect.poll(() => row(page, 'Usage by key', 'root').getByRole('cell').first().textContent()).toBe('4');
      expect(page.url()).toBe(address);
      expect(await page.getByRole('button', { name: '7 days' }).getAttribute('aria-pressed')).toBe('true');
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByLabel('Group by').selectOption('tool');
      await row(page, 'Usage by tool', 'builtin.bash').waitFor();
      await page.goto(`${service.url}/console/usage?from=2020-01-01&to=2020-01-07`);
      await page.getByRole('heading', { name: 'No calls from 2020-01-01 to 2020-01-07' }).waitFor();
      await page.goto(`${service.url}/console/usage?from=2020-01-09&to=2020-01-07`);
      await page.getByRole('alert').getByText('the range ends').waitFor();
    });
  });

  it('lists requests; a row opens its details, which have an address, and closes with Escape', async () => {
    await visit('/console/usage/requests', async (page) => {
      const table = page.getByRole('table', { name: 'Requests' });
      await table.getByText('evilU+202Etxt<img src=x>').waitFor();
      await page.getByLabel('Model', { exact: true }).fill('echo/words');
      await page.keyboard.press('Enter');
      await expect.poll(() => table.getByRole('row').count()).toBe(4);
      const opener = row(page, 'Requests', 'echo/words').first().getByRole('button');
      await opener.focus();
      await page.keyboard.press('Enter');
      const sheet = page.getByRole('dialog', { name: 'Turn' });
      await sheet.getByText('0.002').waitFor();
      expect(await sheet.getByRole('link', { name: session }).getAttribute('href')).toBe(`/console/sessions/${session}`);
      await page.reload();
      await sheet.getByText('0.002').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => sheet.count()).toBe(0);
      await expect.poll(() => new URL(page.url()).searchParams.has('request')).toBe(false);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await row(page, 'Requests', 'echo/free').getByRole('button').click();
      await page.getByRole('dialog', { name: 'Request' }).getByText('"content":"hello"').first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Status').selectOption('waiting');
      await page.getByRole('heading', { name: 'No requests match these filters' }).waitFor();
    });
  });

  it('shows keys by name', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'nightly report', scopes: ['chat'] });
    const body = { model: 'echo/words', messages: [{ role: 'user', content: 'hello' }] };
    await service.call('POST', '/v1/chat/completions', body, { authorization: `Bearer ${json.key}` });
    await expect.poll(async () => (await service.call('GET', `/v1/usage?key=${json.id}`)).json.totals.calls).toBe(1);
    await visit('/console/usage?by=key', async (page) => {
      await row(page, 'Usage by key', `nightly report (${json.id})`).waitFor();
    });
  });

  it('is accessible and fits its window', async () => {
    await lookAt('/console/usage', async (page, look, isNarrow) => {
      await row(page, 'Usage by model', 'echo/words').waitFor();
      await look('usage');
      await page.getByRole('link', { name: 'Requests' }).click();
      await row(page, 'Requests', 'echo/words').first().waitFor();
      await look('requests');
      if (isNarrow) await page.getByRole('button', { name: 'Filters' }).click();
      await look('requests-filters');
      await row(page, 'Requests', 'echo/words').first().getByRole('button').click();
      await page.getByRole('dialog').getByText('Called models').waitFor();
      await look('request');
    });
  });
});
