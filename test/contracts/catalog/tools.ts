/** The contract of the tools of a workspace: their list, their default aliases, and tools that a user runs in a page. */
import { beforeEach, describe, expect, it } from 'vitest';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { pages, type CatalogParts, type MakeWorkspace } from './workspace.ts';

export function toolsContract(make: MakeWorkspace): void {
  let workspace: CatalogParts['workspace'];
  let catalog: CatalogParts['catalog'];
  let directory: CatalogParts['directory'];
  beforeEach(async () => {
    ({ workspace, catalog, directory } = await make());
  });

  describe('tools', () => {
    it('are listed by canonical name, with the default aliases of the workspace', async () => {
      const listed = (await pages((page) => catalog.tools(page), 1)).map(({ canonical }) => canonical as string);
      expect(listed).toEqual([...listed].sort());
      expect(listed).toEqual(expect.arrayContaining(['builtin.bash', 'builtin.read_file']));
      const found = await pages((page) => catalog.tools(page, undefined, { q: 'READ_file', kind: 'builtin', server: 'builtin' }), 1);
      expect(found.map(({ canonical }) => canonical)).toContain('builtin.read_file');
      expect(found.map(({ canonical }) => canonical)).not.toContain('builtin.bash');
      const own = (await catalog.tool('builtin.bash')).aliases;
      await catalog.put('tool-aliases', 'builtin.bash', { aliases: ['terminal'] });
      expect((await catalog.tool('builtin.bash')).aliases).toEqual(['terminal']);
      await catalog.remove('tool-aliases', 'builtin.bash');
      expect((await catalog.tool('builtin.bash')).aliases).toEqual(own);
      await expect(catalog.tool('builtin.nothing')).rejects.toMatchObject({ code: 'unknown_tool' });
      await expect(catalog.put('tool-aliases', 'builtin.nothing', { aliases: [] })).rejects.toMatchObject({ code: 'unknown_tool' });
    });
  });

  describe('default aliases', () => {
    it('have modes, and never change the wire names of a toolset', async () => {
      await catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.bash' }] });
      const tool = async () => {
        const [first] = (await directory.toolset(workspace, 'support')).names.edition.tools;
        return { wireName: first?.wireName, aliases: first?.aliases };
      };
      const { wireName } = await tool();
      const aliases = ['terminal', { name: 'old_shell', mode: 'deprecated', note: 'use terminal' }];
      await catalog.put('tool-aliases', 'builtin.bash', { aliases });
      expect((await catalog.tool('builtin.bash')).aliases).toEqual(aliases);
      const compiled = [{ name: 'terminal', mode: 'announced' }, aliases[1]];
      expect(await tool()).toEqual({ wireName, aliases: compiled });
      await catalog.put('toolset', 'support', { description: 'Written again.', tools: [{ tool: 'builtin.bash' }] });
      expect(await tool()).toEqual({ wireName, aliases: compiled });
    });

    it('are taken from the listing of a server', async () => {
      const listed = (name: string, more: object) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more });
      const tools = [
        listed('get_mail', { aliases: ['mail', { name: 'inbox', mode: 'hidden' }, 'get_mail', 'Not Legal', 7] }),
        listed('put_mail', { _meta: { aliases: ['send', { name: 'post_it', mode: 'function', note: 'x' }] } }),
        // GET shows none of this, and sending its answer back loses none of it.
        listed('read_mail', { title: 'Mail', _meta: { app: 1 }, more: true, annotations: { readOnlyHint: true, tone: 'calm' } }),
      ];
      await catalog.put('server', 'mail', { kind: 'static', url: 'https://tools.example.com/call', tools });
      expect((await catalog.tool('mail.get_mail')).aliases).toEqual(['mail', { name: 'inbox', mode: 'hidden' }]);
      expect((await catalog.tool('mail.put_mail')).aliases).toEqual(['send', { name: 'post_it', mode: 'hidden' }]);
      const shown = await pages((page) => catalog.serverTools('mail', page), 10);
      const echo = await catalog.put('server', 'mail', { kind: 'static', url: 'https://tools.example.com/call', tools: shown });
      expect(echo.changed).toBe(false);
    });
  });

  describe('UI tools', () => {
    const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] };

    it('are tools of the workspace that a toolset may list, for users and not for models', async () => {
      expect(await catalog.put('ui-tool', 'ui.camera', camera)).toMatchObject({ created: true, document: { version: 1, body: camera } });
      expect(await catalog.tool('ui.camera')).toMatchObject({ server: 'ui', name: 'camera', kind: 'ui', description: 'Takes a photo.' });
      await catalog.put('toolset', 'support', { tools: [{ tool: 'ui.camera' }] });
      const { names } = await directory.toolset(workspace, 'support');
      expect(names.tools).toMatchObject([{ canonical: 'ui.camera', kind: 'ui', ui: camera, state: 'ready' }]);
      expect(resolveName(names, 'Camera')).toMatchObject({ ok: true, canonical: 'ui.camera' });
      await expect(catalog.put('ui-tool', 'ui.camera', { ...camera, href: 'javascript:1' })).rejects.toMatchObject({
        code: 'invalid_request',
        extra: { issues: [{ path: 'href' }] },
      });
      expect((await catalog.get('ui-tool', 'ui.camera')).version).toBe(1);
    });
  });

  describe('UI tools that change', () => {
    it('give the toolsets that list them a revision, and are missing there when they are removed', async () => {
      const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] };
      const seen = async () => {
        const { pointer, names } = await directory.toolset(workspace, 'support');
        return [`${pointer.version}.${pointer.revision}`, ...names.tools.map(({ description, state }) => `${description} ${state}`)];
      };
      await catalog.put('ui-tool', 'ui.camera', camera);
      await catalog.put('toolset', 'support', { tools: [{ tool: 'ui.camera' }] });
      expect(await seen()).toEqual(['1.1', 'Takes a photo. ready']);
      await catalog.put('ui-tool', 'ui.camera', { ...camera, description: 'Takes a picture.' });
      expect(await seen()).toEqual(['1.2', 'Takes a picture. ready']);
      await catalog.remove('ui-tool', 'ui.camera');
      expect((await seen())[0]).toBe('1.3');
      expect((await seen())[1]).toMatch(/ missing$/);
      await expect(catalog.get('ui-tool', 'ui.camera')).rejects.toMatchObject({ code: 'not_found' });
      await catalog.put('ui-tool', 'ui.camera', camera);
      expect(await seen()).toEqual(['1.4', 'Takes a photo. ready']);
      expect((await catalog.get('ui-tool', 'ui.camera')).version).toBe(4);
    });
  });
}
