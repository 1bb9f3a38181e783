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

  it('is accessible and fits a phone', async () => {
    await lookAt('/console/import', async (page, look) => {
      await choose(page, 'tools.json', readFileSync(sample));
      await row(page, 'aliases.missingTool').waitFor();
      await look('import');
    });
  });
});
