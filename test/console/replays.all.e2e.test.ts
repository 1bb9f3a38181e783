import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { button, describeConsole, field } from './console-tab.ts';

const hostile = 'order 4711 \u202epaid <img src=x onerror=alert(1)>';

describeConsole('the replays of the console', {}, ({ service, visit, lookAt }) => {
  let session = '';
  let replay = '';

  beforeAll(async () => {
    const tool = 'builtin.bash';
    await service.call('PUT', '/v1/toolsets/orders', { tools: [{ tool, name: 'lookup' }] });
    await service.call('PUT', '/v1/toolsets/renamed', { tools: [{ tool, name: 'find_order', aliases: ['lookup'] }] });
    await service.call('PUT', '/v1/toolsets/broken', { tools: [{ tool, name: 'find_order' }] });
    await service.call('PUT', '/v1/agents/orders', { model: 'rehearsal/default', instructions: '', toolset: 'orders' });
    for (const text of ['order 4712', hostile]) {
      session = (await service.call('POST', '/v1/sessions', { agent: 'orders' })).json.id;
      const input = `/lookup ${JSON.stringify({ command: `echo '${text}'` })}`;
      expect((await service.call('POST', `/v1/sessions/${session}/turns`, { input })).json.status).toBe('completed');
    }
  });

  const cases = (page: Page, text: string) => page.getByRole('table', { name: 'Cases' }).getByRole('row').filter({ hasText: text });
  const start = async (page: Page): Promise<void> => {
    await button(page, 'Start the replay').click();
    await page.locator('.facts .state', { hasText: 'completed' }).waitFor();
  };

  it('a suite is made with a form, shows what it selects, and is replayed: the cases that differ open side by side', async () => {
    await visit('/console/replays', async (page) => {
      await page.getByRole('heading', { name: 'No replays yet' }).waitFor();
      await page.getByRole('link', { name: 'Create a suite' }).click();
      await field(page, 'New suite').fill('orders');
      await page.keyboard.press('Enter');
      await field(page, 'Agent').fill('orders');
      await button(page, 'Add a rule').click();
      await page.getByLabel('Kind of rule 2').selectOption({ label: 'an answer that contains' });
      await page.getByLabel('Value of rule 2').fill('exit code: 0');
      await field(page, 'Most cases').fill('5000');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'Most cases').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'Most cases').fill('10');
      await button(page, 'Save').click();
      await expect.poll(() => page.getByRole('table', { name: 'Selected cases' }).locator('tbody tr').count()).toBe(2);
      expect((await service.call('GET', '/v1/suites/orders')).json).toMatchObject({
        select: { agent: 'orders', days: 30, limit: 10 },
        rules: [{ calls: 'same' }, { answer: { contains: 'exit code: 0' } }],
      });

      await page.getByRole('link', { name: 'Start a replay' }).click();
      await expect.poll(() => field(page, 'Suite').inputValue()).toBe('orders');
      await field(page, 'Toolset').fill('broken');
      await start(page);
      await page.getByText('2 of 2 cases').waitFor();
      await page.getByText('0 hold, 4 do not').waitFor();
      replay = page.url().split('/').at(-1) ?? '';
      await field(page, 'Status').selectOption('same');
      await page.getByRole('heading', { name: 'No cases match these filters' }).waitFor();
      await page.getByRole('button', { name: '2 different' }).click();
      await cases(page, '1 added, 1 missing').first().getByRole('button', { name: 'Case 1' }).click();
      const sides = page.getByRole('region', { name: 'Both sides' });
      await sides.getByText('only recorded').waitFor();
      expect(await sides.textContent()).toContain('order 4711 U+202Epaid <img src=x onerror=alert(1)>');
      expect(await sides.getByText('no such tool').count()).toBe(1);
      await page.getByText('does not hold').first().waitFor();
      await button(page, 'Next').click();
      await page.getByRole('heading', { name: 'Case 2' }).waitFor();
      await expect.poll(() => button(page, 'Next').isDisabled()).toBe(true);
      await page.goBack();
      await page.getByRole('table', { name: 'Cases' }).waitFor();
    });
  });

  it('shows in the list, without a reload, that a running replay has ended', async () => {
    await visit('/console/settings', async (page) => {
      let isRunning = true;
      await page.route(/\/v1\/replays(\?|$)/, async (route) => {
        const response = await route.fetch();
        const list = (await response.json()) as { items: { status: string }[] };
        const items = isRunning ? list.items.map((item) => ({ ...item, status: 'running' })) : list.items;
        await route.fulfill({ response, json: { ...list, items } });
      });
      await page.goto(`${service.url}/console/replays`);
      const states = page.getByRole('table', { name: 'Replays' }).locator('.state');
      await expect.poll(() => states.first().textContent()).toBe('running');
      isRunning = false;
      await expect.poll(() => states.first().textContent()).toBe('completed');
      // The page may ask once more while it closes.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    });
  });

  it('a session, and a row of the request log, are replayed from their pages; renamed tools make no difference', async () => {
    await visit(`/console/sessions/${session}`, async (page) => {
      await page.getByRole('link', { name: 'Replay', exact: true }).click();
      await page.getByText('all turns of').waitFor();
      await field(page, 'Toolset').fill('renamed');
      await start(page);
      await cases(page, '1 same').waitFor();
      await cases(page, '1 same').getByRole('button').click();
      await expect.poll(() => page.getByRole('region', { name: 'Both sides' }).getByText('called lookup').count()).toBe(2);

      await page.goto(`${service.url}/console/usage/requests`);
      await page.getByRole('table', { name: 'Requests' }).locator('tbody').getByRole('button').first().click();
      await page.getByRole('link', { name: 'Replay with another model' }).click();
      await page.getByText(/turn_\w+ of/).waitFor();
      await field(page, 'Model').fill('rehearsal/default');
      await start(page);
      await cases(page, '1 same').waitFor();
    });
  });

  it('shows what the service refuses, at its field', async () => {
    await visit('/console/replays/new?suite=none', async (page) => {
      await button(page, 'Start the replay').click();
      await page.getByRole('alert').getByText('There is no suite "none".').waitFor();
      await field(page, 'Suite').fill('orders');
      await field(page, 'Cases at the same time').fill('99');
      await button(page, 'Start the replay').click();
      await expect.poll(() => field(page, 'Cases at the same time').getAttribute('aria-invalid')).toBe('true');
    });
  });

  it('is exported and deleted', async () => {
    await visit(`/console/replays/${replay}`, async (page) => {
      const download = page.waitForEvent('download');
      await button(page, 'Export as NDJSON').click();
      expect((await download).suggestedFilename()).toBe(`replay-${replay.slice(0, 12)}.ndjson`);
    });
    await lookAt('/console/replays', async (page, look) => {
      await page.getByRole('table', { name: 'Replays' }).waitFor();
      await look('replays');
      await page.goto(`${service.url}/console/replays/${replay}`);
      await page.getByRole('table', { name: 'Cases' }).waitFor();
      await look('replay');
      await page.goto(`${service.url}/console/replays/${replay}?case=1`);
      await page.getByRole('region', { name: 'Both sides' }).waitFor();
      await look('replay-case');
      await page.goto(`${service.url}/console/suites/orders`);
      await page.getByRole('table', { name: 'Selected cases' }).waitFor();
      await look('suite');
      await page.goto(`${service.url}/console/replays/new?suite=orders`);
      await field(page, 'Suite').waitFor();
      await look('replay-start');
    });
    await visit(`/console/replays/${replay}`, async (page) => {
      await button(page, 'Delete').click();
      await page.getByRole('group', { name: 'Delete the replay?' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('table', { name: 'Replays' }).waitFor();
      expect((await service.call('GET', `/v1/replays/${replay}`)).status).toBe(404);
    });
  });
});
