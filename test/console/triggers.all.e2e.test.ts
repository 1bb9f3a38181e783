import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { eventually } from '../e2e/eventually.ts';
import { button, describeConsole, field } from './console-tab.ts';

const secret = 'a-secret-of-the-sender-0123456789';
const hostileTitle = 'evil\u202etxt <img src=x onerror=alert(1)>';

const hook = { agent: 'demo', scheme: 'bearer', secret, input: '{{issue.title}}', bearer: { idHeader: 'x-id' } };
const fragile = { ...hook, callbackUrl: 'https://127.0.0.1:9/hook' };

describeConsole('the triggers of the console', {}, ({ service, visit, lookAt }) => {
  beforeAll(async () => {
    await service.call('PUT', '/v1/webhooks/fragile', { ...fragile, session: '{{repository.name}}' });
    await service.call('PUT', '/v1/webhooks/sturdy', { ...hook, filter: 'payload.action == "opened"' });
  });

  const rows = (page: Page, table: string, text: string) =>
    page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: text });

  async function deliver(webhook: string, id: string, status: string, action = 'opened'): Promise<void> {
    const event = { action, issue: { title: hostileTitle } };
    const headers = { authorization: `Bearer ${secret}`, 'x-id': id };
    const answer = await service.call('POST', `/hooks/default/${webhook}`, event, headers);
    expect(answer.status, answer.text).toBeLessThan(300);
    await eventually(`delivery ${id} is ${status}`, async () => {
      const { json } = await service.call('GET', `/v1/webhooks/${webhook}/deliveries/${id}`);
      return json.status === status ? true : undefined;
    });
  }

  it('a failed delivery shows payload and reason; Replay runs it', async () => {
    await deliver('fragile', 'd1', 'failed');
    await deliver('sturdy', 'd2', 'ignored', 'closed');
    await visit('/console/deliveries', async (page) => {
      await rows(page, 'Deliveries', 'sturdy').waitFor();
      const failed = rows(page, 'Deliveries', 'fragile');
      expect(await failed.textContent()).toContain('failed');
      await failed.getByRole('button').click();
      const sheet = page.getByRole('dialog', { name: 'Delivery to fragile' });
      await sheet.getByText('evilU+202Etxt <img src=x onerror=alert(1)>').waitFor();
      expect(await sheet.textContent()).toContain('repository.name');
      // The template is corrected, and the same event runs.
      await service.call('PUT', '/v1/webhooks/fragile', fragile);
      await sheet.getByRole('button', { name: 'Replay' }).click();
      await sheet.locator('.state', { hasText: 'completed' }).waitFor();
      await sheet.getByText('2, replayed').waitFor();
      await page.keyboard.press('Escape');
      await failed.locator('.state', { hasText: 'completed' }).waitFor();
      await field(page, 'Status').selectOption('ignored');
      await expect.poll(() => rows(page, 'Deliveries', 'fragile').count()).toBe(0);
      await field(page, 'Webhook').selectOption('fragile');
      await page.getByRole('heading', { name: 'No deliveries match these filters' }).waitFor();
    });
  });

  it('says how many requests had no valid signature', async () => {
    await visit('/console/audit', async (page) => {
      await page.route('**/v1/deliveries*', async (route) => {
        const answer = await (await route.fetch()).json();
        const refused = [{ webhook: 'sturdy', day: '2026-01-01', count: 3, lastAt: '2026-01-01T12:00:00.000Z' }];
        await route.fulfill({ json: { ...answer, refused } });
      });
      await page.getByRole('link', { name: 'Deliveries' }).click();
      await page.getByText('3 requests were refused: no valid signature').click();
      await rows(page, 'Refused requests', '2026-01-01').getByRole('link', { name: 'sturdy' }).waitFor();
    });
  });

  it('shows callbacks with their attempts', async () => {
    await visit('/console/deliveries/callbacks', async (page) => {
      const row = rows(page, 'Callbacks', 'webhook fragile').first();
      await row.getByRole('button').click();
      const sheet = page.getByRole('dialog', { name: 'Callback' });
      await sheet.getByRole('button', { name: 'Retry now' }).click();
      await expect
        .poll(async () => {
          await sheet.getByRole('button', { name: 'Read again' }).click();
          return await sheet.getByRole('table', { name: 'Attempts' }).locator('tbody').getByRole('row').count();
        })
        .toBeGreaterThan(0);
      expect(await sheet.textContent()).toContain('"type"');
    });
  });

  it('tries each change of a webhook with an event, marks the field that is wrong, and saves', async () => {
    await visit('/console/webhooks', async (page) => {
      await page.getByRole('link', { name: 'sturdy', exact: true }).waitFor();
      await field(page, 'New webhook').fill('triage');
      await page.keyboard.press('Enter');
      const outcome = page.getByRole('region', { name: 'Test' }).getByRole('status');
      await outcome.getByText('a turn would start').waitFor();
      await field(page, 'Signed as').selectOption('github');
      await field(page, 'Secret').fill('a-github-secret');
      await field(page, 'Filter (CEL)').fill('event ==');
      await expect.poll(() => field(page, 'Filter (CEL)').getAttribute('aria-invalid')).toBe('true');
      expect(await button(page, 'Save').isDisabled()).toBe(true);
      await field(page, 'Filter (CEL)').fill('event == "issues" && payload.action == "closed"');
      await outcome.getByText('ignored').waitFor();
      await field(page, 'Filter (CEL)').fill('event == "issues"');
      await field(page, 'Input').fill('New issue: {{issue.title}} {{issue.nothing}}');
      await outcome.getByText('It breaks').waitFor();
      await outcome.getByText('issue.nothing').waitFor();
      await field(page, 'Payload').fill('{"issue": {"title": "Another one"}}');
      await outcome.getByText('Another one').waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      await page.getByText('/hooks/default/triage').waitFor();
      expect((await service.call('GET', '/v1/webhooks/triage')).json).toMatchObject({
        scheme: 'github',
        hasSecret: true,
        filter: 'event == "issues"',
      });
      await page.getByRole('link', { name: 'Its deliveries' }).click();
      await page.getByRole('heading', { name: 'No deliveries match these filters' }).waitFor();
    });
  });

  it('a schedule shows five next runs in its zone and UTC', async () => {
    await visit('/console/schedules', async (page) => {
      await field(page, 'New schedule').fill('morning');
      await page.keyboard.press('Enter');
      await field(page, 'Times (cron)').fill('30 9 * * 1-5');
      await field(page, 'Time zone').fill('Asia/Kolkata');
      // Before it is saved.
      const next = page.getByRole('table', { name: 'Next runs' });
      await next.getByText('09:30 AM GMT+5:30').first().waitFor();
      await field(page, 'Input').fill('/shell echo good morning');
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      expect(await next.locator('tbody').getByRole('row').count()).toBe(5);
      expect(await next.getByRole('columnheader').allTextContents()).toEqual(['Asia/Kolkata', 'UTC', 'In']);
      for (const row of await next.locator('tbody').getByRole('row').all())
        expect(await row.textContent()).toMatch(/09:30 AM GMT\+5:30.*04:00 AM UTC/);
      await button(page, 'Run now').click();
      await rows(page, 'Runs', 'completed').waitFor();
      await field(page, 'It runs').selectOption('interval');
      await field(page, 'Time between runs').fill('soon');
      await expect.poll(() => field(page, 'Time between runs').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'Time between runs').fill('90m');
      await button(page, 'Save').click();
      await expect.poll(() => next.getByRole('columnheader').first().textContent()).toBe('UTC');
    });
  });

  it('is accessible and fits its window', async () => {
    await service.call('PUT', '/v1/schedules/nightly', { agent: 'demo', cron: '0 3 * * *', timeZone: 'Europe/Berlin', input: 'x' });
    await lookAt('/console/webhooks', async (page, look) => {
      await page.getByRole('link', { name: 'sturdy', exact: true }).waitFor();
      await look('webhooks');
      await page.getByRole('link', { name: 'sturdy', exact: true }).click();
      await page.getByRole('region', { name: 'Test' }).getByText('a turn would start').waitFor();
      await look('webhook');
      await page.goto(`${service.url}/console/schedules/nightly`);
      await page.getByRole('table', { name: 'Next runs' }).waitFor();
      await look('schedule');
      await page.goto(`${service.url}/console/deliveries`);
      await rows(page, 'Deliveries', 'fragile').getByRole('button').click();
      await page.getByRole('dialog').getByText('Payload', { exact: true }).waitFor();
      await look('delivery');
      await page.goto(`${service.url}/console/deliveries/callbacks`);
      await rows(page, 'Callbacks', 'webhook fragile').first().waitFor();
      await look('callbacks');
    });
  });
});
