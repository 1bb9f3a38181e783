/** Everything that calls read from KV, while KV has nothing, or values of another format: the Catalog has it all. */
import { describe, expect, it } from 'vitest';
import type { kvKeys } from '../../../src/storage/keys.ts';
import type { PublishedKind } from '../../../src/storage/published-values.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import type { IsolateDirectory } from '../../../src/storage/published/directory.ts';
import { emptyWorkspace, testEnv } from '../workspace.ts';
import { shell } from '../../contracts/catalog/workspace.ts';

type Read = (directory: IsolateDirectory, workspace: string) => Promise<unknown>;

const compiledToolset: Read = async (directory, workspace) => {
  const { pointer } = await directory.toolset(workspace, 'support');
  return await directory.edition(workspace, pointer);
};

/** By the beginning of the key. */
const reads: Record<PublishedKind | Exclude<keyof typeof kvKeys, 'published' | 'reply' | 'result' | 'cached' | 'erasedCache'>, Read> = {
  toolset: compiledToolset,
  edition: compiledToolset,
  agent: (directory, workspace) => directory.agent(workspace, 'helper'),
  skill: (directory, workspace) => directory.skill(workspace, 'notes'),
  provider: (directory, workspace) => directory.provider(workspace, 'llm'),
  providers: async (directory, workspace) => (await directory.providers(workspace)).filter(({ name }) => name === 'llm'),
  'model-aliases': (directory, workspace) => directory.modelAliases(workspace),
  secret: (directory, workspace) => directory.secret(workspace, 'KEY', { host: 'llm.example.com' }),
  server: (directory, workspace) => directory.server(workspace, 'docs'),
  offers: (directory, workspace) => directory.serverOffers(workspace, 'docs'),
  rules: (directory, workspace) => directory.rules(workspace),
  subscriptions: (directory, workspace) => directory.subscriptions(workspace),
  settings: (directory, workspace) => directory.workspaceSettings(workspace),
  'workspace-status': (directory, workspace) => directory.workspaceStatus(workspace),
  'retired-keys': (directory) => directory.retiredKeys(),
  hook: async (directory, workspace) => (await directory.hook(workspace, 'triage'))?.webhook,
};

async function make() {
  let kv: (key: string) => Promise<string | null> = (key) => testEnv.KV.get(key);
  const made = await emptyWorkspace({ env: { KV: { get: (key: string) => kv(key) } as unknown as Bindings['KV'] } });
  const { catalog } = made;
  await catalog.put('secret', 'KEY', { value: 'key-value', hosts: ['llm.example.com'] });
  await catalog.put('provider', 'llm', { kind: 'openai-compatible', baseUrl: 'https://llm.example.com/v1', apiKeySecret: 'KEY' });
  await catalog.put('model-alias', 'fast', { model: 'llm/small' });
  await catalog.put('toolset', 'support', shell('run'));
  await catalog.put('agent', 'helper', { model: 'llm/small', toolset: 'support' });
  await catalog.put('skill', 'notes', { content: '---\nname: notes\ndescription: How to take notes.\n---\nWrite them down.\n' });
  await catalog.put('server', 'docs', { kind: 'mcp', url: 'https://docs.example.com/mcp' });
  await catalog.put('policy', 'workspace', { rules: [{ tool: 'builtin.bash', decision: 'deny' }] });
  const secret = 'a secret of sufficient length';
  await catalog.put('webhook', 'triage', { agent: 'helper', scheme: 'github', secret, session: 'one', input: 'Look' });
  await catalog.put('subscription', 'log', { url: 'https://a.example/hook', secret, events: ['turn.completed'] });
  return { ...made, setKv: (get: typeof kv) => (kv = get) };
}

const prefixOf = (key: string): string => key.slice(0, key.indexOf(':'));

describe('what KV has lost', () => {
  it.each<[string, string | null]>([
    ['is missing', null],
    ['has another format', '{"format":99,"version":1}'],
    ['is damaged', '{"format":1,"ver'],
  ])('is read from the Catalog, kind by kind and all at once, where it %s', async (_how, instead) => {
    const { workspace, isolate, setKv } = await make();
    for (const [kind, read] of Object.entries(reads)) {
      const [whole, lost] = [isolate(), isolate()];
      setKv((key) => testEnv.KV.get(key));
      const expected = await read(whole, workspace);
      expect(expected ?? null, kind).not.toBeNull();
      setKv(async (key) => (prefixOf(key) === kind ? instead : await testEnv.KV.get(key)));
      expect(await read(lost, workspace), kind).toEqual(expected);
      setKv(async () => instead);
      expect(await read(isolate(), workspace), `${kind}, without KV`).toEqual(expected);
    }
  });
});
