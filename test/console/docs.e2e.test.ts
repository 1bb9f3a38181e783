import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareService } from '../e2e/shared-service.ts';
import { isSkipped } from '../selection.ts';
import { browserPath, findAccessibilityViolations, launchBrowser, noBrowser, openTab, scrollsSideways } from './browser.ts';

describe.skipIf(isSkipped(browserPath === null, '/docs in a browser', noBrowser))('/docs in a browser', () => {
  const service = shareService();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  it('loads under its policy, only from the service, and is accessible', async () => {
    const { page, faults } = await openTab(browser, service.url);
    await page.goto(`${service.url}/docs`);
    await page.getByRole('main').waitFor();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
    expect(faults).toEqual([]);
  });
});
