/** Concurrent writes: each is atomic, none is lost, and compiled editions match the stored documents in any order. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { pages } from '../../contracts/catalog/workspace.ts';
import { emptyWorkspace } from '../../storage/workspace.ts';

const fact = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const server = (...tools: Record<string, unknown>[]) => ({
  kind: 'static',
  updates: 'review',
  url: 'https://tools.example.com/call',
  tools,
});
const names = Array.from({ length: 4 }, (_, index) => `t${index}`);
type Workspace = Awaited<ReturnType<typeof emptyWorkspace>>;

/** Checks that a toolset is up to date: writing it again creates no other edition. */
async function expectCompiled({ catalog, directory, workspace }: Workspace, toolset: string): Promise<void> {
  const { pointer } = await directory.toolset(workspace, toolset);
  const { body } = await catalog.get('toolset', toolset);
  await catalog.put('toolset', toolset, body);
  expect((await directory.toolset(workspace, toolset)).pointer).toEqual(pointer);
}

describe('concurrent writes', () => {
  it('of several toolsets and their tools lose none', async () => {
    const parts = await emptyWorkspace();
    const { catalog, directory, workspace, object } = parts;
    const build = async (name: string): Promise<void> => {
      await catalog.put('server', `s-${name}`, server(fact('get', 'Reads.'), fact('put', 'Keeps.')));
      await catalog.put('ui-tool', `ui.${name}`, { label: name, description: 'Shows.', category: 'x', triggers: [] });
      await catalog.put('toolset', name, { tools: [{ tool: `s-${name}.get` }, { tool: `ui.${name}` }] });
      await catalog.put('agent', name, { model: 'rehearsal/default', toolset: name });
      await catalog.put('skill', name, { content: `---\nname: ${name}\ndescription: Helps.\n---\nText.` });
      await catalog.put('server', `s-${name}`, server(fact('get', 'Reads all.'), fact('put', 'Keeps.')));
      await catalog.acceptTool(`s-${name}`, 'get');
    };
    await Promise.all(names.map(build));
    for (const kind of ['toolset', 'agent', 'skill'] as const)
      expect((await pages((page) => catalog.list(kind, page), 10)).map(({ name, version }) => [name, version])).toEqual(
        names.map((name) => [name, 1]),
      );
    for (const name of names) {
      const { pointer, names: known } = await directory.toolset(workspace, name);
      expect([pointer.version, pointer.revision, known.tools[0]?.description, known.tools[0]?.state]).toEqual([
        1,
        3,
        'Reads all.',
        'ready',
      ]);
      await expectCompiled(parts, name);
    }
    const indexed = await runInDurableObject(object, (_instance, { storage }) =>
      storage.sql.exec('SELECT tool, toolset FROM toolset_tools ORDER BY toolset, tool').toArray(),
    );
    expect(indexed).toEqual(
      names.flatMap((name) => [
        { tool: `s-${name}.get`, toolset: name },
        { tool: `ui.${name}`, toolset: name },
      ]),
    );
  });

  it.each([
    ['toolset', 'one', (text: string) => ({ description: text, tools: [{ tool: 'builtin.bash' }] })],
    ['agent', 'one', (text: string) => ({ model: 'rehearsal/default', description: text })],
    ['skill', 'one', (text: string) => ({ content: `---\nname: one\ndescription: ${text}\n---\nText.` })],
    ['server', 'one', (text: string) => server(fact('get', text))],
    ['ui-tool', 'ui.one', (text: string) => ({ label: text, description: 'Shows.', category: 'x', triggers: [] })],
    ['secret', 'one', (text: string) => ({ value: text, hosts: ['a.example'] })],
    ['tool-aliases', 'builtin.bash', (text: string) => ({ aliases: [text.replaceAll(' ', '_')] })],
    ['policy', 'workspace', (text: string) => ({ rules: [{ decision: 'deny', host: 'a.example', note: text }] })],
  ] as const)('that must create a %s create it once', async (kind, name, bodyOf) => {
    const { catalog } = await emptyWorkspace();
    const writes = Array.from({ length: 6 }, (_, index) => catalog.put(kind, name, bodyOf(`writer ${index}`), { ifNoneMatch: true }));
    const outcomes = await Promise.allSettled(writes);
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => (reason as { code: string }).code);
    expect(lost).toEqual(Array.from({ length: 5 }, () => 'precondition_failed'));
    expect((await catalog.get(kind, name)).version).toBe(1);
  });

  it('of one server are consecutive versions, and its tools are those of the last', async () => {
    const { catalog } = await emptyWorkspace();
    const answers = await Promise.all(
      names.map((name) => catalog.put('server', 'facts', server(fact('get', 'Reads.'), fact(name, 'Is new.')))),
    );
    expect(answers.map(({ document }) => document.version).sort()).toEqual([1, 2, 3, 4]);
    const [last] = names.filter((_, index) => answers[index]?.document.version === 4);
    const tools = await pages((page) => catalog.serverTools('facts', page), 10);
    expect(tools.map(({ name }) => name)).toEqual(['get', last]);
    expect(await catalog.get('server', 'facts')).toMatchObject({ version: 4, body: { toolCount: 2 } });
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'of a server and what is made of its tools end the same as one after the other, in order %i',
    async (turn) => {
      const parts = await emptyWorkspace();
      const { catalog, directory, workspace } = parts;
      await catalog.put('server', 'facts', server(fact('get', 'Reads.'), fact('put', 'Keeps.')));
      await catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get' }] });
      await catalog.put('server', 'facts', server(fact('get', 'Reads all.'), fact('put', 'Keeps.')));
      const writes = [
        () => catalog.put('server', 'facts', server(fact('get', 'Reads some.'), fact('put', 'Keeps.'))),
        () => catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get' }, { tool: 'facts.put' }] }),
        () => catalog.acceptTool('facts', 'get').catch(() => null),
        () => catalog.put('toolset', 'other', { tools: [{ tool: 'facts.get' }] }),
        () => catalog.remove('server', 'facts'),
        () => catalog.refreshServer('facts').catch(() => null),
      ];
      const order = [...writes.slice(turn), ...writes.slice(0, turn)];
      const results = await Promise.allSettled(order.map((write) => write()));
      // A toolset of a removed server names a missing tool; no other rejection is allowed.
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'invalid_request' });
      for (const { name } of await pages((page) => catalog.list('toolset', page), 10)) {
        const { names: known } = await directory.toolset(workspace, name);
        const stands = await Promise.all(known.tools.map(({ canonical }) => catalog.tool(canonical)));
        expect(known.tools.map(({ state }) => state)).toEqual(stands.map(({ source }) => source?.state));
      }
      // Removed last, it has no tools with which the toolset could be written again.
      const kept = await catalog.get('server', 'facts').catch(() => null);
      if (kept !== null) await expectCompiled(parts, 'daily');
    },
  );
});
