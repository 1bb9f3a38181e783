import { expect, it } from 'vitest';
import { describeConsole } from './console-tab.ts';

describeConsole('members in the console', {}, ({ service, visit, lookAt, openTab }) => {
  it('adds a member, changes the role, and removes the member', async () => {
    await visit('/console/members', async (page) => {
      const sheet = page.getByRole('dialog');
      await page.getByRole('heading', { name: 'No members yet' }).waitFor();
      await page.getByRole('button', { name: 'Add a member' }).click();
      await sheet.getByLabel('Email').fill('no address');
      await sheet.getByLabel('Role').selectOption('editor');
      await sheet.getByText('Chats, calls tools, and writes toolsets').waitFor();
      await sheet.getByLabel('Only these toolsets').fill('demo');
      await sheet.getByRole('button', { name: 'Add', exact: true }).click();
      await expect.poll(() => sheet.getByLabel('Email').getAttribute('aria-invalid')).toBe('true');
      await sheet.getByLabel('Email').fill('Ada.Lovelace@example.com');
      expect(await sheet.getByLabel('Name').inputValue()).toBe('ada-lovelace');
      await sheet.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('row').filter({ hasText: 'ada.lovelace@example.com' }).getByText('toolset demo').waitFor();
      await page.getByRole('button', { name: 'ada.lovelace@example.com', exact: true }).click();
      await sheet.getByLabel('Role').selectOption('owner');
      expect(await sheet.getByLabel('Only these toolsets').count()).toBe(0);
      await sheet.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('row').filter({ hasText: 'Owner' }).getByText('the whole workspace').waitFor();
      const { json } = await service.call('GET', '/v1/members/ada-lovelace');
      expect([json.email, json.role, json.toolsets]).toEqual(['ada.lovelace@example.com', 'owner', undefined]);
      await page.getByRole('button', { name: 'Add a member' }).click();
      await sheet.getByLabel('Email').fill('ada@example.org');
      await sheet.getByLabel('Name').fill('ada-lovelace');
      await sheet.getByRole('button', { name: 'Add', exact: true }).click();
      await sheet.getByText('A member has this name').waitFor();
      await sheet.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Remove ada.lovelace@example.com' }).click();
      await page.getByRole('group').getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('heading', { name: 'No members yet' }).waitFor();
    });
  });

  it('is used without a key by a person who is signed in, until they sign out', async () => {
    const { page, faults } = await openTab();
    await page.goto(`${service.url}/console/members`);
    await page.getByRole('heading', { name: 'This tab has no key' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('Root key').fill(service.key);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/console/members`);
    await page.getByRole('button', { name: 'Add a member' }).waitFor();
    expect(await page.evaluate('sessionStorage.getItem("moniker-key")')).toBe(null);
    await page.getByRole('button', { name: 'Add a member' }).click();
    await page.getByRole('dialog').getByLabel('Email').fill('eve@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'eve@example.com' }).waitFor();
    await page.locator('.key-menu summary').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/sign-in/);
    await page.goto(`${service.url}/console/members`);
    await page.getByRole('heading', { name: 'This tab has no key' }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('is accessible and fits its window', async () => {
    await service.call('PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'editor', toolsets: ['demo'] });
    await service.call('PUT', '/v1/members/bob', { email: `bob-${'long'.repeat(12)}@example.com`, role: 'approver' });
    await lookAt('/console/members', async (page, look) => {
      await page.getByRole('button', { name: 'ada@example.com', exact: true }).waitFor();
      await look('members');
      await page.getByRole('button', { name: 'ada@example.com', exact: true }).click();
      await page.getByRole('dialog').getByLabel('Role').waitFor();
      await look('member');
    });
  });
});
