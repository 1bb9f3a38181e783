/** Every page of the console opens. `npm run test:all` has the stories of each page. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findAccessibilityViolations, phone, scrollsSideways } from './browser.ts';
import { describeConsole } from './console-tab.ts';

describeConsole('every page of the console', {}, ({ service, visit }) => {
  it('opens from its link, is accessible, and fits a phone', async () => {
    const limits = { requestsPerMinute: 600, dailyCost: 5, storageBytes: 1_048_576 };
    await service.call('POST', '/v1/keys', { name: 'limited', scopes: ['chat'], limits });
    let paths: string[] = [];
    await visit('/', async (page) => {
      await page.getByRole('button', { name: /^Run a command/ }).waitFor();
      const links = await page.locator('nav a[href^="/console/"]').all();
      const found = await Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''));
      paths = [...new Set(found)].filter((path) => /^\/console\/[a-z]+$/.test(path));
    });
    expect(paths.length).toBeGreaterThan(15);
    await visit(
      '/',
      async (page) => {
        for (const path of paths) {
          await page.goto(`${service.url}${path}`);
          await page.locator('main h1').first().waitFor();
          await page.getByText('Loading…').waitFor({ state: 'detached' });
          const found = [await findAccessibilityViolations(page), await scrollsSideways(page)];
          expect([path, ...found]).toEqual([path, [], false]);
        }
      },
      { viewport: phone, colorScheme: 'dark' },
    );
  });

  it('shows a key only the pages that its scopes permit, and begins with the first of them', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'decides', scopes: ['approve'] });
    const seesItsPages = async (page: Page) => {
      await page.waitForURL(`${service.url}/console/approvals`);
      const links = page.locator('#navigation a[href^="/console/"]');
      expect(await links.evaluateAll((found) => found.map((link) => String(link).split('/').at(-1)))).toEqual([
        'approvals',
        'usage',
        'limits',
        'settings',
      ]);
    };
    await visit('/', seesItsPages, { key: String(json.key) });
  });
});
