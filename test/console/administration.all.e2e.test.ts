import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { button, describeConsole, field } from './console-tab.ts';

describeConsole('the administration in the console', { COHERE_API_KEY: 'from-the-settings' }, ({ service, visit, lookAt }) => {
  const saved = (page: Page, version: number) => page.getByText(`saved as version ${version}`, { exact: true }).waitFor();
  const stored = (page: Page) => page.evaluate('JSON.stringify({...sessionStorage})') as Promise<string>;

  it('adds a provider with prices, and replaces its key without losing what others changed', async () => {
    await visit('/console/providers', async (page) => {
      await page.getByRole('listitem').filter({ hasText: 'cohere' }).getByText('from the settings').waitFor();
      await page.getByRole('listitem').filter({ hasText: 'rehearsal' }).getByText('built in').waitFor();
      await field(page, 'New provider').fill('local');
      await page.keyboard.press('Enter');
      await field(page, 'Base URL').fill('http://127.0.0.1:9/v1');
      await field(page, 'Key').fill('sk-first-value');
      await field(page, 'Models').fill('llama3.2, qwen3');
      await button(page, 'Add a price').click();
      await field(page, 'Model of price 1').fill('llama*');
      await field(page, 'Input of price 1').fill('0.5');
      expect(await stored(page)).not.toContain('sk-first-value');
      await button(page, 'Save').click();
      await page.getByText('prices.llama*.output', { exact: true }).waitFor();
      await field(page, 'Output of price 1').fill('1.5');
      await button(page, 'Save').click();
      await saved(page, 1);
      const prices = { 'llama*': { input: 0.5, output: 1.5 } };
      expect((await service.call('GET', '/v1/providers/local')).json).toMatchObject({
        hasApiKey: true,
        models: ['llama3.2', 'qwen3'],
        prices,
      });
      await service.call('PATCH', '/v1/providers/local', { models: ['llama3.2'] });
      await field(page, 'Base URL').fill('http://127.0.0.1:10/v1');
      await button(page, 'Save').click();
      await page.getByText('changed meanwhile').waitFor();
      await button(page, 'Load the stored version').click();
      await field(page, 'Base URL').fill('http://127.0.0.1:10/v1');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'New key').getAttribute('aria-invalid')).toBe('true');
      await button(page, 'Discard').click();
      await field(page, 'New key').fill('sk-second-value');
      await button(page, 'Replace the key').click();
      await page.getByText('key replaced').waitFor();
      expect((await service.call('GET', '/v1/providers/local')).json).toMatchObject({ hasApiKey: true, models: ['llama3.2'], prices });
      expect(await stored(page)).not.toContain('sk-second-value');
      await expect.poll(() => field(page, 'Models').inputValue()).toBe('llama3.2');
    });
  });

  it('compares a provider that was changed meanwhile, and overwrites it on request', async () => {
    await service.call('PUT', '/v1/providers/shared', { kind: 'openai', models: ['one'] });
    await visit('/console/providers/shared', async (page) => {
      await field(page, 'Models').fill('two');
      await service.call('PATCH', '/v1/providers/shared', { models: ['three'] });
      await button(page, 'Save').click();
      await button(page, 'Compare').click();
      const diff = page.getByRole('region', { name: 'The stored version, and yours' });
      await diff.getByText('three').waitFor();
      await button(page, 'Overwrite it').click();
      await saved(page, 3);
      expect((await service.call('GET', '/v1/providers/shared')).json.models).toEqual(['two']);
    });
  });

  it('stores a secret that is never shown again, and changes its hosts only with its value', async () => {
    await visit('/console/secrets', async (page) => {
      await page.getByText('No secrets yet').waitFor();
      await field(page, 'New secret').fill('GITHUB');
      await page.keyboard.press('Enter');
      await field(page, 'Value').fill('Bearer hidden-value');
      await field(page, 'Hosts').fill('Not A Host');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'Hosts').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'Hosts').fill('api.github.com');
      expect(await stored(page)).not.toContain('hidden-value');
      await button(page, 'Save').click();
      await saved(page, 1);
      expect(await field(page, 'New value').inputValue()).toBe('');
      await field(page, 'Hosts').fill('api.github.com, uploads.github.com');
      expect(await button(page, 'Save').isDisabled()).toBe(true);
      await field(page, 'New value').fill('Bearer hidden-value');
      await button(page, 'Save').click();
      await saved(page, 2);
      expect((await service.call('GET', '/v1/secrets/GITHUB')).json.hosts).toEqual(['api.github.com', 'uploads.github.com']);
      expect(await page.content()).not.toContain('hidden-value');
    });
  });

  it('shows what the key is limited to', async () => {
    await visit('/console/settings', async (page) => {
      await page.getByText('comes from the settings of the service').waitFor();
      await page.getByRole('region', { name: 'Limits' }).getByText('Tool calls of a turn').waitFor();
    });
  });

  it('keeps the chosen color scheme in this browser', async () => {
    await visit('/console/settings/appearance', async (page) => {
      const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(await background()).toBe('rgb(255, 255, 255)');
      await field(page, 'Dark').check();
      expect(await background()).toBe('rgb(15, 18, 22)');
      await page.reload();
      await field(page, 'Dark').waitFor();
      expect(await background()).toBe('rgb(15, 18, 22)');
      await field(page, 'As the system').check();
      expect(await background()).toBe('rgb(255, 255, 255)');
    });
  });

  it('is accessible and fits its window', async () => {
    const prices = { 'llama*': { input: 0.5, output: 1.5 } };
    const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', models: ['llama3.2'], apiKey: 'k', prices };
    await service.call('PUT', '/v1/providers/local', local);
    await service.call('PUT', '/v1/secrets/GITHUB', { value: 'v', hosts: ['api.github.com'] });
    await lookAt('/console/providers', async (page, look) => {
      const open = async (path: string, ready: string) => {
        await page.goto(`${service.url}/console/${path}`);
        await page.getByText(ready).first().waitFor();
      };
      await page.getByText('built in').waitFor();
      await look('providers');
      await open('providers/local', 'Prices per million tokens');
      await look('provider');
      await open('secrets', 'GITHUB');
      await look('secrets');
      await open('secrets/GITHUB', 'Its value cannot be shown');
      await look('secret');
      await open('settings', 'Working time of a turn');
      await look('settings');
      await open('settings/master-key', 'Current key');
      await look('settings-master-key');
      await open('settings/appearance', 'Color scheme');
      await look('settings-appearance');
    });
  });
});
