/** A browser for the tests of the pages: one that is installed, never a download. */
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const paths = [
  process.env.MONIKER_BROWSER,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const phone = { width: 390, height: 844 };

export const browserPath = paths.find((path) => path !== undefined && existsSync(path)) ?? null;
export const noBrowser = 'no browser found: apt-get install -y chromium, or set MONIKER_BROWSER to one';

/** Without its sandbox, which root cannot use, and without /dev/shm, which is small in containers. */
export async function launchBrowser(): Promise<Browser> {
  if (browserPath === null) throw new Error(noBrowser);
  return await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
}

/** A new tab in a context of its own. `faults` collects script errors, console errors (policy violations too) and foreign requests. */
export async function openTab(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    // Chromium logs every response with an error status.
    if (message.type() === 'error' && !message.text().includes('the server responded with a status of'))
      faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) faults.push(`foreign request: ${request.url()}`);
  });
  return { page, faults };
}

/** Returns the violations of WCAG 2.2 AA that axe finds in the page, one line each. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  // Evaluated over the debugging protocol: a script element would violate the policy of the page.
  await page.evaluate(axe.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const violations = await page.evaluate(`axe.run(document, ${JSON.stringify({ runOnly: tags })}).then((result) => result.violations)`);
  return (violations as { id: string; nodes: { target: string[]; failureSummary: string }[] }[]).map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 4)
        .map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`)
        .join(' | ')}`,
  );
}

/** Whether the page scrolls sideways. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')) as boolean;
}
