import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ask } from '../../src/core/approval.ts';
import type { EditionTool } from '../../src/core/edition.ts';
import { isInside, resolvePath } from '../../src/core/path.ts';
import { judgeCall, judgeHost, judgeWrite, Policy, PolicyRule, requestHost, ruleOf } from '../../src/core/policy.ts';

/** Nothing else of a tool is looked at. */
const tool = (name: string, approval?: 'always' | 'never'): EditionTool =>
  ({ canonical: `builtin.${name}`, kind: 'builtin', ...(approval && { approval }) }) as EditionTool;
const request = (url: unknown, rules: PolicyRule[] = []): Ask | null => judgeCall(tool('http_request'), { url }, rules);
const rule = (fields: object): PolicyRule => PolicyRule.parse({ decision: 'allow', ...fields });

describe('a call', () => {
  it('asks before it deletes, writes outside or reaches a new host, and not otherwise', () => {
    expect(judgeCall(tool('delete_file'), { path: 'a.txt' }, [])).toEqual({
      kind: 'delete-file',
      reason: 'It deletes /workspace/a.txt, which cannot be undone',
      target: '/workspace/a.txt',
    });
    expect(judgeCall(tool('write_file'), { path: '/etc/passwd', content: '' }, [])).toMatchObject({
      kind: 'write-outside',
      target: '/etc/passwd',
    });
    expect(judgeCall(tool('edit_file'), { path: '../x' }, [])).toMatchObject({ kind: 'write-outside', target: '/x' });
    expect(request('https://api.example.com/x')).toMatchObject({ kind: 'network', target: 'api.example.com' });
    for (const [name, args] of [
      ['write_file', { path: 'a.txt', content: '' }],
      ['read_file', { path: '/etc/passwd' }],
      ['bash', { command: 'rm -rf /' }],
    ] as const)
      expect(judgeCall(tool(name), args, []), name).toBeNull();
  });

  it('asks every time where its entry says so, whatever the rules allow', () => {
    const all = [rule({ tool: 'builtin.bash' }), rule({ kind: 'network' })];
    expect(judgeCall(tool('bash', 'always'), { command: 'ls' }, all)).toMatchObject({ kind: 'always', target: null });
    expect(ruleOf('builtin.bash', { kind: 'always', target: null })).toBeNull();
  });

  it('asks for a deletion even of a path that cannot be one', () => {
    expect(judgeCall(tool('delete_file'), { path: '\u0000' }, [])).toMatchObject({ kind: 'delete-file', target: null });
  });

  it('needs leave for both, to delete outside', () => {
    const args = { path: '/tmp/x' };
    const deletes = rule({ kind: 'delete-file', path: '/tmp' });
    expect(judgeCall(tool('delete_file'), args, [])).toMatchObject({ kind: 'delete-file' });
    expect(judgeCall(tool('delete_file'), args, [deletes])).toMatchObject({ kind: 'write-outside' });
    expect(judgeCall(tool('delete_file'), args, [deletes, rule({ kind: 'write-outside', path: '/tmp' })])).toBeNull();
  });
});

describe('a tool of a server', () => {
  const served = (ownName: string, more: object): EditionTool =>
    ({ canonical: `github.${ownName}`, ownName, kind: 'static', server: 'github', ...more }) as EditionTool;
  const kindOf = (tool: EditionTool, rules: PolicyRule[] = []): string | null => judgeCall(tool, {}, rules)?.kind ?? null;
  const reads = { annotations: { readOnlyHint: true } };
  const destroys = { annotations: { destructiveHint: true } };

  it.each([
    ['says nothing, and its server is not trusted', served('get_issue', {}), 'untrusted'],
    ['is said to read, by anybody', served('get_issue', reads), null],
    ['is said to read, and its name says otherwise', served('deleteIssue', reads), 'untrusted'],
    ['is said to read and to destroy', served('get_issue', { annotations: { readOnlyHint: true, destructiveHint: true } }), 'untrusted'],
    ['is said to write by a trusted server', served('create_issue', { annotations: { readOnlyHint: false }, trusted: true }), null],
    ['is said to destroy by a trusted server', served('delete_issue', { ...destroys, trusted: true }), 'destructive'],
    ['is said to destroy by a server that is not', served('delete_issue', destroys), 'untrusted'],
    ['is local', served('write', { kind: 'local' }), null],
    ['is local and destroys', served('write', { kind: 'local', ...destroys }), 'destructive'],
    ['is the caller’s own', served('write', { kind: 'client', ...destroys }), null],
  ])('that %s', (_what, tool, kind) => {
    expect(kindOf(tool)).toBe(kind);
  });

  it('is asked for under its canonical name, and remembered by it alone', () => {
    const tool = served('create_issue', {});
    const ask = judgeCall(tool, {}, []);
    expect(ask).toEqual({
      kind: 'untrusted',
      reason: 'github.create_issue may change what it works on, and its server is not trusted',
      target: 'github.create_issue',
    });
    const remembered = PolicyRule.parse(ask && ruleOf(tool.canonical, ask));
    expect(remembered).toEqual({ decision: 'allow', kind: 'untrusted', tool: 'github.create_issue' });
    expect(kindOf(tool, [remembered])).toBeNull();
    expect(kindOf(served('create_issues', {}), [remembered])).toBe('untrusted');
    expect(kindOf(served('create_issue', { ...destroys, trusted: true }), [remembered])).toBe('destructive');
  });

  it('is not allowed by rules about hosts and paths, whatever its name reads like', () => {
    const rules = [rule({ kind: 'network' }), rule({ path: '/' }), rule({ host: 'github' }), rule({ tool: 'github.other' })];
    expect(kindOf(served('create_issue', {}), rules)).toBe('untrusted');
    expect(kindOf(served('create_issue', {}), [rule({ kind: 'untrusted' })])).toBeNull();
    expect(PolicyRule.safeParse({ decision: 'allow', kind: 'untrusted', path: '/tmp' }).success).toBe(false);
  });
});

describe('a path', () => {
  const segment = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('..', '.', '', 'workspace', 'workspace2', 'Workspace', 'tmp', 'a', '...', '%2e%2e', '~') },
    { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
  );
  const spelling = fc
    .tuple(fc.constantFrom('', '/', '//', './', '../', '/workspace/', '/workspace/..'), fc.array(segment, { maxLength: 8 }))
    .map(([start, rest]) => start + rest.join('/'));

  it('that resolves outside asks in any spelling, and one that resolves inside never does', () => {
    fc.assert(
      fc.property(
        fc.array(spelling, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('write_file', 'edit_file', 'delete_file'),
        (paths, name) => {
          for (const path of paths) {
            const resolved = resolvePath(path);
            if (!resolved.ok) continue;
            const rules = [rule({ kind: 'delete-file' })];
            const asked = judgeCall(tool(name), { path, content: '' }, rules);
            expect(asked?.kind ?? null, path).toBe(isInside(resolved.path) ? null : 'write-outside');
            expect(judgeWrite('builtin.bash', resolved.path, []) === null).toBe(isInside(resolved.path));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a host', () => {
  it('is the same in all its spellings', () => {
    const spellings = [
      'https://api.example.com/x',
      'https://API.Example.COM/',
      'https://api.example.com:443/',
      'http://api.example.com:80/',
      'https://api.example.com./',
      'https://%61pi.example.com/',
      'https://ａｐｉ.example.com/',
      'https://someone:secret@api.example.com/',
      '\thttps:\\\\api.example.com\\x',
      'https://api.example.com#@evil.example',
    ];
    for (const url of spellings) expect(requestHost(url), url).toBe('api.example.com');
    expect(requestHost('https://bücher.example/')).toBe('xn--bcher-kva.example');
    expect(requestHost('https://api.example.com:8443/')).toBe('api.example.com:8443');
    expect(requestHost('http://0x7f.1/')).toBe('127.0.0.1');
    expect(requestHost('http://[0:0::1]:8080/')).toBe('[::1]:8080');
    expect(requestHost('https://api.example.com@evil.example/')).toBe('evil.example');
  });

  it('is nothing where the URL has none: such a request is refused by others', () => {
    for (const url of ['', 'nonsense', '/x', 'mailto:a@b.example', 'data:,x', 'https://']) expect(requestHost(url), url).toBeNull();
    expect(request(5)).toBeNull();
  });

  it('that was allowed is known with its port only', () => {
    const rules = [rule({ kind: 'network', host: 'API.example.com' })];
    expect(rules[0]?.host).toBe('api.example.com');
    expect(request('http://api.example.com/', rules)).toBeNull();
    expect(request('https://api.example.com:8443/', rules)).toMatchObject({ target: 'api.example.com:8443' });
    expect(request('https://www.api.example.com/', rules)).not.toBeNull();
    expect(judgeHost('local.other', 'api.example.com', rules)).toBeNull();
  });
});

describe('rules', () => {
  it('fit only with all that they say', () => {
    const write = (rules: PolicyRule[]) => judgeWrite('builtin.bash', '/tmp/a/b', rules);
    for (const fields of [{ path: '/tmp' }, { path: '/tmp/a/b' }, { kind: 'write-outside' }, { tool: 'builtin.bash' }])
      expect(write([rule(fields)]), JSON.stringify(fields)).toBeNull();
    for (const fields of [
      { path: '/tmp/a/b/c' },
      { path: '/tm' },
      { kind: 'delete-file' },
      { tool: 'builtin.write_file' },
      { tool: 'builtin.bash', path: '/etc' },
      { host: 'tmp' },
      { kind: 'network' },
    ])
      expect(write([rule(fields)]), JSON.stringify(fields)).not.toBeNull();
  });

  it('that are remembered answer the question that was asked', () => {
    const asks: Ask[] = [
      { kind: 'network', reason: '', target: 'a.example:8443' },
      { kind: 'write-outside', reason: '', target: '/tmp/x' },
      { kind: 'delete-file', reason: '', target: '/workspace/x' },
    ];
    expect(asks.map((ask) => ruleOf('builtin.bash', ask))).toEqual([
      { decision: 'allow', kind: 'network', host: 'a.example:8443' },
      { decision: 'allow', kind: 'write-outside', tool: 'builtin.bash', path: '/tmp/x' },
      { decision: 'allow', kind: 'delete-file', tool: 'builtin.bash', path: '/workspace/x' },
    ]);
    for (const ask of asks) expect(PolicyRule.parse(ruleOf('builtin.bash', ask))).toEqual(ruleOf('builtin.bash', ask));
  });

  it('are refused where they are misspelt, allow everything, or could never fit', () => {
    for (const fields of [
      {},
      { decision: 'deny', tool: 'x' },
      { kind: 'always' },
      { hosts: ['a.example'] },
      { host: 'https://a.example' },
      { host: 'a.example/x' },
      { host: 'user@a.example' },
      { host: '' },
      { host: 'a.example', path: '/tmp' },
      { host: 'a.example', kind: 'write-outside' },
      { path: 'tmp' },
      { path: '/tmp/' },
      { path: '/workspace/../etc' },
      { path: '/tmp', kind: 'network' },
    ])
      expect(PolicyRule.safeParse({ decision: 'allow', ...fields }).success, JSON.stringify(fields)).toBe(false);
    expect(Policy.safeParse({ rules: [], extra: 1 }).success).toBe(false);
  });
});
