import { expect, it } from 'vitest';
import type { WithoutHidden } from '../../../src/core/secrets/hidden-values.ts';
import { changedLaunch, changedSecret, launchedSettings } from '../../../src/core/servers/launched-settings.ts';
import { McpServer, OpenApiServer, StaticServer, toServerAccess } from '../../../src/core/servers/server.ts';
import { buildRun, programText } from '../../../src/core/servers/stdio-run.ts';

const members = [McpServer, OpenApiServer, StaticServer].flatMap(({ shape }) => Object.keys(shape));
type Document = WithoutHidden<McpServer>;
const base: Document = { kind: 'mcp', command: 'npx', args: ['files', { secret: 'DIR' }], env: { LEVEL: 'info' } };
/** Another value of each member that a server with a command may have. */
const changes: Partial<Document> = {
  command: 'other',
  args: [],
  env: {},
  cwd: '/',
  instances: 'shared',
  roots: [{ uri: 'file:///' }],
  sampling: true,
  trusted: true,
  instructions: 'Read first.',
  timeoutMs: 5_000,
  era: 'legacy',
};

/** The text that identifies the process of this document. */
async function processOf(document: Document): Promise<string> {
  const known = { ready: [], held: [], version: 1, connection: null, staleAt: null };
  const access = toServerAccess('files', document, known);
  const command = access.mcp?.command;
  if (command === undefined) return '';
  return programText({ ...(await buildRun(access, command, async (name) => `value of ${name}`)), workspace: 'w' });
}

it('has a row for every member of a server document, and for no other', () => {
  expect(Object.keys(launchedSettings).toSorted()).toEqual([...new Set(members)].toSorted());
});

it.each(Object.entries(launchedSettings))(
  'what a program sees of %s differs with the member exactly if its row says so',
  async (member, row) => {
    if (!(member in changes)) {
      expect('unseen' in row || member === 'kind').toBe(true);
      return;
    }
    const changed = { ...base, [member]: changes[member as keyof Document] };
    expect(changedLaunch(base, changed)).toEqual('seen' in row ? [member] : []);
    expect((await processOf(changed)) === (await processOf(base))).toBe('unseen' in row);
  },
);

it('gives the program the roots of the client only if the document names them', async () => {
  expect(await processOf(base)).toContain('"roots":[]');
  expect(await processOf({ ...base, trusted: true })).not.toContain('"roots":{}');
  expect(await processOf({ ...base, roots: 'client' })).toContain('"roots":"client"');
  expect(changedLaunch(base, { ...base, roots: 'client' })).toEqual(['roots']);
});

it.each([
  [null, base, ['kind', 'command', 'args', 'env']],
  [{ kind: 'static', url: 'https://a.example/call' }, base, ['kind', 'command', 'args', 'env']],
  [{ ...base, command: undefined, url: 'https://a.example/mcp' }, base, ['kind', 'command', 'args', 'env']],
  [base, { kind: 'mcp', url: 'https://a.example/mcp', roots: 'client' }, []],
  [base, { ...base, args: ['files', { secret: 'OTHER' }] }, ['args']],
  [{ ...base, args: ['a', 'b'] }, { ...base, args: ['b', 'a'] }, ['args']],
  [{ ...base, env: { A: '1', B: '2' } }, { ...base, env: { B: '2', A: '1' } }, []],
] as const)('from %j to %j changes %j', (before, after, changed) => {
  expect(changedLaunch(before, after)).toEqual(changed);
});

it.each([
  [['files.stdio'], true],
  [['api.example.com', 'files.stdio'], true],
  [['files.stdio:443'], true],
  [['*.files.stdio'], true],
  [['api.example.com', 'stdio.example.com', 'files.stdio.example.com'], false],
  [[], false],
])('a secret of the hosts %j is one of programs: %s', (hosts, isForPrograms) => {
  expect(changedSecret(hosts).length > 0).toBe(isForPrograms);
});
