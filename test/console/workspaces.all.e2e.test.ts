import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { button, describeConsole, field } from './console-tab.ts';

describeConsole('workspaces in the console', {}, ({ service, visit, lookAt }) => {
  const saved = (page: Page, version: number) => page.getByText(`saved as version ${version}`, { exact: true }).waitFor();
  const inWorkspace = async (workspace: string, path: string) => {
    const headers = { authorization: `Bearer ${service.key}`, 'x-moniker-workspace': workspace };
    return (await (await fetch(service.url + path, { headers })).json()) as { instructions?: string; items: unknown[] };
  };

  it('creates a workspace and writes its settings', async () => {
    await visit('/console/workspaces', async (page) => {
      await page.getByRole('link', { name: 'default', exact: true }).waitFor();
      await field(page, 'New workspace').fill('Not A Name');
      await button(page, 'Create').click();
      await expect.poll(() => field(page, 'New workspace').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'New workspace').fill('default');
      await button(page, 'Create').click();
      await page.getByText('There is a workspace of this name').waitFor();
      await field(page, 'New workspace').fill('acme');
      await button(page, 'Create').click();
      await page.waitForURL(`${service.url}/console/workspaces/acme`);
      await field(page, 'Audit (days)').fill('0');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'Audit (days)').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'Audit (days)').fill('30');
      await field(page, 'New keys expire after (days)').fill('90');
      await page.getByLabel('Further names').fill('runcmd = builtin.bash\nunfinished');
      await page.getByLabel('Only these models').fill('rehearsal/*, openai/gpt-5*');
      await field(page, 'Requests per minute').fill('600');
      await field(page, 'Storage of its sessions (MB)').fill('2');
      await field(page, 'Ask an endpoint about calls').check();
      await field(page, 'URL').fill('no address');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'URL').getAttribute('aria-invalid')).toBe('true');
      await field(page, 'URL').fill('https://guard.example.com/moniker');
      await field(page, 'After each result').check();
      await button(page, 'Save').click();
      await saved(page, 2);
      expect((await service.call('GET', '/v1/workspaces/acme')).json.settings).toMatchObject({
        retention: { auditDays: 30, sessionDays: null },
        keys: { expiryDays: 90 },
        models: ['rehearsal/*', 'openai/gpt-5*'],
        limits: { requestsPerMinute: 600, storageBytes: 2_097_152 },
        guard: { url: 'https://guard.example.com/moniker', before: true, after: true, onFailure: 'deny' },
        nameMap: { runcmd: 'builtin.bash' },
      });
      await page.goto(`${service.url}/console/workspaces/nowhere`);
      await page.getByText('There is no workspace of this name').waitFor();
    });
  });

  it('acts in the chosen workspace until another one is chosen, and keeps drafts apart', async () => {
    await visit('/console/toolsets/demo', async (page) => {
      await page.getByRole('combobox', { name: 'Workspace' }).selectOption('acme');
      await page.waitForURL(`${service.url}/console/toolsets`);
      await page.getByText('No toolsets yet').waitFor();
      await page.goto(`${service.url}/console/agents`);
      await field(page, 'New agent').fill('demo');
      await page.keyboard.press('Enter');
      await field(page, 'Model').fill('rehearsal/default');
      await page.getByLabel('Instructions').fill('of acme');
      await button(page, 'Save').click();
      await saved(page, 1);
      expect([(await inWorkspace('acme', '/v1/agents/demo')).instructions, (await inWorkspace('acme', '/v1/agents')).items.length]).toEqual(
        [...['of acme', 1]],
      );
      await page.getByLabel('Instructions').fill('a draft of acme');
      await page.reload();
      await expect.poll(() => page.getByLabel('Instructions').inputValue()).toBe('a draft of acme');
      await page.getByRole('combobox', { name: 'Workspace' }).selectOption('default');
      await page.getByRole('link', { name: 'demo', exact: true }).click();
      await expect.poll(() => page.getByLabel('Instructions').inputValue()).not.toBe('');
      expect(await page.getByLabel('Instructions').inputValue()).not.toContain('acme');
      expect(await page.evaluate('sessionStorage.getItem("moniker-workspace")')).toBe('default');
    });
  });

  it('returns to the workspace of the key if the chosen one is gone, and offers no choice to other keys', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'administers', scopes: ['admin'] });
    await visit('/console/workspaces', async (page) => {
      await page.evaluate('sessionStorage.setItem("moniker-workspace", "gone")');
      await page.goto(`${service.url}/console/agents`);
      await page.getByRole('link', { name: 'demo', exact: true }).waitFor();
      expect(await page.getByRole('combobox', { name: 'Workspace' }).inputValue()).toBe('default');
      await page.goto(`${service.url}/console/workspaces#key=${String(json.key)}`);
      await page.reload();
      await page.getByRole('alert').getByText('forbidden', { exact: true }).waitFor();
      expect([
        await page.getByRole('combobox', { name: 'Workspace' }).count(),
        await page.getByRole('link', { name: 'Workspaces' }).count(),
      ]).toEqual([0, 0]);
    });
  });

  it('deletes a workspace after its name is typed, and shows the progress', async () => {
    await service.call('PUT', '/v1/workspaces/to-delete', {});
    await visit('/console/workspaces/to-delete', async (page) => {
      await page.getByRole('combobox', { name: 'Workspace' }).selectOption('to-delete');
      await page.getByRole('link', { name: 'to-delete' }).click();
      const remove = button(page, 'Delete permanently');
      await page.getByLabel('Type to-delete to delete it').fill('to-delet');
      expect(await remove.isDisabled()).toBe(true);
      await page.getByLabel('Type to-delete to delete it').fill('to-delete');
      await remove.click();
      await page.getByRole('region', { name: 'Deletion' }).getByText('deleting', { exact: true }).waitFor();
      const times = { startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:01:00.000Z' };
      const deleted = { name: 'to-delete', version: 0, status: 'deleted', createdAt: null, deletion: { ...times, left: {} } };
      await page.route('**/v1/workspaces/to-delete', (route) => route.fulfill({ json: deleted }));
      await page.getByText('Its name can be used again').waitFor();
      expect(await page.getByRole('combobox', { name: 'Workspace' }).inputValue()).toBe('default');
      await page.goto(`${service.url}/console/workspaces/default`);
      await page.getByRole('heading', { name: 'Request log' }).waitFor();
      expect(await remove.count()).toBe(0);
    });
  });

  it('is accessible and fits its window', async () => {
    await service.call('PUT', '/v1/workspaces/acme', {});
    await lookAt('/console/workspaces', async (page, look, isNarrow) => {
      await page.getByRole('link', { name: 'acme' }).waitFor();
      await look('workspaces');
      if (isNarrow) {
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('combobox', { name: 'Workspace' }).waitFor();
        await look('workspaces-menu');
      }
      await page.goto(`${service.url}/console/workspaces/acme`);
      await page.getByRole('heading', { name: 'Request log' }).waitFor();
      await field(page, 'Ask an endpoint about calls').check();
      await look('workspace');
      await page.getByRole('region', { name: 'Delete the workspace' }).scrollIntoViewIfNeeded();
      await look('workspace-delete');
      await page.goto(`${service.url}/console/workspaces/to-delete`);
      await page.getByRole('region', { name: 'Deletion' }).waitFor();
      await look('workspace-deleted');
    });
  });
});
