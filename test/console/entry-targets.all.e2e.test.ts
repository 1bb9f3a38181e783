import { beforeAll, expect, it } from 'vitest';
import { button, describeConsole, field } from './console-tab.ts';

describeConsole('the targets of an entry in the console', {}, ({ service, visit }) => {
  beforeAll(async () => {
    const search = {
      ...{ name: 'search', description: 'Searches the tickets.', annotations: { readOnlyHint: true } },
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    };
    for (const name of ['tickets', 'backup']) {
      const server = { kind: 'static', url: 'http://127.0.0.1:9/call', trusted: true, tools: [search] };
      expect((await service.call('PUT', `/v1/servers/${name}`, server)).status).toBe(201);
    }
    await service.call('PUT', '/v1/toolsets/desk', { tools: [{ tool: 'tickets.search' }, { tool: 'builtin.bash' }] });
  });

  it('adds targets with weights, stored results, and the mark of a web search', async () => {
    await visit('/console/toolsets/desk', async (page) => {
      await page.getByRole('tab', { name: 'Entry' }).click();
      await button(page, 'Add a target').click();
      await field(page, 'Tool of target 2').fill('backup.serch');
      await page.locator('.weighted-rows .fault').first().waitFor();
      await field(page, 'Tool of target 2').fill('backup.search');
      await field(page, 'Which target a call gets').selectOption('weights');
      await field(page, 'Weight of target 1').fill('95');
      await field(page, 'Weight of target 2').fill('5');
      await field(page, 'Seconds that a result is stored').fill('60');
      await field(page, 'A result is for').selectOption('workspace');
      await field(page, 'Runs in place of the web search that clients declare').check();
      await page.getByText('can be saved', { exact: true }).waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
      const [entry] = (await service.call('GET', '/v1/toolsets/desk')).json.tools;
      expect(entry).toMatchObject({
        ...{ tool: ['tickets.search', 'backup.search'], standsFor: 'web_search', cache: { ttl: 60, per: 'workspace' } },
        choose: { weights: { 'tickets.search': 95, 'backup.search': 5 } },
      });
      await button(page, 'Move target 2 up').click();
      await field(page, 'Which target a call gets').selectOption('callers');
      await field(page, 'Callers of target 2').fill('role=owner; key=k7');
      await field(page, 'Seconds that a result is stored').fill('');
      await page.getByText('can be saved', { exact: true }).waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 3', { exact: true }).waitFor();
      const [changed] = (await service.call('GET', '/v1/toolsets/desk')).json.tools;
      expect(changed).toMatchObject({
        tool: ['backup.search', 'tickets.search'],
        choose: { callers: { 'tickets.search': [{ role: 'owner' }, { key: 'k7' }] } },
      });
      expect(changed).not.toHaveProperty('cache');
    });
  });
});
