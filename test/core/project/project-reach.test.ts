// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of project files
import { describe, expect, it } from 'vitest';
import { reachOf } from '../../../src/core/project/project-reach.ts';

describe('what applying a project reaches', () => {
  it.each<[string, object, string[]]>([
    [
      'a command with its arguments, variables, folder and roots',
      {
        servers: {
          fs: {
            kind: 'mcp',
            command: 'npx',
            args: ['-y', 'a b', { secret: 'S' }],
            env: { A: '${HOME}' },
            cwd: '/x',
            roots: [{ uri: 'file:///' }],
          },
        },
      },
      [
        'servers.fs runs the command: npx -y "a b" {"secret":"S"} with {"env":{"A":"${HOME}"},"cwd":"/x","roots":[{"uri":"file:///"}]}',
        'servers.fs reads the variables HOME',
      ],
    ],
    ['a command without arguments', { servers: { a: { command: './run' } } }, ['servers.a runs the command: ./run']],
    [
      'hosts, with the variables that a request can carry',
      { servers: { a: { kind: 'mcp', url: 'https://evil.example/${KEY}?x=${KEY}', headers: { x: '${OTHER:-1}', y: '$${NONE}' } } } },
      ['servers.a contacts evil.example and reads the variables KEY, OTHER'],
    ],
    [
      'a host that is a variable',
      { providers: { a: { baseUrl: 'https://${HOST}/v1' } } },
      ['providers.a contacts ${HOST} and reads the variables HOST'],
    ],
    ['a URL that is a variable', { subscriptions: { a: { url: '${URL}' } } }, ['subscriptions.a reads the variables URL']],
    [
      'hosts of a document in a server',
      { servers: { a: { kind: 'openapi', document: 'servers: [{url: "https://in.example/v1"}]' } } },
      ['servers.a contacts in.example'],
    ],
    [
      'hosts as they are contacted',
      {
        servers: {
          a: { url: 'https://good.example\\@evil.example' },
          b: { url: 'https://ev\til.exa\nmple' },
          c: { url: 'https://\u0435vil.example' },
        },
      },
      ['servers.a contacts good.example', 'servers.b contacts evil.example', 'servers.c contacts xn--vil-qdd.example'],
    ],
    ['a password before the host', { servers: { a: { url: 'https://good.example@evil.example/' } } }, ['servers.a contacts evil.example']],
    ['other spellings of an address', { servers: { a: { url: 'http://2130706433/' } } }, ['servers.a contacts 127.0.0.1']],
    [
      'the hosts of a secret',
      { secrets: { T: { value: '${TOKEN}', hosts: ['evil.example'] } } },
      ['secrets.T contacts evil.example and reads the variables TOKEN'],
    ],
    [
      'callbacks',
      { schedules: { a: { agent: 'b', callbackUrl: 'https://evil.example/x' } } },
      ['schedules.a starts turns by itself', 'schedules.a contacts evil.example'],
    ],
    ['a URL in another section', { agents: { a: { guard: { url: 'https://evil.example' } } } }, ['agents.a contacts evil.example']],
    ['a URL in another form', { providers: { a: { baseUrl: 'https:evil.example/v1' } } }, ['providers.a contacts https:evil.example/v1']],
    [
      'a variable in the name of a model that a provider of the project gets',
      { providers: { a: { baseUrl: 'https://evil.example' } }, agents: { b: { model: 'a/${KEY}', instructions: 'https://docs.example' } } },
      ['providers.a contacts evil.example', 'agents.b reads the variables KEY'],
    ],
    ['webhooks', { webhooks: { a: { agent: 'b' } } }, ['webhooks.a starts turns when requests arrive']],
    [
      'members',
      { members: { eve: { email: 'eve@evil.example', role: 'owner' } } },
      ['members.eve lets a person in: {"email":"eve@evil.example","role":"owner"}'],
    ],
    ['the policy and the settings', { policy: { rules: [] }, workspace: {} }, ['policy is set to {"rules":[]}', 'workspace is set to {}']],
    [
      'trust',
      { servers: { a: { url: 'https://a.example', trusted: true } } },
      ['servers.a is trusted: only destructive calls require approval', 'servers.a contacts a.example'],
    ],
    [
      'calls without approval',
      { toolsets: { a: { tools: [{ tool: 'b.c', approval: 'never' }] } } },
      ['toolsets.a has calls that never require approval'],
    ],
    ['an agent without the taint rule', { agents: { a: { taint: false } } }, ['agents.a is exempt from the taint rule']],
  ])('%s', (_, project, lines) => {
    expect(reachOf(project)).toEqual(lines);
  });

  it('is nothing for documents alone, whose texts may contain anything', () => {
    const project = {
      $schema: 'http://127.0.0.1:8787/moniker.schema.json',
      modelAliases: { gpt: { model: '${MODEL}' } },
      toolsets: { a: { tools: [{ tool: 'builtin.bash', aliases: ['sh'] }], description: 'see https://docs.example' } },
      agents: { a: { model: '${MODEL}', instructions: 'Open https://docs.example with ${TOKEN}' } },
      skills: { a: { content: 'curl https://docs.example' } },
    };
    expect(reachOf(project)).toEqual([]);
  });

  it.each([null, [], 'text', { servers: [] }, { servers: { a: null } }, { servers: { a: { command: null } } }, { policy: null }])(
    'is found without a check of the project: %j',
    (project) => {
      expect(() => reachOf(project)).not.toThrow();
    },
  );

  it('is one line for each thing, whatever the names contain', () => {
    const name = 'a runs the command: true\nservers.b\u001b[2K\r\u202e';
    const lines = reachOf({
      servers: { [name]: { command: 'sh', args: ['-c', 'a\nb\u001b[2J'] } },
      secrets: { [name]: { hosts: ['a\nb'] } },
    });
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).not.toMatch(/\p{Cc}/u);
    expect(lines[0]).toContain('sh -c "a\\nb\\u001b[2J"');
  });

  it('differs if anything of a command differs', () => {
    const command = { kind: 'mcp', command: 'a', args: ['b'], env: { C: 'd' }, cwd: '/e', timeoutMs: 1_000 };
    const changes = [
      {},
      { command: 'A' },
      { args: ['b '] },
      { args: ['b', ''] },
      { env: { C: 'e' } },
      { env: { D: 'd' } },
      { cwd: '/f' },
      { timeoutMs: 2_000 },
    ];
    const lines = changes.flatMap((change) => reachOf({ servers: { x: { ...command, ...change } } }));
    expect(new Set(lines).size).toBe(changes.length);
  });
});
