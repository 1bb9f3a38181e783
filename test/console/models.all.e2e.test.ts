import type { Page } from 'playwright-core';
import { beforeAll, expect, it, vi } from 'vitest';
import { waitMs } from '../busy-machine.ts';
import { allowEcho, button, describeConsole, field, shareEcho } from './console-tab.ts';

describeConsole('the models and their aliases in the console', allowEcho, ({ service, visit, lookAt }) => {
  shareEcho(service);
  beforeAll(async () => {
    const broken = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k', models: ['none'] };
    expect((await service.call('PUT', '/v1/providers/broken', broken)).status).toBe(201);
  });

  const row = (page: Page, table: string, text: string) =>
    page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });
  const saved = (page: Page, version: number) => page.getByText(`saved as version ${version}`, { exact: true }).waitFor();

  it('lists models with their prices, finds them by name, tests one, and shows why another failed', async () => {
    await visit('/console/models', async (page) => {
      const words = row(page, 'Models', 'echo/words');
      await words.waitFor();
      expect(await words.getByRole('cell').allTextContents()).toMatchObject(['', '', '10', '50', expect.any(String), 'Test']);
      await row(page, 'Models', 'broken/none').waitFor();
      await field(page, 'Find a model').fill('ECHO/');
      await expect.poll(() => page.getByRole('table', { name: 'Models' }).locator('tbody tr').count()).toBe(2);
      await field(page, 'Find a model').fill('no-such-model');
      await page.getByText('No model has this name.').waitFor();
      await field(page, 'Find a model').fill('');
      await button(page, 'Test echo/words').click();
      await words.getByText('answered by words').waitFor();
      await button(page, 'Test broken/none').click();
      const problem = row(page, 'Models', 'broken/none').getByRole('alert');
      await problem.locator('code', { hasText: 'upstream_error' }).waitFor();
      expect(await button(page, 'Test broken/none').isEnabled()).toBe(true);
    });
  });

  it('makes a route with targets in order, and says which of them would serve', async () => {
    await visit('/console/aliases', async (page) => {
      await page.getByText('No model aliases yet').waitFor();
      await field(page, 'New alias').fill('fast');
      await page.keyboard.press('Enter');
      await field(page, 'Model or agent').fill('echo/free');
      await field(page, 'Requests go to').selectOption({ label: 'several models (a route)' });
      await expect.poll(() => field(page, 'Model of target 1').inputValue()).toBe('echo/free');
      await button(page, 'Add a target').click();
      await field(page, 'Model of target 2').fill('words');
      await button(page, 'Save').click();
      await page.getByText('must be <provider>/<model>').first().waitFor();
      await field(page, 'Model of target 2').fill('echo/words');
      await button(page, 'Move target 2 up').click();
      await expect.poll(() => field(page, 'Model of target 1').inputValue()).toBe('echo/words');
      await field(page, 'Which target a request gets').selectOption('weighted');
      await field(page, 'Weight of target 1').fill('0');
      await field(page, 'Weight of target 2').fill('0');
      await button(page, 'Save').click();
      await page.getByText('at least one target needs a `weight` above 0').first().waitFor();
      await field(page, 'Weight of target 1').fill('3');
      await field(page, 'What stays with its target while that is up').selectOption('none');
      await button(page, 'Add a fallback').click();
      await field(page, 'Model of fallback 1').fill('absent/model');
      await field(page, 'If the conversation is too long for a model').fill('echo/free');
      await field(page, 'Further attempts at a model').fill('2');
      await field(page, 'All attempts together (ms)').fill('60000');
      await field(page, 'Equal requests').selectOption('set');
      await field(page, 'Seconds that a reply is used').fill('5');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'Seconds that a reply is used').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'Seconds that a reply is used').fill('600');
      await button(page, 'Save').click();
      await saved(page, 1);
      await page.getByRole('region', { name: 'Warnings' }).getByText('absent').waitFor();
      expect((await service.call('GET', '/v1/model-aliases/fast')).json).toEqual({
        ...{ name: 'fast', strategy: 'weighted', sticky: 'none', retries: 2, timeouts: { totalMs: 60_000 } },
        targets: [
          { model: 'echo/words', weight: 3 },
          { model: 'echo/free', weight: 0 },
        ],
        ...{ fallbacks: ['absent/model'], contextFallback: 'echo/free', cache: { ttl: 600 } },
      });
      await button(page, 'Which model would serve?').click();
      const order = page.getByRole('table', { name: 'Order of the models' }).locator('tbody th');
      await expect.poll(() => order.allTextContents()).toEqual(['echo/words', 'echo/free', 'absent/model']);
      await row(page, 'Order of the models', 'echo/words').getByText('by weight').waitFor();
    });
  });

  it('makes a pattern for one agent, asks which model a name gets, and deletes it', async () => {
    await visit('/console/aliases/gpt-*', async (page) => {
      await field(page, 'Model or agent').fill('agent/demo');
      await button(page, 'Save').click();
      await saved(page, 1);
      await field(page, 'Requested name').fill('gpt-4o');
      await button(page, 'Which model would serve?').click();
      await page.getByText('All requests go to agent/demo.').waitFor();
      await field(page, 'Requested name').fill('llama');
      await button(page, 'Which model would serve?').click();
      await page.getByRole('alert').getByText('llama').first().waitFor();
      await button(page, 'Delete').click();
      await page.getByRole('group', { name: 'Delete gpt-*?' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Model aliases', level: 1 }).waitFor();
      expect((await service.call('GET', '/v1/model-aliases/gpt-*')).status).toBe(404);
    });
  });

  it('shows what cached replies saved, and erases them after a question', async () => {
    await service.call('PUT', '/v1/model-aliases/kept', { model: 'echo/words', cache: { ttl: 3_600 } });
    const ask = () =>
      service.call('POST', '/v1/chat/completions', { model: 'kept', messages: [{ role: 'user', content: 'same' }], stream: true });
    expect((await ask()).status).toBe(200);
    await vi.waitUntil(async () => (await ask()).headers.get('x-moniker-cache')?.startsWith('hit'), { timeout: waitMs, interval: 500 });
    await vi.waitUntil(async () => ((await service.call('GET', '/v1/usage')).json.totals.cachedCalls ?? 0) > 0, { timeout: waitMs });
    await visit('/console/usage', async (page) => {
      await page.getByRole('link', { name: 'Cached replies' }).click();
      await row(page, 'Saved by model', 'echo/words').waitFor();
      await row(page, 'Saved by key', 'root').waitFor();
      await page.getByRole('link', { name: 'kept' }).waitFor();
      await button(page, 'Erase all').click();
      await page.getByRole('group', { name: 'Erase all stored replies?' }).getByRole('button', { name: 'Erase all' }).click();
      await page.getByRole('status').getByText('1 reply is erased').waitFor();
    });
    expect((await ask()).headers.get('x-moniker-cache')).toMatch(/^miss/);
  });

  it('is accessible and fits its window', async () => {
    const targets = [{ model: 'echo/words', weight: 3 }, { model: 'echo/free' }];
    await service.call('PUT', '/v1/model-aliases/chat-fast', { targets, strategy: 'weighted', fallbacks: ['broken/none'] });
    await lookAt('/console/models', async (page, look) => {
      await row(page, 'Models', 'echo/words').waitFor();
      await look('models');
      await page.goto(`${service.url}/console/aliases`);
      await page.getByRole('link', { name: 'chat-fast' }).waitFor();
      await look('aliases');
      await page.goto(`${service.url}/console/aliases/chat-fast`);
      await button(page, 'Which model would serve?').click();
      await page.getByRole('table', { name: 'Order of the models' }).waitFor();
      await look('alias');
      await page.goto(`${service.url}/console/usage/cache`);
      await page.getByText('Saved cost').first().waitFor();
      await look('usage-cache');
    });
  });
});
