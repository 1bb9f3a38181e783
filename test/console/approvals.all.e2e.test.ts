import type { Page } from 'playwright-core';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '../e2e/eventually.ts';
import { describeConsole } from './console-tab.ts';

const hostilePath = 'evil\u202etxt<b>.txt';

describeConsole('the inbox of the console', { MONIKER_PUBLIC_URL: 'https://moniker.example' }, ({ service, visit, lookAt }) => {
  beforeAll(async () => {
    await service.call('PUT', '/v1/toolsets/asking', { tools: [{ tool: 'builtin.write_file', name: 'save', approval: 'always' }] });
    await service.call('PUT', '/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'asking' });
  });

  afterEach(async () => {
    for (const { session, callId } of await pending())
      await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'deny' });
    await eventually('nothing is pending', async () => ((await pending()).length === 0 ? true : undefined));
  });

  const question = (page: Page) => page.getByRole('article', { name: 'Question about builtin.write_file' });
  const pending = async () => (await service.call('GET', '/v1/approvals')).json.items;
  const badge = (page: Page) =>
    page
      .getByRole('navigation', { name: 'Console' })
      .getByRole('link', { name: /^Approvals/ })
      .locator('.count');

  /** A session of the agent whose call waits for a decision. */
  async function ask(path: string): Promise<string> {
    const { json } = await service.call('POST', '/v1/sessions', { agent: 'clerk' });
    const input = `/save ${JSON.stringify({ path, content: `content of ${path}` })}`;
    await service.call('POST', `/v1/sessions/${json.id}/turns`, { input });
    await eventually('the list has it', async () =>
      (await pending()).some(({ session }: { session: string }) => session === json.id) ? true : undefined,
    );
    return json.id;
  }

  it('a turn that has used its limit of cost asks there, and continues', async () => {
    await service.call('PUT', '/v1/toolsets/paid', { tools: [{ tool: 'builtin.bash', name: 'shell', price: 1 }] });
    await service.call('PUT', '/v1/agents/thrifty', {
      model: 'rehearsal/default',
      toolset: 'paid',
      limits: { maxCost: 1, onLimit: 'ask' },
    });
    const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'thrifty' });
    await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/shell echo one' });
    await eventually('the list has it', async () => ((await pending()).length === 1 ? true : undefined));
    await visit('/console/approvals', async (page) => {
      const card = page.getByRole('article', { name: 'Question about builtin.budget' });
      await card.getByText('Used 1 of 1').waitFor();
      // A budget is never remembered.
      expect(await card.getByRole('button', { name: /^Approve/ }).allTextContents()).toEqual(['Approve once']);
      await card.getByRole('button', { name: 'Approve once' }).click();
      await page.getByText('builtin.budget: approved').waitFor({ state: 'attached' });
    });
    await eventually('the turn ends', async () =>
      (await service.call('GET', `/v1/sessions/${session.id}`)).json.turn.status === 'completed' ? true : undefined,
    );
  });

  it('approvals of two sessions stand in one inbox; deciding there moves the chat', async () => {
    const first = await ask('first.txt');
    await ask('second.txt');
    await visit(`/console/chat/${first}`, async (chat) => {
      await chat.getByRole('group', { name: 'Decide on save' }).waitFor();
      const inbox = await chat.context().newPage();
      // The new tab gets the key from the first.
      await inbox.goto(`${service.url}/console/approvals`);
      await expect.poll(() => question(inbox).count()).toBe(2);
      await expect.poll(() => badge(inbox).textContent()).toBe('2 waiting');
      const oldest = question(inbox).first();
      await oldest.getByText('content of first.txt').waitFor();
      await oldest.getByRole('button', { name: 'Approve once' }).click();
      await expect.poll(() => question(inbox).count()).toBe(1);
      await inbox.getByText('builtin.write_file: approved').waitFor({ state: 'attached' });
      await expect.poll(() => badge(inbox).textContent()).toBe('1 waiting');
      await question(inbox)
        .getByLabel(/^Reason/)
        .fill('Keep the old one');
      await question(inbox).getByRole('button', { name: 'Deny' }).click();
      await inbox.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
      await chat.bringToFront();
      await chat.locator('.turn-end .state', { hasText: 'completed' }).waitFor();
      expect((await service.call('GET', '/v1/audit?verdict=denied')).json.items).toMatchObject([{ reason: 'Keep the old one' }]);
      await inbox.bringToFront();
      await inbox.getByRole('link', { name: 'Decided' }).click();
      const table = inbox.getByRole('table', { name: 'Decided' });
      const decisions = table.getByRole('row').filter({ hasText: 'builtin.write_file' });
      await expect.poll(async () => (await decisions.locator('.state').allTextContents()).sort()).toEqual(['approved', 'denied']);
      expect(await table.textContent()).toContain('root');
    });
  });

  it('finds new questions by itself, and links to the chat and to a decision on a phone', async () => {
    await visit('/console/approvals', async (page) => {
      await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
      const session = await ask(hostilePath);
      await question(page).getByText('evilU+202Etxt<b>.txt').first().waitFor();
      await question(page).getByRole('button', { name: 'Create a link to decide on a phone' }).click();
      await question(page).getByText('https://moniker.example/approve/').waitFor();
      await question(page).getByRole('link', { name: 'Open the chat' }).click();
      await page.getByRole('group', { name: 'Decide on save' }).waitFor();
      expect(page.url()).toBe(`${service.url}/console/chat/${session}`);
    });
  });

  it('decides with the keyboard, but by no shortcut, and remembers with a rule', async () => {
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' });
    const input = '/shell echo draft > old.txt\n\n/shell rm old.txt';
    await service.call('POST', `/v1/sessions/${session.id}/turns`, { input });
    await visit('/console/approvals', async (page) => {
      const card = page.getByRole('article', { name: 'Question about builtin.bash' });
      await card.getByRole('button', { name: 'Approve once' }).waitFor();
      for (const key of ['a', 'y', 'Enter', 'Control+Enter', ' ']) await page.keyboard.press(key);
      expect(await card.count()).toBe(1);
      await card.getByRole('button', { name: 'Approve and remember' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor();
      expect(JSON.stringify((await service.call('GET', '/v1/policy')).json.rules)).toContain('old.txt');
    });
    await ask('always.txt');
    await visit('/console/approvals', async (page) => {
      await question(page).getByRole('button', { name: 'Deny' }).waitFor();
      expect(await question(page).getByRole('button', { name: 'Approve and remember' }).count()).toBe(0);
    });
  });

  it('approves a new host for the workspace or for the session, and lists and forgets known hosts', async () => {
    await service.call('PUT', '/v1/toolsets/reaching', { tools: [{ tool: 'builtin.http_request' }] });
    const request = async (host: string): Promise<string> => {
      const { json } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'reaching' });
      const input = `/http_request ${JSON.stringify({ url: `https://${host}/` })}`;
      await service.call('POST', `/v1/sessions/${json.id}/turns`, { input });
      return json.id;
    };
    const hosts = async () => (await service.call('GET', '/v1/policy/hosts')).json.items.map(({ host }: { host: string }) => host);
    const session = await request('one.example.com');
    await visit(`/console/chat/${session}`, async (page) => {
      const group = page.getByRole('group', { name: 'Decide on http_request' });
      await group.getByText('Admins make the host known.').waitFor();
      expect(await group.getByRole('button').allTextContents()).toEqual(['Approve', 'Deny', 'Approve for this session']);
      await group.getByRole('button', { name: 'Approve for this session' }).click();
      await group.waitFor({ state: 'detached' });
      const { remembered } = (await service.call('GET', `/v1/sessions/${session}`)).json;
      expect(remembered).toEqual([{ decision: 'allow', kind: 'network', host: 'one.example.com' }]);
      expect(await hosts()).toEqual([]);
    });
    await visit(`/console/chat/${await request('two.example.com')}`, async (page) => {
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await expect.poll(hosts).toEqual(['two.example.com']);
      await page.goto(`${service.url}/console/policy`);
      await page.getByRole('table', { name: 'Known hosts' }).getByText('two.example.com').waitFor();
      await page.getByRole('button', { name: 'Forget two.example.com' }).click();
      await page.getByRole('group', { name: 'Ask about two.example.com again?' }).getByRole('button', { name: 'Forget' }).click();
      await page.getByText('None yet: a host appears here').waitFor();
      expect(await hosts()).toEqual([]);
    });
  });

  it('says which past calls other rules would decide differently, and which rules match nothing', async () => {
    await service.call('PUT', '/v1/toolsets/judged', { tools: [{ tool: 'local.calculate' }] });
    await service.call('POST', '/v1/toolsets/judged/calls', { name: 'calculate', arguments: { expression: '6*7' } });
    const rules = [
      { decision: 'deny', tool: 'local.calculate' },
      { decision: 'deny', tool: 'gone.tool' },
    ];
    const denied = async () => (await service.call('POST', '/v1/policy/impact', { rules })).json.changedCalls;
    await expect.poll(denied, { timeout: 10_000 }).toBe(1);
    await service.call('PUT', '/v1/policy', { rules: [] });
    await visit('/console/policy', async (page) => {
      await page.getByRole('button', { name: 'Add a rule' }).click();
      await page.getByRole('textbox', { name: 'tool of rule 0' }).fill('local.calculate');
      const past = page.getByRole('region', { name: 'Past calls' });
      await page.getByRole('button', { name: 'What would this break?' }).click();
      await past.getByText('1 call denied instead of allowed').waitFor();
      await page.getByRole('textbox', { name: 'tool of rule 0' }).fill('gone.tool');
      await expect.poll(() => past.getByRole('status').count()).toBe(0);
      await page.getByRole('button', { name: 'What would this break?' }).click();
      await past.getByText('unknown tool "gone.tool"').waitFor();
    });
  });

  it('says which scope a key needs, and shows who decided meanwhile', async () => {
    const session = await ask('raced.txt');
    const { json } = await service.call('POST', '/v1/keys', { name: 'tools only', scopes: ['tools'] });
    await visit('/console/approvals', async (page) => {
      await question(page).getByRole('button', { name: 'Approve once' }).waitFor();
      const [{ callId }] = await pending();
      await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'deny' });
      await question(page).getByRole('button', { name: 'Approve once' }).click();
      await page.getByRole('alert').getByText('conflict', { exact: true }).waitFor();
      await expect.poll(() => question(page).count()).toBe(0);
      await page.goto(`${service.url}/console/approvals#key=${json.key}`);
      await page.reload();
      await page.getByRole('alert').getByText('forbidden', { exact: true }).waitFor();
    });
  });

  it('is accessible and fits its window', async () => {
    await ask(hostilePath);
    await ask('notes.txt');
    await lookAt('/console/approvals', async (page, look) => {
      await question(page).getByRole('button', { name: 'Approve once' }).nth(1).waitFor();
      await look('approvals');
      await page.getByRole('link', { name: 'Decided' }).click();
      await page.getByRole('table', { name: 'Decided' }).waitFor();
      await look('decided');
    });
  });
});
