import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { button, describeConsole, field } from './console-tab.ts';

const hostileName = 'app\u202e<b>x</b>';

describeConsole('keys and the policy in the console', {}, ({ service, visit, lookAt }) => {
  const test = (page: Page) => page.getByRole('complementary', { name: 'Test the policy' });

  it('creates a key that is shown once, and revokes it with its turns', async () => {
    await visit('/console/keys', async (page) => {
      await page.getByRole('heading', { name: 'No keys yet' }).waitFor();
      await button(page, 'Create a key').click();
      await field(page, 'Name').fill(hostileName);
      await page.getByLabel('chat:').uncheck();
      await button(page, 'Create').click();
      await page.getByRole('alert').getByText('scopes').first().waitFor();
      await page.getByLabel('chat:').check();
      await field(page, 'Only these agents').fill('demo');
      await button(page, 'Create').click();
      const created = page.getByRole('region', { name: 'New key' });
      const key = (await created.locator('code').textContent()) ?? '';
      expect(key).toMatch(/^mk_/);
      const me = await fetch(`${service.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
      expect(await me.json()).toMatchObject({ name: hostileName, scopes: ['chat'], agents: ['demo'] });
      await page.reload();
      await page.getByRole('button', { name: 'appU+202E<b>x</b>' }).click();
      expect(await page.content()).not.toContain(key);
      const sheet = page.getByRole('dialog');
      expect(await sheet.getByRole('link', { name: 'calls and changes' }).getAttribute('href')).toContain('/console/audit?key=');
      await sheet.getByRole('button', { name: 'Revoke and end its turns' }).click();
      await sheet
        .getByRole('group', { name: 'Revoke it and end its turns?' })
        .getByRole('button', { name: 'Revoke and end its turns' })
        .click();
      await sheet.getByText('of its turns were ended').waitFor();
      await sheet.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('table', { name: 'Keys' }).getByText('revoked').waitFor();
    });
  });

  it('changes a key, and rotates it with an overlap that is shown', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'to rotate', scopes: ['chat'], caller: { team: 'a', region: 'eu' } });
    const soon = new Date(Date.now() + 3.5 * 86_400_000).toISOString();
    await service.call('POST', '/v1/keys', { name: 'expires soon', scopes: ['chat'], expiresAt: soon });
    const statusOf = async (key: string) => (await fetch(`${service.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
    await visit('/console/keys', async (page) => {
      await page.getByRole('row').filter({ hasText: 'expires soon' }).getByText('expires in 3 d').waitFor();
      await button(page, 'to rotate').click();
      const sheet = page.getByRole('dialog');
      await sheet.getByRole('button', { name: 'Change' }).click();
      await sheet.getByLabel('Name', { exact: true }).fill('rotated');
      await sheet.getByLabel('tools:').check();
      await sheet.getByLabel('Only these models').fill('gpt-5');
      await sheet.getByLabel('Fields of the caller').fill('{"team": "b"}');
      await sheet.getByLabel('Expires').selectOption('30');
      await sheet.getByText('Limits', { exact: true }).click();
      await sheet.getByLabel('Cost per day (UTC)').fill('2.5');
      await sheet.getByRole('button', { name: 'Save' }).click();
      await sheet.getByText('must be <provider>/<model>').first().waitFor();
      await sheet.getByLabel('Only these models').fill('rehearsal/*, openai/gpt-5*');
      await sheet.getByRole('button', { name: 'Save' }).click();
      await sheet.getByRole('heading', { name: 'rotated' }).waitFor();
      await sheet.getByText('rehearsal/*, openai/gpt-5*').waitFor();
      const { json: changed } = await service.call('GET', `/v1/keys/${json.id}`);
      expect(changed).toMatchObject({ name: 'rotated', scopes: ['chat', 'tools'], caller: { team: 'b' }, limits: { dailyCost: 2.5 } });
      expect(changed.models).toEqual(['rehearsal/*', 'openai/gpt-5*']);
      expect([changed.caller.region, Date.parse(changed.expiresAt) > Date.now()]).toEqual([undefined, true]);
      await sheet.getByRole('button', { name: 'Rotate' }).click();
      await sheet.getByRole('group', { name: 'Make a new secret?' }).getByRole('button', { name: 'Rotate' }).click();
      const created = sheet.getByRole('region', { name: 'New key' });
      await created.getByText('The previous one works until').waitFor();
      const fresh = (await created.locator('code').textContent()) ?? '';
      expect(await Promise.all([fresh, String(json.key)].map(statusOf))).toEqual([200, 200]);
      await sheet.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => page.content()).not.toContain(fresh);
      await page.getByRole('row').filter({ hasText: 'rotated' }).waitFor();
    });
  });

  it('writes rules by form, tests them, and marks the rule that decided', async () => {
    await visit('/console/policy', async (page) => {
      await page.getByText('No rules yet').waitFor();
      await button(page, 'Test').click();
      await test(page).getByText('by default').waitFor();
      await test(page)
        .getByText(/^network .*api\.example\.com/)
        .first()
        .waitFor();
      await button(page, 'Add a rule').click();
      await button(page, 'Save').click();
      await page.getByRole('listitem', { name: 'Rule 0' }).getByText('rules[0].tool').first().waitFor();
      await button(page, 'Remove tool of rule 0').click();
      await field(page, 'Add a condition to rule 0').selectOption('host');
      await field(page, 'host of rule 0').fill('api.example.com');
      await field(page, 'Note of rule 0').fill('reports go by mail');
      await page.getByText('rules with your unsaved changes').waitFor();
      await field(page, 'Of').selectOption('network');
      await field(page, 'Host').fill('api.example.com');
      await button(page, 'Test').click();
      await test(page).getByText('by rule 0').waitFor();
      await page.getByRole('listitem', { name: 'Rule 0' }).getByText('decided the test').waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      await button(page, 'Test').click();
      await test(page).getByText('What would the saved rules say?').waitFor();
      await test(page).getByText('by rule 0').waitFor();
      expect((await service.call('GET', '/v1/policy')).json).toEqual({
        rules: [{ decision: 'deny', host: 'api.example.com', note: 'reports go by mail' }],
      });
      await field(page, 'Decision of rule 0').selectOption('allow');
      await button(page, 'Save').click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
      await page.getByText('Versions', { exact: true }).click();
      await button(page, 'Compare: version 1 with the draft').click();
      await page.getByRole('region', { name: 'Version 1, and the draft' }).getByText('"decision": "allow"').waitFor();
    });
  });

  it('is accessible and fits its window', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    await service.call('POST', '/v1/keys', { name: 'my app', scopes: ['chat', 'tools'], agents: ['demo'], expiresAt });
    const rules = [
      { decision: 'deny', tool: 'github.*', effect: 'destroy', note: 'issues are kept' },
      { decision: 'allow', kind: 'network', host: 'api.example.com' },
    ];
    await service.call('PUT', '/v1/policy', { rules });
    await lookAt('/console/keys', async (page, look) => {
      await page.getByRole('button', { name: 'my app' }).waitFor();
      await look('keys');
      await button(page, 'Create a key').click();
      await look('key-new');
      await page.getByRole('button', { name: 'my app' }).click();
      await page.getByRole('dialog').waitFor();
      await look('key');
      await page.getByRole('dialog').getByRole('button', { name: 'Change' }).click();
      await page.getByRole('dialog').getByText('Limits', { exact: true }).click();
      await look('key-change');
      await page.goto(`${service.url}/console/policy`);
      await field(page, 'host of rule 1').waitFor();
      await button(page, 'Test').click();
      await page.getByRole('status', { name: 'Verdict' }).waitFor();
      await look('policy');
    });
  });
});
