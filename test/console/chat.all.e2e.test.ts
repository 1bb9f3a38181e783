import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAccessibilityViolations, scrollsSideways } from './browser.ts';
import { listenMcpServer, type FakeMcpServer, type FakeTool } from '../fakes/mcp-server.ts';
import { allowEcho, describeConsole, say, shareEcho } from './console-tab.ts';

const deletion = '/shell echo draft > old.txt\n\n/shell rm old.txt';
const card = (page: Page, name = 'shell') => page.getByRole('group', { name: `Call of ${name}` });

describeConsole('the chat of the console', allowEcho, ({ service, visit, lookAt }) => {
  shareEcho(service);
  let server: FakeMcpServer;
  beforeAll(async () => {
    const prompts = [
      {
        name: 'greet',
        title: 'Greet',
        description: 'Writes a greeting.',
        arguments: [{ name: 'guest', required: true }, { name: 'tone' }],
      },
    ];
    server = await listenMcpServer({ eras: 'modern', tools: [booking, steps], prompts });
    await service.call('PUT', '/v1/servers/inn', { kind: 'mcp', url: server.url, trusted: true });
    const { status } = await service.call('PUT', '/v1/toolsets/inn', { tools: [{ tool: 'inn.book' }, { tool: 'inn.steps' }] });
    expect(status).toBe(201);
  });
  afterAll(async () => {
    await server.close();
  });

  const pendingInbox = async (): Promise<number> => (await service.call('GET', '/v1/approvals')).json.items.length;
  const begin = async (body: object): Promise<string> => (await service.call('POST', '/v1/sessions', body)).json.id;
  const ended = (page: Page, count = 1) => page.locator('.turn-end .state', { hasText: 'completed' }).nth(count - 1);

  it('opens from the printed link; the address holds no key', async () => {
    await visit('/', async (page) => {
      await page.getByRole('heading', { name: 'Chat', level: 1 }).waitFor();
      expect(page.url()).toBe(`${service.url}/console/chat`);
      expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
      expect(await page.title()).toBe('Chat · Moniker');
    });
  });

  it('gives a finished tool call after one click, as shell → builtin.bash with via, arguments and result', async () => {
    await visit('/', async (page) => {
      await page.getByRole('button', { name: /^Run a command/ }).click();
      const call = card(page);
      await call.getByText('done').waitFor();
      expect(await call.getByRole('button', { expanded: true }).textContent()).toMatch(/shell→ is builtin\.bashby alias/);
      expect(await call.textContent()).toContain('echo hello > note.txt && ls -l');
      expect(await call.getByRole('group', { name: 'Result of shell' }).textContent()).toContain('note.txt');
      await ended(page).waitFor();
      await page.getByRole('tab', { name: 'Files' }).click();
      await page.getByRole('button', { name: 'note.txt', exact: true }).click();
      expect(await page.getByRole('region', { name: 'File note.txt' }).textContent()).toContain('hello');
    });
  });

  it('shows why a deletion waits; Approve once finishes it', async () => {
    await visit('/', async (page) => {
      await page.getByRole('button', { name: /^Something that asks first/ }).click();
      const question = page.getByRole('group', { name: 'Decide on shell' });
      expect(await question.textContent()).toContain('old.txt');
      await page.getByText('shell: waiting for you').waitFor({ state: 'attached' });
      const inbox = page.getByRole('link', { name: /^Approvals/ });
      await expect.poll(() => pendingInbox(), { timeout: 15_000 }).toBe(1);
      await page.reload();
      await inbox.getByText('waiting').waitFor({ state: 'attached' });
      await question.getByRole('button', { name: 'Approve once' }).click();
      await ended(page).waitFor();
      await expect.poll(() => inbox.textContent()).not.toContain('waiting');
      expect(await card(page).nth(1).textContent()).toContain('done');
      await page
        .getByText(/waiting$/)
        .first()
        .waitFor();
    });
  });

  it('shows a denied call as denied, and the next words of the model', async () => {
    await visit('/', async (page) => {
      await say(page, deletion);
      await page.getByRole('button', { name: 'Deny' }).click();
      await card(page).nth(1).getByText('denied').first().waitFor();
      await page.getByText('This is what the tools gave').waitFor();
      await ended(page).waitFor();
    });
  });

  it('neither loses nor doubles text after a reload while a turn runs', async () => {
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
    const id = await begin({ model: 'echo/words' });
    await visit(`/console/chat/${id}`, async (page) => {
      await say(page, `slowly ${words}`);
      const answer = page.locator('.answer');
      await answer.getByText('word5').waitFor();
      await page.reload();
      await ended(page).waitFor();
      expect(await answer.allTextContents()).toEqual([`slowly ${words}`]);
    });
  });

  it('shows two calls that ask at once as two cards, decided apart', async () => {
    await visit('/', async (page) => {
      await say(page, '/shell echo 1 > a.txt; echo 2 > b.txt\n\n/shell rm a.txt\n/shell rm b.txt');
      const questions = page.getByRole('group', { name: 'Decide on shell' });
      await questions.nth(1).waitFor();
      await questions.nth(1).getByRole('button', { name: 'Deny' }).click();
      await expect.poll(() => questions.count()).toBe(1);
      await questions.getByRole('button', { name: 'Approve once' }).click();
      await ended(page).waitFor();
      const states = await page.locator('.call .state').allTextContents();
      expect(states).toEqual(['done', 'done', 'denied']);
    });
  });

  it('forks from an earlier turn into another session that links back', async () => {
    await visit('/', async (page) => {
      await say(page, '/shell echo first > kept.txt');
      await ended(page).waitFor();
      await say(page, '/shell echo second');
      await ended(page, 2).waitFor();
      const before = page.url();
      await page.getByRole('button', { name: 'Fork', exact: true }).first().click();
      await expect.poll(() => page.url()).not.toBe(before);
      await page.getByText('Forked from').waitFor();
      const earlier = page.locator('.earlier');
      await earlier.getByText('echo first').first().waitFor();
      expect(await earlier.textContent()).not.toContain('second');
      await say(page, '/shell cat kept.txt');
      await ended(page).waitFor();
      await page.getByRole('group', { name: 'Result of shell' }).getByText('first').waitFor();
      await page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
      await expect.poll(() => page.url()).toBe(before);
      await ended(page, 2).waitFor();
    });
  });

  it('answers a client tool by form', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const id = await begin({
      model: 'rehearsal/default',
      tools: [{ name: 'weather', description: 'The weather.', inputSchema: parameters }],
    });
    await visit(`/console/chat/${id}`, async (page) => {
      await say(page, '/weather city=Ghent');
      const form = page.getByRole('form', { name: 'Result of weather' });
      await form.getByLabel('Result').fill('Sunny, 21 degrees');
      await form.getByRole('button', { name: 'Send result' }).click();
      await page.locator('.answer', { hasText: 'Sunny, 21 degrees' }).waitFor();
      await ended(page).waitFor();
    });
  });

  it('answers the questions of a server by form, with its hidden characters shown, and shows progress', async () => {
    const id = await begin({ model: 'rehearsal/default', toolset: 'inn' });
    await visit(`/console/chat/${id}`, async (page) => {
      await say(page, '/book city=Ghent');
      const form = page.getByRole('form', { name: 'Question of inn' });
      await form.getByLabel('Day').fill('Monday');
      await form.getByLabel('Guests').fill('4');
      await form.getByLabel('Outside').check();
      await form.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('group', { name: 'Result of book' }).getByText('"day":"Monday","guests":4,"outside":true').waitFor();
      await ended(page).waitFor();
      await say(page, '/steps city=Ghent');
      await ended(page, 2).waitFor();
      await page.getByRole('tab', { name: 'Events' }).click();
      await page.getByLabel('Filter by type').fill('tool-progress');
      expect(await page.getByRole('tabpanel').getByText('tool-progress').count()).toBeGreaterThan(0);
    });
  });

  it('begins a turn with a prompt of the toolset, with its arguments', async () => {
    const session = await begin({ model: 'echo/words', toolset: 'inn' });
    await visit(`/console/chat/${session}`, async (page) => {
      await page.getByRole('button', { name: 'Prompts' }).click();
      const sheet = page.getByRole('dialog', { name: 'Prompts' });
      await sheet.getByText('greet', { exact: true }).click();
      await sheet.getByText('Writes a greeting.').waitFor();
      expect([await findAccessibilityViolations(page), await scrollsSideways(page)]).toEqual([[], false]);
      const send = sheet.getByRole('button', { name: 'Send' });
      await send.click();
      // The browser asks for the required argument.
      expect(server.heard.some(({ method }) => method === 'prompts/get')).toBe(false);
      await sheet.getByLabel('guest').fill('Ada');
      await send.click();
      await sheet.waitFor({ state: 'detached' });
      await ended(page).waitFor();
      expect(server.heard.findLast(({ method }) => method === 'prompts/get')?.body).toMatchObject({
        params: { name: 'greet', arguments: { guest: 'Ada' } },
      });
      await page.locator('.said', { hasText: 'greet {"guest":"Ada"}' }).waitFor();
    });
  });

  it('says in a new chat that its toolset offers no prompts', async () => {
    await visit('/', async (page) => {
      await page.getByRole('button', { name: 'Prompts' }).click();
      await page.getByText('The toolset of this chat offers no prompts.').waitFor();
      await page.keyboard.press('Escape');
      await say(page, '/shell date');
      await ended(page).waitFor();
    });
  });

  it('stops a turn', async () => {
    await visit('/', async (page) => {
      await say(page, '/shell sleep 30');
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator('.turn-end .state', { hasText: 'cancelled' }).waitFor();
    });
  });

  it('keeps a draft over a reload and over a rejected key, and copies problems', async () => {
    await visit('/', async (page) => {
      await page.getByLabel('Message', { exact: true }).fill('a long thought');
      await page.reload();
      expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('a long thought');
      await page.evaluate("sessionStorage.setItem('moniker-key', 'mk_default_wrong_key')");
      await page.reload();
      await page.getByRole('heading', { name: 'The key of this tab is not valid' }).waitFor();
      await page.getByLabel('Key', { exact: true }).fill(service.key);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('a long thought');
      await page.goto(`${service.url}/console/chat/no-such-session`);
      await page.getByRole('alert').getByText('not_found').waitFor();
      await page.getByRole('button', { name: 'Copy the problem' }).waitFor();
    });
  });

  it('names the missing scope of a key', async () => {
    const { json } = await service.call('POST', '/v1/keys', { name: 'chat only', scopes: ['chat'] });
    await visit('/', async (page) => {
      await page.goto(`${service.url}/console/chat#key=${json.key}`);
      await page.reload();
      await say(page, deletion);
      await page.getByRole('button', { name: 'Approve once' }).click();
      await page.getByRole('alert').getByText('approve', { exact: false }).first().waitFor();
      await page.getByRole('alert').getByText('forbidden').waitFor();
    });
  });

  it('does all of it with the keyboard alone, and never approves by a shortcut', async () => {
    await visit('/', async (page) => {
      await page.getByRole('button', { name: /^Run a command/ }).waitFor();
      const tabTo = async (name: string) => {
        for (let count = 0; count < 60; count += 1) {
          await page.keyboard.press('Tab');
          if (await page.evaluate(`document.activeElement?.textContent?.startsWith(${JSON.stringify(name)}) ?? false`)) return;
        }
        throw new Error(`Tab does not reach ${name}`);
      };
      await tabTo('Something that asks first');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Approve once' }).waitFor();
      await page.getByRole('region', { name: 'Messages' }).focus();
      for (const key of ['a', 'y', 'd', 'Enter', 'Control+Enter']) await page.keyboard.press(key);
      expect(await page.getByRole('button', { name: 'Approve once' }).count()).toBe(1);
      await tabTo('Approve once');
      await page.keyboard.press('Enter');
      await ended(page).waitFor();
      await page.getByRole('region', { name: 'Messages' }).focus();
      await page.keyboard.press('g');
      await page.keyboard.press('c');
      await page.getByRole('heading', { name: 'Talk to an agent that has tools' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('draft');
      await page.keyboard.press('Enter');
      await card(page).first().waitFor();
    });
  });

  it('is accessible and fits its window, in light and dark', async () => {
    await lookAt('/', async (page, look) => {
      await page.getByRole('button', { name: /^Run a command/ }).waitFor();
      await look('start');
      await say(page, deletion);
      await page.getByRole('button', { name: 'Approve once' }).waitFor();
      await look('question');
      if ((page.viewportSize()?.width ?? 0) < 1200) await page.getByRole('button', { name: 'Inspector' }).click();
      for (const tab of ['Timeline', 'Events', 'Files']) {
        await page.getByRole('tab', { name: tab }).click();
        await look(tab);
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('option').first().waitFor();
      await look('palette');
    });
  });
});

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const requestedSchema = {
  type: 'object',
  properties: {
    day: { type: 'string', title: 'Day', description: 'A day of the week.' },
    guests: { type: 'integer', title: 'Guests' },
    outside: { type: 'boolean', title: 'Outside' },
  },
  required: ['day'],
};
const question = { method: 'elicitation/create', params: { mode: 'form', message: 'For when?', requestedSchema } };
const plain = { description: 'A tool of an inn.', inputSchema, annotations: { readOnlyHint: true } };

const booking: FakeTool = {
  ...plain,
  name: 'book',
  async answer(_args, { mcpReq: { inputResponses } }) {
    if (inputResponses === undefined) return { resultType: 'input_required', inputRequests: { day: question }, requestState: 's' };
    return { content: [{ type: 'text', text: JSON.stringify(inputResponses.day) }] };
  },
};

const steps: FakeTool = {
  ...plain,
  name: 'steps',
  async answer(_args, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= 3; progress += 1)
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3, message: `step ${progress}` } });
    return { content: [{ type: 'text', text: 'there' }] };
  },
};
