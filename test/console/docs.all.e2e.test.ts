import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findAccessibilityViolations, phone, scrollsSideways } from './browser.ts';
import { describeConsole } from './console-tab.ts';

describeConsole('/docs in a browser', {}, ({ service, openTab }) => {
  /** Opens the reference at a place. Policy violations, script errors and foreign requests fail the test. */
  async function visit<T>(hash: string, options: BrowserContextOptions, use: (page: Page) => Promise<T>): Promise<T> {
    const { page, faults } = await openTab(options);
    await page.goto(`${service.url}/docs${hash}`);
    await page.locator('#navigation').waitFor({ state: 'attached' });
    const result = await use(page);
    expect(faults).toEqual([]);
    await page.context().close();
    return result;
  }

  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
  const withKey = () => `#key=${service.key}`;

  it('finds operations from the keyboard, and says when there is nothing', async () => {
    await visit('', {}, async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('create key');
      const options = page.getByRole('option');
      await options.first().waitFor();
      expect(await options.first().getAttribute('aria-selected')).toBe('true');
      await page.keyboard.press('ArrowDown');
      expect(await options.nth(1).getAttribute('aria-selected')).toBe('true');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await heading(page, /key/);
      expect(page.url()).toContain('#operation/createKey');
      await page.keyboard.press('/');
      await page.keyboard.type('zebra');
      await page.getByText('No results for “zebra”').waitFor();
      expect(await options.count()).toBe(0);
    });
  });

  it('opens deep links, and follows the back and forward buttons', async () => {
    await visit('#operation/putToolset', {}, async (page) => {
      await heading(page, /toolset/);
      await page.getByRole('link', { name: 'ToolsetBody', exact: true }).first().scrollIntoViewIfNeeded();
      expect(await page.evaluate('scrollY')).toBeGreaterThan(200);
      await page.getByRole('link', { name: 'ToolsetBody', exact: true }).first().click();
      await heading(page, 'ToolsetBody');
      expect(await page.title()).toBe('ToolsetBody · Moniker API');
      expect(await page.evaluate('scrollY')).toBe(0);
      await page.goBack();
      await heading(page, /toolset/);
      expect(await page.evaluate('scrollY')).toBeGreaterThan(200);
      await page.goForward();
      await heading(page, 'ToolsetBody');
    });
    await visit('#createKey', {}, async (page) => expect(page.url()).toContain('#operation/createKey'));
    await visit('#operation/nothing', {}, async (page) => heading(page, 'Not in this reference'));
  });

  it('fills in the key of the tab, which is not in the URL', async () => {
    await visit(withKey(), {}, async (page) => {
      expect(page.url()).not.toContain(service.key);
      const example = page.getByRole('region', { name: 'Request in curl' });
      expect(await example.textContent()).toContain(`'authorization: Bearer ${service.key}'`);
      await page.getByText('API key').first().click();
      await page.getByRole('button', { name: 'Clear' }).click();
      expect(await example.textContent()).toContain('"authorization: Bearer $MONIKER_KEY"');
      expect(await page.evaluate("sessionStorage.getItem('moniker-key')")).toBeNull();
    });
  });

  it('sends a request and shows its response', async () => {
    await visit(withKey(), {}, async (page) => {
      await page.evaluate("location.hash = '#operation/listModels'");
      await heading(page, /models/);
      await page.getByText('Try it', { exact: true }).click();
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('200 OK').waitFor();
      expect(await page.getByRole('region', { name: 'Response body' }).textContent()).toContain('"rehearsal/default"');
    });
  });

  it('streams a chat as it arrives', async () => {
    await visit(withKey(), {}, async (page) => {
      await page.evaluate("location.hash = '#operation/createChatCompletion'");
      await page.getByText('Try it', { exact: true }).click();
      await page.getByLabel('Stream the response').check();
      expect(await page.getByRole('region', { name: 'Request in curl' }).textContent()).toContain('"stream": true');
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('I am the rehearsal model', { exact: false }).first().waitFor();
      await page.getByRole('heading', { name: /^\d+ events$/ }).waitFor();
      expect(await page.getByRole('list', { name: 'Events' }).textContent()).toContain('[DONE]');
    });
  });

  it('stops a stream that does not end', async () => {
    const session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' })).json.id;
    await visit(withKey(), {}, async (page) => {
      await page.evaluate("location.hash = '#operation/followEvents'");
      await page.getByText('Try it', { exact: true }).click();
      await page.getByLabel('id', { exact: false }).first().fill(session);
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('Receiving…').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped').waitFor();
    });
  });

  it('sends an MCP message', async () => {
    await visit(withKey(), {}, async (page) => {
      await page.evaluate("location.hash = '#operation/sendMcp'");
      await page.getByText('Try it', { exact: true }).click();
      await page.getByLabel('toolset').fill('demo');
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('inputSchema').first().waitFor();
    });
  });

  it('shows a network error', async () => {
    const { page } = await openTab();
    await page.goto(`${service.url}/docs#operation/getHealth`);
    await page.getByText('Try it', { exact: true }).click();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Send request' }).click();
    await page.getByText('The request failed: Failed to fetch').waitFor();
    await page.context().close();
  });

  it('checks the body, and asks before it deletes', async () => {
    expect((await service.call('PUT', '/v1/toolsets/doomed', { tools: [{ tool: 'builtin.bash' }] })).status).toBe(201);
    await visit(withKey(), {}, async (page) => {
      await page.evaluate("location.hash = '#operation/createChatCompletion'");
      await page.getByText('Try it', { exact: true }).click();
      await page.getByLabel('Body (JSON)').fill('{"model": }');
      await page.getByText('The body is not valid JSON: Unexpected').waitFor();
      await page.evaluate("location.hash = '#operation/deleteToolset'");
      await heading(page, /^Delete/);
      await page.getByText('Try it', { exact: true }).click();
      await page.getByLabel('toolset').fill('');
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('Required: toolset.').waitFor();
      await page.getByLabel('toolset').fill('doomed');
      await page.getByRole('button', { name: 'Send request' }).click();
      await page.getByText('This sends DELETE /v1/toolsets/doomed. It cannot be undone.').waitFor();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('204 No Content').waitFor();
    });
    expect((await service.call('GET', '/v1/toolsets')).text).not.toContain('doomed');
  });

  const places = ['', '#operation/createChatCompletion', '#operation/putServer', '#schema/Server', '#tag/Sessions'];

  const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
    [{ width: 1280, height: 800 }, phone].map((viewport) => ({ colorScheme, viewport })),
  );

  it('is accessible and fits its window, in light and dark', async () => {
    for (const { colorScheme, viewport } of looks) {
      await visit(withKey(), { colorScheme, viewport }, async (page) => {
        for (const place of places) {
          await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
          await page.waitForFunction(`location.hash === ${JSON.stringify(place)}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          if (place.includes('operation/')) {
            await page.getByText('Try it', { exact: true }).click();
            for (let opened = 0; opened < 3; opened += 1)
              await page
                .getByRole('button', { name: /^Show fields of/ })
                .first()
                .click();
          }
          // Below the header, targets would count as obscured.
          await page.evaluate('scrollTo(0, 0)');
          expect([viewport.width, place, await findAccessibilityViolations(page)]).toEqual([viewport.width, place, []]);
          expect([viewport.width, place, await scrollsSideways(page)]).toEqual([viewport.width, place, false]);
        }
        await page.keyboard.press('/');
        await page.keyboard.type('session');
        await page.getByRole('option').first().waitFor();
        expect(await findAccessibilityViolations(page)).toEqual([]);
      });
    }
  });

  it('has its navigation behind a menu button on a phone', async () => {
    await visit('', { viewport: phone }, async (page) => {
      const navigation = page.getByRole('navigation', { name: 'Reference' });
      expect(await navigation.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Menu' }).click();
      await navigation.getByRole('button', { name: 'Sessions' }).click();
      await navigation.getByRole('link', { name: 'About Sessions' }).click();
      await heading(page, 'Sessions');
      expect(await navigation.isVisible()).toBe(false);
    });
  });

  it('has its key field above everything else on a phone', async () => {
    await visit('', { viewport: phone }, async (page) => {
      await page.getByText('API key').first().click();
      await page.getByLabel('API key', { exact: true }).click();
      await page.keyboard.type(service.key);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('region', { name: 'Request in curl' }).textContent()).toContain(service.key);
    });
  });

  it('refers to the OpenAPI document without JavaScript', async () => {
    const { page } = await openTab({ javaScriptEnabled: false });
    await page.goto(`${service.url}/docs`);
    await page.getByRole('link', { name: 'OpenAPI document' }).waitFor();
    await page.context().close();
  });
});
