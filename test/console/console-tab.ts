/** What the tests of the console share: a service, a browser, tabs with the key, and a model that writes what the test asks for. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type SharedService, shareService } from '../e2e/shared-service.ts';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { isSkipped, sample } from '../selection.ts';
import { browserPath, findAccessibilityViolations, launchBrowser, noBrowser, openTab, phone, scrollsSideways } from './browser.ts';

type Console = {
  service: SharedService;
  /** Opens the console as the printed link does. Policy violations, script errors and foreign requests fail the test. */
  visit(path: string, use: (page: Page) => Promise<void>, options?: VisitOptions): Promise<void>;
  /**
   * Opens `path` in both color schemes, in a wide window and on phones: `use` shows what is to be seen and calls `look`, which finds what axe
   * objects to and whether the page scrolls sideways, and takes a screenshot.
   */
  lookAt(path: string, use: (page: Page, look: (name: string) => Promise<void>, isNarrow: boolean) => Promise<void>): Promise<void>;
  /** Opens an empty tab without a key; see `openTab` of `browser.ts`. */
  openTab(options?: BrowserContextOptions): ReturnType<typeof openTab>;
};

/** `key`: another key than the root key. */
type VisitOptions = BrowserContextOptions & { key?: string };

/**
 * A `describe` whose tests share a service and a browser; skipped, with a notice, without a browser. `environment`: settings of the service.
 */
export function describeConsole(title: string, environment: Record<string, string>, tests: (console: Console) => void): void {
  describe.skipIf(isSkipped(browserPath === null, title, noBrowser))(title, () => {
    const service = shareService(environment);
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(async () => {
      await browser.close();
    });
    const visit: Console['visit'] = async (path, use, { key = service.key, ...options } = {}) => {
      const { page, faults } = await openTab(browser, service.url, options);
      await page.goto(`${service.url}${path}#key=${key}`);
      await use(page);
      expect(faults).toEqual([]);
      await page.context().close();
    };
    tests({
      service,
      visit,
      lookAt: async (path, use) => await lookAt(visit, path, use),
      openTab: async (options) => await openTab(browser, service.url, options),
    });
  });
}

export const field = (page: Page, name: string): Locator => page.getByLabel(name, { exact: true });
export const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true });

const windows = [{ width: 1280, height: 800 }, phone, { width: 320, height: 640 }];
const looks = sample(
  'color schemes and windows of the console',
  (['light', 'dark'] as const).flatMap((colorScheme) => windows.map((viewport) => ({ colorScheme, viewport }))),
  ({ colorScheme, viewport }) => viewport.width === (colorScheme === 'light' ? 1280 : 390),
);

async function lookAt(visit: Console['visit'], ...[path, use]: Parameters<Console['lookAt']>): Promise<void> {
  for (const { colorScheme, viewport } of looks) {
    const { width } = viewport;
    const visited = async (page: Page) =>
      await use(
        page,
        async (name) => {
          await page.screenshot({ path: `node_modules/.cache/console/${name}-${colorScheme}-${width}.png`, animations: 'disabled' });
          const found = [await findAccessibilityViolations(page), await scrollsSideways(page)];
          expect([name, colorScheme, width, ...found]).toEqual([name, colorScheme, width, [], false]);
        },
        width < 960,
      );
    await visit(path, visited, { colorScheme, viewport });
  }
}

/** Scrolls to the code editor, which is loaded when it is seen, waits until it has replaced the text area of the label, and returns its text box. */
export async function codeEditor(page: Page, label: string): Promise<Locator> {
  await page.locator('label', { hasText: label }).evaluate((one: { scrollIntoView(): void }) => one.scrollIntoView());
  const box = page.locator('.code-editor').getByLabel(label, { exact: true });
  await box.waitFor();
  return box;
}

/** The lines that a code editor shows: all, unless the text is long. */
export async function codeText(editor: Locator): Promise<string> {
  return (await editor.locator('.cm-line').allTextContents()).join('\n');
}

/** Writes a message and sends it with Enter. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

/**
 * A provider `echo` for all tests, whose model `echo/words` repeats the user's newest message: word by word with pauses if it begins with
 * `slowly `, and as a call of the tool `x` if it begins with `call x `. Each answer reports 100 tokens of input and 20 of output; `echo/free`
 * has no price. The service needs `allowEcho`.
 */
export function shareEcho(service: SharedService): void {
  let close = (): void => undefined;
  beforeAll(async () => {
    const upstream = await listenUpstream({ handle: async (request) => toStream(lastMessage(await request.json())) });
    close = () => upstream.close();
    const body = { kind: 'openai-compatible', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['words', 'free'] };
    const prices = { words: { input: 10, output: 50 } };
    expect((await service.call('PUT', '/v1/providers/echo', { ...body, prices })).status).toBe(201);
  });
  afterAll(() => close());
}

/** The settings of a service that `shareEcho` is for. */
export const allowEcho = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };

function lastMessage({ messages }: { messages: { role: string; content: unknown }[] }): { role: string; text: string } {
  const { role = '', content = '' } = messages.at(-1) ?? {};
  return { role, text: typeof content === 'string' ? content : JSON.stringify(content) };
}

function toStream({ role, text }: { role: string; text: string }): Response {
  const [, name, args] = role === 'user' ? (/^call (\S+) (.*)$/s.exec(text) ?? []) : [];
  const isSlow = text.startsWith('slowly ');
  const call = { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: args } }] };
  const deltas = name === undefined ? (isSlow ? (text.match(/\S+\s*/g) ?? []) : [text]).map((content) => ({ content })) : [call];
  const frames = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: name === undefined ? 'stop' : 'tool_calls' }] },
    { choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } },
  ];
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const frame = frames.shift();
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 60));
      controller.enqueue(encoder.encode(frame === undefined ? 'data: [DONE]\n\n' : `data: ${JSON.stringify({ id: 'e', ...frame })}\n\n`));
      if (frame === undefined) controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
