import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { absentCorpus, readJson, readJsonLines, sharedFixtures } from '../fixtures.ts';
import { isSkipped } from '../selection.ts';
import { findAccessibilityViolations } from './browser.ts';
import { allowEcho, describeConsole, say, shareEcho } from './console-tab.ts';

const injections = sharedFixtures('security/prompt-injection.jsonl');
const naughtyStrings = sharedFixtures('security/naughty-strings.json');
const hostileName = 'evil\u202etxt.exe\u001b[31m<img src=x onerror=alert(1)>';

describeConsole('hostile content in the console', allowEcho, ({ service, visit, openTab }) => {
  shareEcho(service);

  const answers = (page: Page) => page.locator('.answer');

  /** A session in which the model answered each text. */
  async function answered(texts: readonly string[]): Promise<string> {
    const { json } = await service.call('POST', '/v1/sessions', { model: 'echo/words' });
    for (const input of texts) await service.call('POST', `/v1/sessions/${json.id}/turns`, { input });
    return `/console/chat/${json.id}`;
  }

  it.skipIf(isSkipped(injections === null, 'prompt injections for consoles', absentCorpus))(
    'loads nothing and runs nothing of an answer; images are named, and links lead to http(s) only',
    async () => {
      const rows = readJsonLines<{ use: string; text: string }>(injections ?? '').filter(({ use }) => use === 'console');
      expect(rows.length).toBeGreaterThan(5);
      await visit(await answered(rows.map(({ text }) => text)), async (page) => {
        await expect.poll(() => answers(page).count()).toBe(rows.length);
        expect(await page.locator('.answer :is(img, iframe, script, style, svg, object)').count()).toBe(0);
        const links = await page.locator('.answer a').evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
        expect(links.filter((href) => !/^https?:/.test(href))).toEqual([]);
        await page.getByText('Image, not loaded: status').waitFor();
        await page.getByText('(attacker.example)').first().waitFor();
        expect(await findAccessibilityViolations(page)).toEqual([]);
      });
    },
  );

  it.skipIf(isSkipped(naughtyStrings === null, 'naughty strings', absentCorpus))('shows naughty strings as text', async () => {
    const strings = readJson<string[]>(naughtyStrings ?? '').filter((text) => text.trim() !== '');
    await visit(await answered([strings.map((text) => `    ${text.replaceAll(/[\r\n]+/g, ' ')}`).join('\n')]), async (page) => {
      await answers(page).waitFor();
      expect(await page.locator('.answer :is(img, iframe, script, style, svg)').count()).toBe(0);
      expect(await page.locator('.answer .hidden-character').count()).toBeGreaterThan(10);
    });
  });

  it('shows hidden characters of names, arguments, results and files', async () => {
    await visit('/', async (page) => {
      const command = `printf '%b' 'red \\x1b[31m and \\xe2\\x80\\xae reversed'`;
      await say(page, `/shell ${JSON.stringify({ command })}`);
      const result = page.getByRole('group', { name: 'Result of shell' });
      await result.getByText('U+001B').waitFor();
      await result.getByText('U+202E').waitFor();
    });
    const session = (await service.call('POST', '/v1/sessions', { model: 'echo/words', toolset: 'demo' })).json.id;
    await service.call('POST', `/v1/sessions/${session}/turns`, { input: `call ${hostileName.replaceAll(' ', '_')} {"a": "\u202eb"}` });
    const written = await fetch(`${service.url}/v1/sessions/${session}/files/${encodeURIComponent('<b>page<b>.html')}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${service.key}` },
      body: '<script>alert(1)</script>\u001b[2J',
    });
    expect(written.status).toBe(201);
    await visit(`/console/chat/${session}`, async (page) => {
      const card = page.locator('.call').first();
      await card.waitFor();
      expect(await card.locator('.requested').textContent()).toContain('evilU+202Etxt.exeU+001B');
      await page.getByRole('tab', { name: 'Files' }).click();
      await page.getByRole('button', { name: '<b>page<b>.html', exact: true }).click();
      await page.getByText('<script>alert(1)</script>U+001B[2J').waitFor();
      expect(await findAccessibilityViolations(page)).toEqual([]);
    });
  });

  it('keeps one stream a tab only while a turn runs: seven tabs respond', async () => {
    const { page: first } = await openTab();
    const context = first.context();
    const tabs: Page[] = [];
    for (let count = 0; count < 7; count += 1) {
      const page = count === 0 ? first : await context.newPage();
      await page.goto(`${service.url}/${count === 0 ? `#key=${service.key}` : ''}`);
      // Later tabs get the key from the first.
      await page.getByRole('button', { name: /^Something that asks first/ }).click();
      await page.getByRole('button', { name: 'Approve once' }).waitFor();
      tabs.push(page);
    }
    for (const page of tabs) {
      await page.bringToFront();
      await page.getByRole('button', { name: 'Approve once' }).click();
      await page.locator('.turn-end .state', { hasText: 'completed' }).waitFor();
    }
    await context.close();
  });

  it('catches up after the connection was gone', async () => {
    const { page } = await openTab();
    await page.goto(`${service.url}/#key=${service.key}`);
    await say(page, '/shell date');
    await page.locator('.turn-end .state', { hasText: 'completed' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline').waitFor();
    await say(page, '/shell echo again');
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor();
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('/shell echo again');
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.turn-end .state', { hasText: 'completed' }).nth(1).waitFor();
    await page.context().close();
  });

  it('works over a slow network: nothing is sent twice, and nothing is lost', async () => {
    await visit('/', async (page) => {
      const network = await page.context().newCDPSession(page);
      const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 };
      await network.send('Network.emulateNetworkConditions', slow);
      await page.getByLabel('Message', { exact: true }).fill('/shell echo slowly');
      for (let count = 0; count < 3; count += 1) await page.keyboard.press('Enter');
      await page.getByText('/shell echo slowly').first().waitFor();
      await page.locator('.turn-end .state', { hasText: 'completed' }).waitFor();
      expect(await page.locator('.said').count()).toBe(1);
      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
      await page.getByRole('link', { name: /^Toolsets/ }).click();
      await page.getByRole('link', { name: 'demo', exact: true }).click();
      await page.getByLabel('Aliases of builtin.bash').fill('one');
      await page.getByLabel('Aliases of builtin.bash').fill('two');
      await page.getByText('can be saved').waitFor();
      expect(await page.getByLabel('Aliases of builtin.bash').inputValue()).toBe('two');
      await page.getByRole('button', { name: 'Discard' }).click();
    });
  });

  it('counts down when the service limits the key', async () => {
    await visit('/', async (page) => {
      await page.route('**/v1/sessions', (route) =>
        route.fulfill({
          status: 429,
          headers: { 'retry-after': '40', 'content-type': 'application/problem+json' },
          body: JSON.stringify({ type: 'about:blank', title: 'Too many requests', status: 429, code: 'rate_limited', detail: 'Wait.' }),
        }),
      );
      await say(page, 'hello');
      await page.getByText(/Try again in \d+ s/).waitFor();
      await page.getByRole('alert').getByText('Too many requests').waitFor();
    });
  });
});
