import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { describeConsole, field } from './console-tab.ts';

const hostileName = 'evil\u202etxt<b>\u001b[31m';
const callsMade = 60;

describeConsole('the audit in the console', {}, ({ service, visit, lookAt }) => {
  let session: string;
  beforeAll(async () => {
    const call = (name: string, input: object) => service.call('POST', '/v1/toolsets/demo/calls', { name, arguments: input });
    for (let count = 0; count < callsMade; count += 1) await call('shell', { command: `echo ${count}` });
    await call(hostileName, {});
    session = (await service.call('POST', '/v1/sessions', { agent: 'demo' })).json.id;
    await service.call('POST', `/v1/sessions/${session}/turns`, { input: '/shell rm nothing.txt' });
    await service.call('PUT', '/v1/agents/audited', { model: 'rehearsal/default' });
  });

  const rows = (page: Page) => page.getByRole('table', { name: 'Audit' }).locator('tbody').getByRole('row');

  it('lists calls and changes page by page, filters by the address, and shows a row', async () => {
    await visit('/console/audit', async (page) => {
      await rows(page).filter({ hasText: 'agent audited' }).waitFor();
      const shown = await rows(page).count();
      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => rows(page).count()).toBeGreaterThan(shown);
      await field(page, 'Kind').selectOption('change');
      await rows(page).filter({ hasText: 'create' }).filter({ hasText: 'audited' }).waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await field(page, 'Verdict').selectOption('refused');
      await expect.poll(() => rows(page).count()).toBe(1);
      expect(await rows(page).textContent()).toContain('evilU+202Etxt<b>U+001B');
      await rows(page).getByRole('button').click();
      const sheet = page.getByRole('dialog', { name: 'Call' });
      await sheet.getByText('Hash of arguments').waitFor();
      await sheet.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => sheet.count()).toBe(0);
      await page.goto(`${service.url}/console/audit?session=${session}&tool=builtin.bash`);
      await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
      expect(await rows(page).first().textContent()).toContain('shell → is builtin.bash');
      expect(await field(page, 'Session').inputValue()).toBe(session);
      await field(page, 'From').fill('2099-01-01T00:00:00');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'No rows match these filters' }).waitFor();
      await page.goto(`${service.url}/console/audit?code=nonsense`);
      await page.getByRole('alert').getByText('code:').waitFor();
    });
  });

  it('verifies all rows with its progress, and names the first broken row', async () => {
    const { checked } = (await service.call('GET', '/v1/audit/verify')).json;
    await visit('/console/audit', async (page) => {
      const verify = page.getByRole('region', { name: 'Verification' });
      await verify.getByRole('button', { name: 'Verify all rows' }).click();
      await verify.getByText('intact', { exact: true }).waitFor();
      expect(await verify.textContent()).toContain(`${checked} rows in`);
      let answer: () => void = () => undefined;
      const isAsked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const log = { log: '3', from: 1, through: 1_000, signed: 900, retentionFault: null, fault: null };
      const broken = { id: '3.1042', log: '3', number: 1_042, through: 1_042, reason: 'altered' };
      await page.route('**/v1/audit/verify*', async (route) => {
        const isSecond = route.request().url().includes('cursor=next');
        if (isSecond) await isAsked;
        const first = { ok: true, checked: 1_000, logs: [log], broken: null, nextCursor: 'next' };
        await route.fulfill({
          json: isSecond ? { ok: false, checked: 42, logs: [{ ...log, fault: broken }], broken, nextCursor: null } : first,
        });
      });
      await verify.getByRole('button', { name: 'Verify all rows' }).click();
      await verify.getByText('Checked 1,000 rows…').waitFor();
      answer();
      const alert = verify.getByRole('alert');
      await alert.getByText('3.1042').waitFor();
      expect(await alert.textContent()).toContain('it was altered');
    });
  });

  it('says which scope a key needs', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'chat only', scopes: ['chat'] });
    await visit('/console/audit', async (page) => {
      await page.goto(`${service.url}/console/audit#key=${json.key}`);
      await page.reload();
      await page.getByRole('alert').getByText('forbidden', { exact: true }).waitFor();
    });
  });

  it('is accessible and fits its window', async () => {
    await lookAt('/console/audit', async (page, look) => {
      await rows(page).first().waitFor();
      await page.getByRole('button', { name: 'Verify all rows' }).click();
      await page.getByText('intact', { exact: true }).waitFor();
      await look('audit');
      await rows(page).nth(2).getByRole('button').click();
      await page.getByRole('dialog').waitFor();
      await look('audit-row');
    });
  });
});
