import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeConsole } from './console-tab.ts';

const sample = join(import.meta.dirname, '../core/import/samples/sisu-tools.json');

describeConsole('imports in the console', {}, ({ service, visit, lookAt }) => {
  const choose = (page: Page, name: string, text: string | Buffer) =>
    page.locator('main input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) });
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

  it('shows the plan of a file, stores nothing until it is confirmed, and links what was made', async () => {
    await visit('/console/import', async (page) => {
      await choose(page, 'tools.json', readFileSync(sample));
      await row(page, 'servers.sisu').getByText('new', { exact: true }).waitFor();
      await row(page, 'aliases.missingTool').getByText('skipped').waitFor();
      expect((await service.call('GET', '/v1/servers/sisu')).status).toBe(404);
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByRole('heading', { name: 'Imported' }).waitFor();
      await page.getByRole('link', { name: 'toolsets.sisu' }).click();
      await page.waitForURL('**/console/toolsets/sisu');
    });
  });

  it('shows which tools of a server the file changes', async () => {
    const plan = (tools: readonly string[]) => {
      const defined = tools.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } }));
      return { servers: { planned: { kind: 'static', url: 'https://tools.example.com/call', tools: defined } } };
    };
    await service.call('POST', '/v1/import', plan(['kept', 'gone']));
    await visit('/console/import', async (page) => {
      await choose(page, 'moniker.json', JSON.stringify(plan(['kept', 'came'])));
      const changes = row(page, 'servers.planned').getByText(/^tools\./);
      expect(await changes.textContent()).toMatch(/tools\.gone: \{.*\} → nothing; tools\.came: nothing → \{/);
    });
  });

  it('says what is wrong with a file, and reads it as another format', async () => {
    await visit('/console/import', async (page) => {
      await choose(page, 'broken.json', '{"mcpServers": {');
      await page.getByRole('alert').getByText('is not valid JSON in line').waitFor();
      await choose(page, 'mcp.json', '{"mcpServers": {"docs": {"url": "https://docs.example.com/mcp"}}}');
      await page.getByText('claude', { exact: true }).waitFor();
      await page.getByLabel('Format', { exact: true }).selectOption('cursor');
      await row(page, 'toolsets.cursor').waitFor();
    });
  });

  it('reads a pasted text, shows what stays as it was changed here, and replaces it when asked', async () => {
    const servers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { url: `https://${name}.example.com/mcp` }]));
    await service.call('POST', '/v1/import?format=claude', { mcpServers: servers('pasted') });
    await service.call('PATCH', '/v1/servers/pasted', { url: 'https://pasted.example.com/mine' });
    await visit('/console/import', async (page) => {
      await page.getByLabel('Or paste its text, or its URL').fill(JSON.stringify({ mcpServers: servers('pasted', 'other') }));
      await page.getByRole('button', { name: 'Show the plan' }).click();
      await row(page, 'servers.other').getByText('new', { exact: true }).waitFor();
      await row(page, 'servers.pasted.url').getByText('kept', { exact: true }).waitFor();
      await page.getByLabel('Replace stored documents of the same name').check();
      await row(page, 'servers.pasted').getByText('changes the stored one').waitFor();
    });
  });

  it('reads a URL, and says why it cannot', async () => {
    await visit('/console/import', async (page) => {
      await page.getByLabel('Or paste its text, or its URL').fill('http://10.0.0.1/mcp.json');
      await page.getByRole('button', { name: 'Show the plan' }).click();
      await page.getByRole('alert').getByText('10.0.0.1 is not a public address').waitFor();
    });
  });

  it('is reached from pages that have nothing yet', async () => {
    await service.call('PUT', '/v1/workspaces/empty', {});
    const body = { name: 'new', scopes: ['toolsets', 'admin'] };
    const { key } = (await service.call('POST', '/v1/keys', body, { 'x-moniker-workspace': 'empty' })).json;
    const open = async (page: Page): Promise<void> => {
      await page.getByRole('link', { name: 'import', exact: true }).click();
      await page.waitForURL('**/console/import');
    };
    for (const view of ['servers', 'toolsets', 'agents']) await visit(`/console/${view}`, open, { key });
  });

  it('is accessible and fits a phone', async () => {
    await lookAt('/console/import', async (page, look) => {
      await choose(page, 'tools.json', readFileSync(sample));
      await row(page, 'aliases.missingTool').waitFor();
      await look('import');
    });
  });
});
