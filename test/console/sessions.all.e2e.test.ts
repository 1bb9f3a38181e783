import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../e2e/eventually.ts';
import { describeConsole } from './console-tab.ts';

const hostileTitle = 'evil\u202etxt <b>bold</b>';

describeConsole('the sessions of the console', {}, ({ service, visit, lookAt }) => {
  let waited: string;
  beforeAll(async () => {
    waited = await begin();
    await say(waited, '/shell echo draft > old.txt\n\n/shell rm old.txt');
    await say(waited, 'second input', 'queued');
    const { items } = (await service.call('GET', `/v1/sessions/${waited}/approvals`)).json;
    await service.call('POST', `/v1/sessions/${waited}/approvals/${items[0].callId}`, { decision: 'deny' });
    await listed(waited, 'completed');
  });

  const begin = async (): Promise<string> => (await service.call('POST', '/v1/sessions', { agent: 'demo' })).json.id;
  const say = (id: string, input: string, how = '') =>
    service.call('POST', `/v1/sessions/${id}/turns`, { input }, how === 'queued' ? { prefer: 'respond-async' } : {});
  const listed = async (id: string, status: string) =>
    await eventually(`${status} in the list`, async () =>
      (await service.call('GET', `/v1/sessions?status=${status}`)).json.items.find((row: { id: string }) => row.id === id),
    );
  const row = (page: Page, text: string) => page.getByRole('table', { name: 'Sessions' }).getByRole('row').filter({ hasText: text });
  const timeline = (page: Page, input: string) => page.locator('.timeline').filter({ hasText: input });

  it('lists sessions with title, status and who started them, and filters by the address', async () => {
    const other = await begin();
    await say(other, hostileTitle);
    await listed(other, 'completed');
    await visit('/console/sessions', async (page) => {
      await row(page, 'evilU+202Etxt <b>bold</b>').waitFor();
      expect(await row(page, '/shell echo draft').textContent()).toContain('agent/demo');
      await page.getByLabel('Status', { exact: true }).selectOption('failed');
      await page.getByRole('heading', { name: 'No sessions match these filters' }).waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await row(page, 'evilU+202Etxt').getByRole('link', { name: 'evil' }).click();
      await page.getByRole('heading', { level: 1 }).getByText('evilU+202Etxt').waitFor();
      expect(page.url()).toBe(`${service.url}/console/sessions/${other}`);
    });
  });

  it('shows waits apart from run time, failures only, and the details of a call', async () => {
    await visit(`/console/sessions/${waited}`, async (page) => {
      const turn = timeline(page, '/shell echo draft');
      const denied = turn.getByRole('row').filter({ hasText: 'waiting' });
      await denied.waitFor();
      expect(await denied.locator('.track .wait').count()).toBe(1);
      expect(await denied.textContent()).toMatch(/shell\d.*\+ .* waiting denied/);
      const width = async () =>
        await denied.locator('.track .wait').evaluate((bar: { getAttribute(name: string): string }) => bar.getAttribute('style'));
      const sequence = await width();
      await page.getByLabel('Scale').selectOption('real');
      await expect.poll(width).not.toBe(sequence);
      await page.getByLabel('Failures only').check();
      expect(await turn.locator('tbody').getByRole('row').count()).toBe(1);
      await turn.getByRole('button', { name: 'shell' }).click();
      const sheet = page.getByRole('dialog', { name: 'shell' });
      await sheet.getByText('deny by root').waitFor();
      expect(await sheet.textContent()).toContain('rm old.txt');
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Open the chat' }).click();
      await page.getByRole('region', { name: 'Messages' }).getByText('second input').first().waitFor();
    });
  });

  it('shows that the service restarted while a turn ran', async () => {
    const id = await begin();
    await say(id, '/shell sleep 4', 'queued');
    const started = async () => (await service.call('GET', `/v1/sessions/${id}/events?follow=false`)).text.includes('"tool-start"');
    await eventually('the call runs', async () => (await started()) || undefined);
    await service.restart();
    await visit(`/console/sessions/${id}`, async (page) => {
      // The page follows the turn without a reload.
      await page.getByText('The service restarted, and the turn continued.').waitFor();
      await page.locator('.about .state', { hasText: 'completed' }).waitFor();
    });
  });

  it('exports the log as JSON lines', async () => {
    const { lastEvent } = (await service.call('GET', `/v1/sessions/${waited}`)).json;
    await visit(`/console/sessions/${waited}`, async (page) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as JSONL' }).click()]);
      const lines = readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\n');
      expect(lines.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: lastEvent }, (_, index) => index + 1));
    });
  });

  it('deletes a session after a question, with the keyboard alone', async () => {
    const id = await begin();
    await visit(`/console/sessions/${id}`, async (page) => {
      await page.getByRole('heading', { name: 'No turn ran in this session yet' }).waitFor();
      const focused = (name: string) => page.locator('button:focus', { hasText: name }).waitFor();
      await page.getByRole('button', { name: 'Delete' }).focus();
      await page.keyboard.press('Enter');
      // The safe answer has the focus.
      await focused('Keep');
      await page.keyboard.press('Enter');
      await focused('Delete');
      expect((await service.call('GET', `/v1/sessions/${id}`)).status).toBe(200);
      await page.keyboard.press('Enter');
      await focused('Keep');
      await page.keyboard.press('Shift+Tab');
      await focused('Delete');
      await page.keyboard.press('Enter');
      await page.getByRole('table', { name: 'Sessions' }).waitFor();
      expect((await service.call('GET', `/v1/sessions/${id}`)).status).toBe(404);
      await page.goto(`${service.url}/console/sessions/${id}`);
      await page.getByRole('alert').getByText('not_found').waitFor();
    });
  });

  it('is accessible and fits its window', async () => {
    await lookAt('/console/sessions', async (page, look) => {
      await row(page, '/shell echo draft').waitFor();
      await look('sessions');
      await row(page, '/shell echo draft').getByRole('link').first().click();
      await timeline(page, '/shell echo draft').waitFor();
      await look('session');
      await page.getByRole('button', { name: 'shell' }).first().click();
      await page.getByRole('dialog').waitFor();
      await look('session-call');
    });
  });
});
