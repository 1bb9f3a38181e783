/** What the tests of the console share: a tab with the key, and a model that writes what the test asks for. */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { SharedService } from '../e2e/shared-service.ts';
import { type ListeningUpstream, listenUpstream } from '../fakes/upstreams/upstream.ts';
import { sample } from '../selection.ts';
import { findAccessibilityViolations, openTab, phone, scrollsSideways } from './browser.ts';

/** For services that call `startEcho`. */
export const allowEcho = { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };

/** Opens the console as the printed link does. Policy violations, script errors and foreign requests fail the test. */
export async function visitConsole(
  browser: Browser,
  service: SharedService,
  path: string,
  use: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const { page, faults } = await openTab(browser, service.url, options);
  await page.goto(`${service.url}${path}#key=${service.key}`);
  await use(page);
  expect(faults).toEqual([]);
  await page.context().close();
}

const windows = [{ width: 1280, height: 800 }, phone, { width: 320, height: 640 }];
const looks = sample(
  'color schemes and windows of the console',
  (['light', 'dark'] as const).flatMap((colorScheme) => windows.map((viewport) => ({ colorScheme, viewport }))),
  ({ colorScheme, viewport }) => viewport.width === (colorScheme === 'light' ? 1280 : 390),
);

/**
 * Opens `path` in both color schemes, in a wide window and on phones: `use` shows what is to be seen and calls `look`, which finds what axe
 * objects to and whether the page scrolls sideways, and takes a screenshot.
 */
export async function lookAt(
  browser: Browser,
  service: SharedService,
  path: string,
  use: (page: Page, look: (name: string) => Promise<void>, isNarrow: boolean) => Promise<void>,
): Promise<void> {
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
    await visitConsole(browser, service, path, visited, { colorScheme, viewport });
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
 * A provider `echo` whose model `echo/words` repeats the user's newest message: word by word with pauses if it begins with `slowly `, and as a
 * call of the tool `x` if it begins with `call x `. Each answer reports 100 tokens of input and 20 of output; `echo/free` has no price.
 */
export async function startEcho(service: SharedService): Promise<ListeningUpstream> {
  const upstream = await listenUpstream({ handle: async (request) => toStream(lastMessage(await request.json())) });
  const body = { kind: 'openai-compatible', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['words', 'free'] };
  const prices = { words: { input: 10, output: 50 } };
  const { status } = await service.call('PUT', '/v1/providers/echo', { ...body, prices });
  expect(status).toBe(201);
  return upstream;
}

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
