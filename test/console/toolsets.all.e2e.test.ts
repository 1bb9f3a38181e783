import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { listenMcpServer } from '../fakes/mcp-server.ts';
import { findAccessibilityViolations, scrollsSideways } from './browser.ts';
import { button, codeEditor, codeText, describeConsole } from './console-tab.ts';

const tools = [
  { tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell'] },
  { tool: 'builtin.read_file', name: 'look_at' },
];

describeConsole('the toolsets of the console', { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' }, ({ service, visit, lookAt }) => {
  let count = 0;
  let name = '';
  beforeEach(async () => {
    count += 1;
    name = `desk${count}`;
    expect((await service.call('PUT', `/v1/toolsets/${name}`, { tools })).status).toBe(201);
  });

  const visitToolset = (use: (page: Page) => Promise<void>, options = {}) => visit(`/console/toolsets/${name}`, use, options);
  const aliases = (page: Page, tool = 'builtin.bash') => page.getByLabel(`Aliases of ${tool}`, { exact: true });
  const shownName = (page: Page, tool: string) => page.getByLabel(`Shown name of ${tool}`, { exact: true });
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
  const tab = (page: Page, title: string) => page.getByRole('tab', { name: title }).click();

  it('marks both rows of a clashing alias, names both, offers a free name, and blocks Save', async () => {
    await visitToolset(async (page) => {
      await aliases(page).fill('shell, look_at');
      await page.getByText('is also claimed by builtin.read_file').waitFor();
      await page.getByText('is also claimed by builtin.bash').waitFor();
      expect(await save(page).isDisabled()).toBe(true);
      expect(await page.locator('tr.clash').count()).toBe(2);
      await page.getByRole('button', { name: 'Use builtin_look_at' }).click();
      await page.getByText('can be saved').waitFor();
      expect(await page.locator('tr.clash').count()).toBe(0);
      await page.reload();
      expect(await aliases(page).inputValue()).toBe('shell, builtin_look_at');
      await save(page).click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
    });
  });

  it('changes definition, tokens and changes with the provider', async () => {
    await visitToolset(async (page) => {
      const definition = (provider: string) => page.getByRole('region', { name: `Definition for ${provider}` });
      expect(await definition('openai').textContent()).toContain('"function"');
      const tokens = page.getByText('tokens in all');
      const before = await tokens.textContent();
      await page.getByLabel('Provider').selectOption('gemini');
      await definition('gemini').waitFor();
      await expect.poll(() => tokens.textContent()).not.toBe(before);
      await page.locator('.changes li:visible', { hasText: 'not supported' }).first().waitFor();
      await page.getByRole('button', { name: 'builtin.read_file', exact: true }).click();
      await definition('gemini').getByText('look_at').first().waitFor();
    });
  });

  it('shows all faults of a draft at once, and what models would receive of the rest', async () => {
    await visitToolset(async (page) => {
      const tokens = page.getByText('tokens in all');
      const before = await tokens.textContent();
      await page.getByLabel('Add a tool').fill('builtin.no_such_tool');
      await page.keyboard.press('Enter');
      await aliases(page).fill('look_at');
      await page.getByLabel('Add a tool').fill('builtin.write_file');
      await page.keyboard.press('Enter');
      await page.getByText('is also claimed by builtin.bash').waitFor();
      await page.locator('tr.clash', { hasText: 'no_such_tool' }).locator('.fault').waitFor();
      expect(await page.locator('tr.clash').count()).toBe(3);
      await expect.poll(() => tokens.textContent()).not.toBe(before);
      await page.getByRole('button', { name: 'builtin.write_file', exact: true }).click();
      await page.getByRole('region', { name: 'Definition for openai' }).getByText('write_file').first().waitFor();
      await page.getByRole('button', { name: 'Discard' }).click();
      await expect.poll(() => tokens.textContent()).toBe(before);
    });
  });

  it('shows what uses the toolset', async () => {
    await service.call('PUT', `/v1/agents/user-of-${name}`, { model: 'rehearsal/default', toolset: `${name}@1` });
    await visitToolset(async (page) => {
      const uses = page.getByRole('region', { name: 'Used by' });
      await uses.getByText(`${name}@1`).waitFor();
      await uses.getByRole('link', { name: `user-of-${name}` }).click();
      await page.getByLabel('Instructions').waitFor();
    });
  });

  it('says what an edit would break of the past calls, and keeps it with one click', async () => {
    await service.call('PUT', `/v1/toolsets/calls-of-${name}`, { tools: [{ tool: 'local.calculate', name: 'reckon' }] });
    const call = { name: 'reckon', arguments: { expression: '6*7' } };
    await service.call('POST', `/v1/toolsets/calls-of-${name}/calls`, call);
    await service.call('POST', `/v1/toolsets/calls-of-${name}/calls`, { ...call, name: 'DoMaths' });
    const used = async () => (await service.call('GET', `/v1/usage?by=requested&toolset=calls-of-${name}`)).json.items.length;
    await expect.poll(used, { timeout: 10_000 }).toBe(2);
    await visit(`/console/toolsets/calls-of-${name}`, async (page) => {
      await shownName(page, 'local.calculate').fill('compute');
      const past = page.getByRole('region', { name: 'Past calls' });
      await button(page, 'What would this break?').click();
      await past.getByText('no longer works; the tool is called compute now').waitFor();
      await past.getByRole('button', { name: 'Keep what can be kept' }).click();
      await expect.poll(() => aliases(page, 'local.calculate').inputValue()).toContain('reckon');
      await button(page, 'What would this break?').click();
      await past.getByText('It breaks none of the').waitFor();
      await button(page, 'Which names do models invent?').click();
      await page.getByText('DoMaths').waitFor();
    });
  });

  it('explains RunCommand in the resolve box', async () => {
    await visitToolset(async (page) => {
      await page.getByLabel('What would a model’s call of').fill('RunCommand');
      await page.keyboard.press('Enter');
      await page.getByText('No tool of this toolset is named "RunCommand"').waitFor();
      await page.getByRole('alert').getByRole('button', { name: 'terminalRun' }).click();
      await page.getByRole('status').filter({ hasText: 'builtin.bash' }).waitFor();
    });
  });

  it('saves version 2, shows the change, and rolls back', async () => {
    await visitToolset(async (page) => {
      await shownName(page, 'builtin.read_file').fill('openFile');
      await save(page).click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
      await tab(page, 'Versions');
      await page.getByRole('button', { name: 'Changes of version 2' }).click();
      const changes = page.getByRole('region', { name: 'Changes' });
      expect(await changes.locator('del').first().textContent()).toBe('"look_at"');
      expect(await changes.locator('ins').first().textContent()).toBe('"openFile"');
      await page.getByRole('button', { name: 'Roll back to version 1' }).click();
      await expect.poll(() => shownName(page, 'builtin.read_file').inputValue()).toBe('look_at');
    });
  });

  it('retires an earlier version, and revokes a tool that it removes', async () => {
    const toolset = 'to-revoke';
    const path = `/v1/toolsets/${toolset}`;
    for (const tools of [
      ['builtin.bash', 'builtin.read_file'],
      ['builtin.read_file', 'builtin.bash'],
    ])
      await service.call('PUT', path, { tools: tools.map((tool) => ({ tool })) });
    await visit(`/console/toolsets/${toolset}`, async (page) => {
      await tab(page, 'Versions');
      await page.getByRole('button', { name: 'Retire version 1' }).click();
      await page.getByRole('button', { name: 'Restore version 1' }).waitFor();
      expect((await service.call('GET', `${path}/tools?version=1`)).status).toBe(404);
      await page.getByRole('button', { name: 'Restore version 1' }).click();
      await page.getByRole('button', { name: 'Retire version 1' }).waitFor();
      await page.getByRole('button', { name: 'Remove builtin.bash' }).click();
      await page.getByRole('button', { name: 'Revoke builtin.bash' }).click();
      await page.getByRole('button', { name: 'Give builtin.bash back' }).waitFor();
      await save(page).click();
      await page.getByText('saved as version 3', { exact: true }).waitFor();
      expect((await service.call('GET', path)).json).toMatchObject({ revoked: ['builtin.bash'] });
    });
  });

  it('makes a test call, adds and removes a tool, and shows the document', async () => {
    await visitToolset(async (page) => {
      await tab(page, 'Test');
      const text = await codeEditor(page, 'Arguments (JSON)');
      await page.getByLabel('command', { exact: true }).fill('echo tested');
      await page.getByLabel('cwd (optional)').fill('/workspace');
      expect(JSON.parse(await codeText(text))).toEqual({ command: 'echo tested', cwd: '/workspace' });
      await text.fill('{"command": "echo tested again"}');
      expect(await page.getByLabel('command', { exact: true }).inputValue()).toBe('echo tested again');
      await page.getByRole('button', { name: 'Call' }).click();
      await page.getByRole('region', { name: 'Result text' }).getByText('tested again').waitFor();
      await page.getByLabel('Add a tool').fill('builtin.write_file');
      await page.keyboard.press('Enter');
      await page.getByText('can be saved').waitFor();
      await page.getByRole('button', { name: 'Remove builtin.read_file' }).click();
      await tab(page, 'Document');
      const document = await codeText(await codeEditor(page, 'Document (JSON)'));
      expect(document).toContain('builtin.write_file');
      expect(document).not.toContain('builtin.read_file');
    });
  });

  it('renames, presets and hides arguments of an entry, and sets the modes of its aliases', async () => {
    await visitToolset(async (page) => {
      await tab(page, 'Entry');
      await page.getByLabel('Shown name of the argument command').fill('script');
      await page.getByLabel('Who sets cwd').selectOption('preset');
      await page.getByLabel('Value of cwd').fill('/workspace/site');
      await page.getByLabel('Mode of shell').selectOption('hidden');
      await page.getByLabel('Approval').selectOption('always');
      await page.getByText('can be saved').waitFor();
      await save(page).click();
      await page.getByText('saved as version 2', { exact: true }).waitFor();
      const { json } = await service.call('GET', `/v1/toolsets/${name}`);
      expect(json.tools[0]).toMatchObject({
        aliases: [{ name: 'shell', mode: 'hidden' }],
        approval: 'always',
        arguments: { rename: { script: 'command' }, preset: { cwd: '/workspace/site' } },
      });
      await tab(page, 'Definition');
      const definition = page.getByRole('region', { name: 'Definition for openai' });
      await definition.getByText('"script"').first().waitFor();
      expect(await definition.textContent()).not.toContain('"cwd"');
    });
  });

  it('chooses prompts and resources, names and describes them, and marks what is wrong', async () => {
    const prompts = [{ name: 'greet', description: 'Greets.' }];
    const server = await listenMcpServer({ tools: [{ name: 'look', inputSchema: { type: 'object' } }], prompts });
    expect((await service.call('PUT', '/v1/servers/inn', { kind: 'mcp', url: server.url, trusted: true })).status).toBe(201);
    await service.call('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: 'inn.look' }] });
    await visitToolset(async (page) => {
      await tab(page, 'Prompts');
      await page.getByLabel('Which prompts').selectOption('only those below');
      await expect
        .poll(() =>
          page.locator('#known-prompts option').evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value)),
        )
        .toEqual(['inn.*', 'inn.greet']);
      const added = async (kind: string, pattern: string) => {
        await page.getByLabel(`Add ${kind}`).fill(pattern);
        await page.getByLabel(`Add ${kind}`).press('Enter');
        await page
          .getByRole('region', { name: kind === 'prompts' ? 'Prompts' : 'Resources', exact: true })
          .getByText(pattern)
          .click();
      };
      await added('prompts', 'inn.greet');
      await page.getByLabel('Name', { exact: true }).fill('welcome');
      await page.getByLabel('Aliases', { exact: true }).fill('No Alias');
      await page.getByText('must match').first().waitFor();
      await page.getByLabel('Aliases', { exact: true }).fill('hello');
      await page.getByLabel('Which resources').selectOption('only those below');
      await added('resources', 'inn.file:///a');
      await page.getByLabel('URI', { exact: true }).fill('docs://a');
      expect([await findAccessibilityViolations(page), await scrollsSideways(page)]).toEqual([[], false]);
      await page.getByText('can be saved').waitFor();
      await save(page).click();
      await page.getByText('saved as version 3', { exact: true }).waitFor();
    });
    expect((await service.call('GET', `/v1/toolsets/${name}`)).json).toMatchObject({
      prompts: [{ prompt: 'inn.greet', name: 'welcome', aliases: ['hello'] }],
      resources: [{ resource: 'inn.file:///a', uri: 'docs://a' }],
    });
    await server.close();
  });

  it('marks a clash and uses the free name with the keyboard alone', async () => {
    await visitToolset(async (page) => {
      const tabTo = async (isThere: string) => {
        for (let presses = 0; presses < 60; presses += 1) {
          await page.keyboard.press('Tab');
          if (await page.evaluate(`(() => { const at = document.activeElement; return ${isThere}; })()`)) return;
        }
        throw new Error(`Tab does not reach ${isThere}`);
      };
      await aliases(page).waitFor();
      await tabTo("at?.getAttribute('aria-label') === 'Aliases of builtin.bash'");
      await page.keyboard.press('End');
      await page.keyboard.type(', look_at');
      await page.getByText('is also claimed by builtin.bash').waitFor();
      await tabTo("at?.textContent === 'Use builtin_look_at'");
      await page.keyboard.press('Enter');
      await page.getByText('can be saved').waitFor();
      await page.keyboard.press('Shift+Tab');
      for (let presses = 0; presses < 20 && !(await page.evaluate("document.activeElement?.textContent === 'Save'")); presses += 1)
        await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await page.getByText('saved as version 2', { exact: true }).waitFor();
    });
  });

  it('edits the document as text, and keeps text that is not JSON out of the draft', async () => {
    await visitToolset(async (page) => {
      await tab(page, 'Document');
      const document = page.getByLabel('Document (JSON)');
      await document.fill('{"tools": [{"tool": "builtin.bash", "name": "run"');
      await page.getByText('Not used yet').waitFor();
      expect(await shownName(page, 'builtin.bash').inputValue()).toBe('terminalRun');
      await document.fill('{"tools": [{"tool": "builtin.bash", "name": "run", "aliases": [{"name": "old", "mode": "hidden"}]}]}');
      await expect.poll(() => shownName(page, 'builtin.bash').inputValue()).toBe('run');
      expect(await aliases(page).inputValue()).toBe('old');
      await page.getByText('can be saved').waitFor();
    });
  });

  it('keeps changes when another client has stored a version meanwhile, and overwrites on request', async () => {
    await visitToolset(async (page) => {
      await aliases(page).fill('mine');
      await page.getByText('can be saved').waitFor();
      await service.call('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: 'builtin.bash', name: 'theirs' }] });
      await save(page).click();
      await page.getByText('The stored document was changed meanwhile').waitFor();
      expect(await aliases(page).inputValue()).toBe('mine');
      await page.getByRole('button', { name: 'Compare' }).click();
      const difference = page.getByRole('region', { name: 'The stored version, and yours' });
      await difference.locator('del', { hasText: 'theirs' }).waitFor();
      await difference.locator('ins', { hasText: 'mine' }).waitFor();
      await page.getByRole('button', { name: 'Overwrite it' }).click();
      await page.getByText('saved as version 3', { exact: true }).waitFor();
    });
  });

  it('is found in the search', async () => {
    await visitToolset(async (page) => {
      // The page listens for keys when it has rendered.
      await shownName(page, 'builtin.bash').waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('toolset demo');
      await page.getByRole('option', { name: /^demo\s*Toolset/ }).waitFor();
      await page.keyboard.press('Enter');
      await shownName(page, 'builtin.bash').waitFor();
      expect(page.url()).toBe(`${service.url}/console/toolsets/demo`);
    });
  });

  it('creates a toolset from the list, with the keyboard alone', async () => {
    await visitToolset(async (page) => {
      await page.getByLabel('Add a tool').waitFor();
      await page.evaluate('document.activeElement?.blur()');
      await page.keyboard.press('g');
      await page.keyboard.press('t');
      await page.getByLabel('New toolset').focus();
      await page.keyboard.type(`fresh${count}`);
      await page.keyboard.press('Enter');
      await page.getByText('No tools yet. Add one below.').waitFor();
      await page.getByLabel('Add a tool').focus();
      await page.keyboard.type('builtin.bash');
      await page.keyboard.press('Enter');
      await page.getByText('can be saved').waitFor();
      await save(page).focus();
      await page.keyboard.press('Enter');
      await page.getByText('saved as version 1', { exact: true }).waitFor();
    });
  });

  it('is accessible and fits its window, in light and dark', async () => {
    await lookAt(`/console/toolsets/${name}`, async (page, look) => {
      await page.getByRole('region', { name: 'Definition for openai' }).waitFor();
      await look('toolset-Definition');
      await aliases(page).fill('shell, look_at');
      await page.getByText('is also claimed by builtin.bash').waitFor();
      await look('toolset-clash');
      for (const title of ['Entry', 'Versions', 'Test', 'Document']) {
        await tab(page, title);
        await look(`toolset-${title}`);
      }
      await page.goto(`${service.url}/console/toolsets`);
      await page.getByRole('link', { name, exact: true }).waitFor();
      await look('toolsets');
    });
  });
});
