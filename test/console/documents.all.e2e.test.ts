import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { findAccessibilityViolations } from './browser.ts';
import { button, codeEditor, codeText, describeConsole, field, say } from './console-tab.ts';

describeConsole('the editors of the console', {}, ({ service, visit, lookAt }) => {
  /** A turn of the agent. */
  const ask = async (agent: string, input: string): Promise<void> => {
    const { id } = (await service.call('POST', '/v1/sessions', { agent })).json;
    expect((await service.call('POST', `/v1/sessions/${id}/turns`, { input })).status).toBe(200);
  };

  it('creates an agent from the list and chats with it', async () => {
    await visit('/console/agents', async (page) => {
      await page.getByRole('link', { name: 'demo', exact: true }).waitFor();
      await field(page, 'New agent').fill('helper');
      await page.keyboard.press('Enter');
      await field(page, 'Toolset').fill('demo');
      await field(page, 'Instructions').fill('Answer in one sentence.');
      await field(page, 'Steps of a turn').fill('5');
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      const { json } = await service.call('GET', '/v1/agents/helper');
      expect(json).toMatchObject({ toolset: 'demo', instructions: 'Answer in one sentence.', limits: { maxSteps: 5 } });
      await button(page, 'Chat with this agent').click();
      await say(page, '/shell date');
      await page.locator('.turn-end .state', { hasText: 'completed' }).waitFor();
      expect(await page.locator('.picked').textContent()).toContain('agent/helper');
    });
  });

  it('marks the field that the service rejects, and keeps the draft over a reload', async () => {
    await visit('/console/agents/limited', async (page) => {
      await field(page, 'Steps of a turn').fill('100000');
      await button(page, 'Save').click();
      await expect.poll(() => field(page, 'Steps of a turn').getAttribute('aria-invalid')).toBe('true');
      await page.reload();
      expect(await field(page, 'Steps of a turn').inputValue()).toBe('100000');
      await page.goto(`${service.url}/console/agents`);
      await field(page, 'New agent').fill('limited');
      await page.keyboard.press('Enter');
      await field(page, 'Steps of a turn').fill('3');
      await page.getByLabel('Only these models').fill('acme/*');
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      await page.getByText('rehearsal/default is not among').first().waitFor();
      expect((await service.call('GET', '/v1/agents/limited')).json.models).toEqual(['acme/*']);
    });
  });

  it('compares versions of an agent, and puts one back into the editor', async () => {
    for (const instructions of ['Be brief.', 'Be long.'])
      await service.call('PUT', '/v1/agents/moody', { model: 'rehearsal/default', instructions });
    await visit('/console/agents/moody', async (page) => {
      await page.getByText('Versions', { exact: true }).click();
      await button(page, 'Compare: version 1 with the draft').click();
      const difference = page.getByRole('region', { name: 'Version 1, and the draft' });
      await difference.locator('del', { hasText: 'Be brief.' }).waitFor();
      await difference.locator('ins', { hasText: 'Be long.' }).waitFor();
      await button(page, 'Put into the editor: version 1').click();
      await expect.poll(() => field(page, 'Instructions').inputValue()).toBe('Be brief.');
      await button(page, 'Save').click();
      await page.getByText('saved as version 3', { exact: true }).waitFor();
      expect(await findAccessibilityViolations(page)).toEqual([]);
    });
  });

  it('says what is missing of a stored agent, and deletes it after a question', async () => {
    await service.call('PUT', '/v1/agents/lost', { model: 'rehearsal/default', toolset: 'nowhere' });
    await visit('/console/agents/lost', async (page) => {
      await page.getByRole('region', { name: 'Warnings' }).getByText('nowhere').waitFor();
      await button(page, 'Delete').click();
      await button(page, 'Keep').click();
      expect((await service.call('GET', '/v1/agents/lost')).status).toBe(200);
      await button(page, 'Delete').click();
      await page.getByRole('group', { name: 'Delete lost?' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      expect((await service.call('GET', '/v1/agents/lost')).status).toBe(404);
    });
  });

  it('writes a made tool whose code is checked while it is written, and shows what it may call', async () => {
    await visit('/console/made', async (page) => {
      await field(page, 'New made tool').fill('count_lines');
      await page.keyboard.press('Enter');
      await field(page, 'Description').fill('Counts the lines of a file.');
      await page.getByText('can be saved').waitFor();
      await page.getByText('It may call builtin.read_file, and nothing else.').waitFor();
      const implementation = await codeEditor(page, 'Implementation');
      const code = await codeText(implementation);
      await implementation.fill('const found = 1;\nreturn tools.no_such_tool({});');
      await page.getByText('cannot be saved').waitFor();
      await implementation.locator('.fault-line', { hasText: 'no_such_tool' }).waitFor();
      await page.getByRole('alert').getByText('no_such_tool').first().waitFor();
      expect(await button(page, 'Save').isDisabled()).toBe(true);
      await field(page, 'Implementation').fill(code);
      await button(page, 'Add an argument').click();
      await field(page, 'Name of argument 2').fill('limit');
      await field(page, 'Type of argument 2').selectOption('number');
      await field(page, 'Default of argument 2').fill('10');
      await page.getByText('can be saved').waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      const { json } = await service.call('GET', '/v1/tools/made.count_lines');
      expect(json.made).toMatchObject({ uses: ['builtin.read_file'], parameters: [{ name: 'path' }, { name: 'limit', default: 10 }] });
      await page.getByRole('link', { name: 'Made tools' }).first().click();
      await page.getByRole('link', { name: 'count_lines', exact: true }).waitFor();
    });
  });

  it('says which past calls a draft of an agent would break, and keeps them with one click', async () => {
    const toolset = { tools: [{ tool: 'local.calculate', name: 'reckon' }, { tool: 'builtin.read_file' }] };
    await service.call('PUT', '/v1/toolsets/office', toolset);
    const agent = { model: 'rehearsal/default', toolset: 'office' };
    await service.call('PUT', '/v1/agents/clerk', agent);
    await ask('clerk', '/reckon {"expression": "6*7"}');
    const draft = { ...agent, tools: ['read_file'] };
    const broken = async () => (await service.call('POST', '/v1/agents/clerk/impact', draft)).json.changed.length;
    await expect.poll(broken, { timeout: 10_000 }).toBe(1);
    const past = (page: Page) => page.getByRole('region', { name: 'Past calls' });
    const open = async (page: Page) => {
      await page.getByText('Document', { exact: true }).click();
      await (await codeEditor(page, 'Document (JSON)')).fill(JSON.stringify(draft));
      await button(page, 'What would this break?').click();
      await past(page).getByText('reckon no longer works').waitFor();
      await past(page).getByText('1 call, last on').waitFor();
    };
    await visit('/console/agents/clerk', async (page) => {
      await open(page);
      await button(page, 'Keep what can be kept, by these tools: local.calculate').click();
      // The draft is another one now, which was not compared yet.
      await expect.poll(() => past(page).count()).toBe(0);
      await button(page, 'What would this break?').click();
      await past(page).getByText('It breaks none of the 1 calls of the last 30 days.').waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
      expect((await service.call('GET', '/v1/agents/clerk')).json.tools).toEqual(['read_file', 'local.calculate']);
    });
    await service.call('PUT', '/v1/agents/clerk', agent);
    await lookAt('/console/agents/clerk', async (page, look) => {
      await open(page);
      await page.evaluate('document.querySelector("main").scrollTo({ top: 0 })');
      await look('agent-past-calls');
    });
  });

  it('says which past calls a draft of a made tool would refuse, and which aliases of arguments keep them', async () => {
    const parameter = (name: string) => ({ name, type: 'string', description: 'Who', required: true });
    const made = (name: string) => ({ description: 'Greets.', parameters: [parameter(name)], implementation: 'return "Hello";' });
    await service.call('PUT', '/v1/tools/made.greet', made('who'));
    await service.call('PUT', '/v1/toolsets/polite', { tools: [{ tool: 'made.greet', name: 'greet' }] });
    await service.call('PUT', '/v1/agents/host', { model: 'rehearsal/default', toolset: 'polite' });
    await ask('host', '/greet {"who": "Ada"}');
    const refused = async () => (await service.call('POST', '/v1/tools/made.greet/impact', made('person'))).json.refusedCalls;
    await expect.poll(refused, { timeout: 10_000 }).toBe(1);
    await lookAt('/console/made/greet', async (page, look) => {
      await field(page, 'Name of argument 1').fill('person');
      await button(page, 'What would this break?').click();
      const past = page.getByRole('region', { name: 'Past calls' });
      await past.getByText('It would have refused 1 of 1 recorded calls').waitFor();
      await past.getByText('kept by aliases of arguments: who → person').waitFor();
      await past.getByRole('link', { name: 'polite' }).waitFor();
      await look('made-past-calls');
      await button(page, 'Discard').click();
      await expect.poll(() => past.count()).toBe(0);
      await button(page, 'What would this break?').click();
      await past.getByText('It breaks none of the 1 calls').waitFor();
    });
  });

  it('edits a document as text by keyboard, and marks what is wrong at its line', async () => {
    await service.call('PUT', '/v1/agents/written', { model: 'rehearsal/default', instructions: 'Be brief.', limits: { maxSteps: 3 } });
    await visit('/console/agents/written', async (page) => {
      await page.getByText('Document', { exact: true }).click();
      const text = await codeEditor(page, 'Document (JSON)');
      const marked = text.locator('.fault-line');
      // The view scrolls, not the page: below it there would be nothing.
      expect(await page.evaluate('document.documentElement.scrollHeight === document.documentElement.clientHeight')).toBe(true);
      await page.getByText('Document (JSON)', { exact: true }).click();
      await page.keyboard.press('ControlOrMeta+Home');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.type('/ ');
      await page.getByText('Not used yet:').waitFor();
      await expect.poll(() => marked.allTextContents()).toEqual([expect.stringMatching(/^\/ /)]);
      expect(await text.getAttribute('aria-invalid')).toBe('true');
      const descriptions = await text.evaluate((box: { ariaDescribedByElements: { id: string }[] }) =>
        box.ariaDescribedByElements.map(({ id }) => id),
      );
      expect(descriptions).toEqual(['document-fault']);
      expect(await findAccessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('ControlOrMeta+z');
      await expect.poll(() => marked.count()).toBe(0);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toContain('Copy');
      await text.fill((await codeText(text)).replace('"maxSteps": 3', '"maxSteps": 100000').replace('Be brief.', 'Be \u202ebrief.'));
      await text.getByText('U+202E', { exact: true }).waitFor();
      await button(page, 'Save').click();
      await expect.poll(() => marked.allTextContents()).toEqual([expect.stringContaining('"maxSteps": 100000')]);
      await field(page, 'Steps of a turn').fill('7');
      await expect.poll(() => codeText(text)).toContain('"maxSteps": 7');
    });
  });

  it('keeps what is typed before the code editor arrives, and does without it', async () => {
    await visit('/console/made/slow_tool', async (page) => {
      let arrive = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await page.route('**/open-editor-*.js', async (route) => {
        await held;
        await route.continue();
      });
      await page.reload();
      const area = page.locator('textarea.code').first();
      await area.fill('return 1');
      await page.keyboard.type('2');
      arrive();
      const implementation = await codeEditor(page, 'Implementation');
      await page.keyboard.type('3;');
      await expect.poll(() => codeText(implementation)).toBe('return 123;');
      await page.unroute('**/open-editor-*.js');
      await page.route('**/open-editor-*.js', (route) => route.fulfill({ status: 503 }));
      await page.reload();
      await page.locator('textarea.code').first().fill('return 4;');
      await field(page, 'Description').fill('Returns four.');
      expect(await page.locator('textarea.code').first().inputValue()).toBe('return 4;');
    });
  });

  it('writes a skill with files', async () => {
    await visit('/console/skills', async (page) => {
      await page.getByText('No skills yet').waitFor();
      await field(page, 'New skill').fill('release-notes');
      await page.keyboard.press('Enter');
      await field(page, 'New file').fill('scripts/changes.sh');
      await page.keyboard.press('Enter');
      await field(page, 'scripts/changes.sh').fill('sort changes.txt');
      await page
        .getByLabel('Upload files')
        .setInputFiles([{ name: 'logo.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 255]) }]);
      await page.getByText('2 bytes').waitFor();
      await button(page, 'Save').click();
      await page.getByText('saved as version 1', { exact: true }).waitFor();
      const { json } = await service.call('GET', '/v1/skills/release-notes');
      expect(json.resources).toMatchObject({ 'scripts/changes.sh': expect.anything(), 'logo.bin': { base64: 'AP8=' } });
      await button(page, 'Remove logo.bin').click();
      await field(page, 'SKILL.md').fill('no frontmatter');
      await button(page, 'Save').click();
      await expect.poll(() => page.getByRole('alert').isVisible()).toBe(true);
      await page.getByRole('alert').getByText('SKILL.md').waitFor();
      await button(page, 'Discard').click();
      await expect.poll(() => field(page, 'SKILL.md').inputValue()).toContain('name: release-notes');
      await button(page, 'Remove logo.bin').waitFor();
    });
  });

  it('is accessible and fits its window, in light and dark', async () => {
    await lookAt('/console/agents', async (page, look) => {
      const open = async (path: string) => {
        await page.goto(`${service.url}/console/${path}`);
        await page.locator('main h1').waitFor();
      };
      await page.getByRole('link', { name: 'demo', exact: true }).waitFor();
      await look('agents');
      await open('agents/demo');
      await field(page, 'Steps of a turn').fill('100000');
      await button(page, 'Save').click();
      await page.getByRole('alert').waitFor();
      await look('agent');
      await open('made/new_tool');
      await field(page, 'Description').fill('Counts the lines of a file.');
      await page.getByText('can be saved').waitFor();
      await codeEditor(page, 'Implementation');
      await look('made');
      await page.getByText('Document', { exact: true }).click();
      await (await codeEditor(page, 'Document (JSON)')).fill('{ "description": "a\u202eb", }');
      await page.locator('.fault-line').waitFor();
      await look('made-document');
      await open('skills/new-skill');
      await field(page, 'New file').fill('a.txt');
      await page.keyboard.press('Enter');
      await field(page, 'a.txt').waitFor();
      await look('skill');
      await open('skills');
      await look('skills');
    });
  });
});
