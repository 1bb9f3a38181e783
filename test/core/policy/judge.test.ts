import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AskKind } from '../../../src/core/policy/approval.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import { isInside } from '../../../src/core/text/path.ts';
import { callEffect } from '../../../src/core/policy/effects/call.ts';
import { requestHost } from '../../../src/core/policy/host.ts';
import { evaluatePolicy, withoutApproval, type PolicyDecision } from '../../../src/core/policy/evaluate-policy.ts';
import { ruleToRemember } from '../../fakes/rule-to-remember.ts';
import { Policy, rulesOf, fallbackRules } from '../../../src/core/policy/policy.ts';
import { PolicyRule } from '../../../src/core/policy/rule.ts';
import type { Circumstances } from '../../../src/core/policy/effects/effect-kind.ts';
import type { Effect } from '../../../src/core/policy/policy-effect.ts';
import { runs } from '../../selection.ts';

const parse = (rules: readonly object[]): PolicyRule[] => rules.map((rule) => PolicyRule.parse({ decision: 'allow', ...rule }));
const by = (tool: string, more: object = {}): Circumstances => ({ actor: { tool, agent: null, key: 'k1', ...more }, taint: null });
const verdict = (rules: readonly object[], effect: Effect, circumstances = by('builtin.bash')): PolicyDecision =>
  evaluatePolicy(parse(rules), effect, circumstances);
const asked = (rules: readonly object[], effect: Effect, circumstances = by('builtin.bash')): AskKind | 'deny' | null => {
  const judged = verdict(rules, effect, circumstances);
  return judged.verdict === 'deny' ? 'deny' : (judged.ask?.kind ?? null);
};

const write = (path: string, change: 'create' | 'append' | 'overwrite' | 'attributes' | 'move-away' = 'create', own = true): Effect => ({
  kind: 'write-file',
  path,
  change,
  own,
});
const remove = (path: string): Effect => ({ kind: 'delete-file', path });
const send = (host: string, method = 'GET'): Effect => ({ kind: 'network', host, method });
const read = (path: string): Effect => ({ kind: 'read-file', path });

describe('without rules', () => {
  it('requires approval to delete or overwrite files, write outside the workspace, or reach a new host', () => {
    const cases: [Effect, AskKind | null][] = [
      [remove('/workspace/a'), 'delete-file'],
      [write('/workspace/a', 'overwrite', false), 'overwrite-file'],
      [write('/workspace/a', 'overwrite', true), null],
      [write('/workspace/a', 'append', false), null],
      [write('/workspace/a', 'move-away', false), null],
      [write('/workspace/a'), null],
      [write('/etc/x'), 'write-outside'],
      [write('/workspace2', 'attributes'), 'write-outside'],
      [read('/etc/passwd'), null],
      [send('api.example.com'), 'network'],
      [{ kind: 'secret', name: 'GH' }, null],
      [{ kind: 'registry', change: 'create-tool', name: 'made.x' }, null],
      [{ kind: 'registry', change: 'replace-tool', name: 'made.x' }, 'registry'],
      [{ kind: 'registry', change: 'write-toolset', name: 'support' }, 'registry'],
    ];
    for (const [effect, kind] of cases) expect([effect, asked([], effect)]).toEqual([effect, kind]);
  });

  it('asks about the deletion first, then about the path', () => {
    const deletes = { kind: 'delete-file', path: '/tmp' };
    expect(asked([], remove('/tmp/x'))).toBe('delete-file');
    expect(asked([deletes], remove('/tmp/x'))).toBe('write-outside');
    expect(asked([deletes, { kind: 'write-outside', path: '/tmp' }], remove('/tmp/x'))).toBeNull();
  });

  it('allows other effects without a rule', () => {
    expect(verdict([], read('/workspace/a'))).toEqual({
      verdict: 'allow',
      ask: null,
      rule: null,
      reason: expect.stringContaining('no effect that requires approval'),
    });
  });
});

describe('a tool of a server', () => {
  const served = (ownName: string, more: object): EditionTool =>
    ({ canonical: `github.${ownName}`, ownName, kind: 'static', server: 'github', ...more }) as EditionTool;
  const mcp = (ownName: string, more: object): EditionTool => served(ownName, { kind: 'mcp', ...more });
  const kindOf = (tool: EditionTool, rules: object[] = []) => asked(rules, callEffect(tool), by(tool.canonical));
  const reads = { annotations: { readOnlyHint: true } };
  const destroys = { annotations: { destructiveHint: true } };

  it.each([
    ['says nothing, and its server is not trusted', served('get_issue', {}), 'untrusted'],
    ['is read-only according to an administrator', served('get_issue', reads), null],
    ['is read-only according to an administrator, under a name of a change', served('deleteIssue', reads), null],
    ['is read-only according to an untrusted MCP server', mcp('get_issue', reads), 'untrusted'],
    [
      'is read-only according to an MCP server whose annotations were accepted',
      mcp('wire_money', { ...reads, annotationsAccepted: true }),
      null,
    ],
    ['has accepted annotations that say nothing', mcp('get_issue', { annotationsAccepted: true }), 'untrusted'],
    ['is read-only according to a trusted MCP server', mcp('wire_money', { ...reads, trusted: true }), null],
    ['reads by its HTTP method', served('wire_money', { ...reads, kind: 'openapi' }), null],
    [
      'is declared read-only and destructive',
      served('get_issue', { annotations: { readOnlyHint: true, destructiveHint: true } }),
      'untrusted',
    ],
    ['writes, according to a trusted server', served('create_issue', { annotations: { readOnlyHint: false }, trusted: true }), null],
    ['destroys, according to a trusted server', served('delete_issue', { ...destroys, trusted: true }), 'destructive'],
    ['destroys, according to an untrusted server', served('delete_issue', destroys), 'untrusted'],
    ['is local', served('write', { kind: 'local' }), null],
    ['is local and destroys', served('write', { kind: 'local', ...destroys }), 'destructive'],
    ['is the caller’s own', served('write', { kind: 'client', ...destroys }), null],
    ['is made of others', served('write', { kind: 'made', ...destroys }), null],
  ])('gives the expected reason to ask when it %s', (_what, tool, kind) => {
    expect(kindOf(tool)).toBe(kind);
  });

  it('is asked about by canonical name, and remembered only by it', () => {
    const tool = served('create_issue', {});
    const { ask } = verdict([], callEffect(tool), by(tool.canonical));
    expect(ask).toEqual({
      kind: 'untrusted',
      reason: 'github.create_issue may change data, and its server is not trusted',
      target: 'github.create_issue',
    });
    const remembered = PolicyRule.parse(ask && ruleToRemember(tool.canonical, ask));
    expect(remembered).toEqual({ decision: 'allow', kind: 'untrusted', tool: 'github.create_issue' });
    expect(kindOf(tool, [remembered])).toBeNull();
    expect(kindOf(served('create_issues', {}), [remembered])).toBe('untrusted');
    expect(kindOf(served('create_issue', { ...destroys, trusted: true }), [remembered])).toBe('destructive');
  });

  it('is not allowed by rules about hosts and paths, whatever its name', () => {
    const rules = [{ kind: 'network' }, { path: '/' }, { host: 'github' }, { tool: 'github.other' }, { tool: 'git.*' }];
    expect(kindOf(served('create_issue', {}), rules)).toBe('untrusted');
    for (const rule of [{ kind: 'untrusted' }, { tool: 'github.*' }, { effect: 'write' }])
      expect(kindOf(served('create_issue', {}), [rule])).toBeNull();
  });
});

describe('rules', () => {
  it('apply deny before ask and ask before allow, in any order', () => {
    const decisions = ['allow', 'ask', 'deny'] as const;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...decisions), { maxLength: 6 }), (order) => {
        const rules = order.map((decision) => ({ decision, host: 'a.example' }));
        const judged = verdict(rules, send('a.example'));
        const strongest = order.includes('deny') ? 'deny' : order.includes('ask') ? 'ask' : order.includes('allow') ? 'allow' : 'ask';
        expect(judged.verdict).toBe(strongest);
        expect(judged.rule?.index ?? -1).toBe(order.indexOf(strongest));
      }),
    );
  });

  it('are reported with their index and note', () => {
    const rules = [{ tool: 'x.y' }, { decision: 'deny', host: '*.example.com', method: 'POST', note: 'reports go by mail' }];
    expect(verdict(rules, send('api.example.com', 'POST'))).toMatchObject({
      verdict: 'deny',
      rule: { index: 1, rule: { host: '*.example.com' } },
      reason: "Rule 1 of the workspace's policy forbids POST requests to api.example.com (reports go by mail)",
    });
  });

  it('match only if all their fields match', () => {
    const effect = send('api.example.com', 'POST');
    const circumstances = by('builtin.http_request', { agent: 'support' });
    const fitting = {
      host: 'api.example.com',
      method: 'POST',
      tool: 'builtin.*',
      agent: 'support',
      key: 'k1',
      effect: 'send',
      kind: 'network',
    };
    expect(asked([{ decision: 'deny', ...fitting }], effect, circumstances)).toBe('deny');
    for (const other of [
      { host: 'example.com' },
      { host: '*.api.example.com' },
      { host: '*.ample.com' },
      { method: 'GET' },
      { tool: 'builtin.bash' },
      { agent: 'other' },
      { key: 'k2' },
      { effect: 'read' },
      { kind: 'taint' },
    ])
      expect([other, asked([{ decision: 'deny', ...fitting, ...other }], effect, circumstances)]).toEqual([other, 'network']);
  });

  it('about a path cover everything below it, by whole segments', () => {
    const deny = [{ decision: 'deny', path: '/workspace/keep' }];
    for (const effect of [
      read('/workspace/keep/a'),
      write('/workspace/keep'),
      remove('/workspace/keep/a/b'),
      write('/workspace/keep/a', 'move-away'),
    ])
      expect(asked(deny, effect)).toBe('deny');
    for (const effect of [read('/workspace/keeper'), write('/workspace/kee'), write('/workspace')]) expect(asked(deny, effect)).toBeNull();
    expect(asked([{ decision: 'deny', path: '/' }], read('/'))).toBe('deny');
  });

  it('that deny or ask for a tool cover its inner calls; rules that allow do not', () => {
    const beneath = by('builtin.http_request', { chain: ['made.report', 'made.fetch'] });
    expect(asked([{ decision: 'deny', tool: 'made.report', effect: 'send' }], send('a.example'), beneath)).toBe('deny');
    expect(asked([{ decision: 'ask', tool: 'made.*' }], send('a.example'), beneath)).toBe('rule');
    expect(asked([{ tool: 'made.report' }], send('a.example'), beneath)).toBe('network');
  });

  it('include destroy in write when they deny, not when they allow', () => {
    expect(asked([{ decision: 'deny', effect: 'write' }], remove('/workspace/a'))).toBe('deny');
    expect(asked([{ decision: 'deny', effect: 'write' }], send('a.example', 'DELETE'))).toBe('deny');
    expect(asked([{ decision: 'deny', effect: 'write' }], read('/workspace/a'))).toBeNull();
    expect(asked([{ decision: 'deny', effect: 'destroy' }], write('/workspace/a', 'overwrite', true))).toBeNull();
    expect(asked([{ effect: 'write' }], remove('/workspace/a'))).toBe('delete-file');
    expect(asked([{ effect: 'destroy' }], remove('/workspace/a'))).toBeNull();
  });

  it('that ask cover reading only with the effect read', () => {
    expect(asked([{ decision: 'ask', path: '/workspace/x' }], read('/workspace/x'))).toBeNull();
    expect(asked([{ decision: 'ask', path: '/workspace/x', effect: 'read' }], read('/workspace/x'))).toBe('rule');
    expect(asked([{ decision: 'ask', path: '/workspace/x' }], write('/workspace/x'))).toBe('rule');
  });

  it('forbid moving files that may not be deleted', () => {
    const deny = [{ decision: 'deny', kind: 'delete-file', path: '/workspace/keep' }];
    expect(asked(deny, write('/workspace/keep/a', 'move-away', false))).toBe('deny');
    expect(asked(deny, write('/workspace/keep/a', 'append', false))).toBeNull();
  });

  it('about secrets match by name', () => {
    expect(asked([{ decision: 'deny', secret: 'GH' }], { kind: 'secret', name: 'GH' })).toBe('deny');
    expect(asked([{ decision: 'deny', secret: 'GH' }], { kind: 'secret', name: 'GHX' })).toBeNull();
  });

  it('match in an index of a thousand as they do one by one', () => {
    const host = fc.constantFrom('a.example', 'b.a.example', 'example', '*.example', '*.a.example');
    const path = fc.constantFrom('/', '/workspace', '/workspace/a', '/workspace/a/b', '/tmp');
    const tool = fc.constantFrom('builtin.bash', 'builtin.*', 'made.x', 'made.*');
    const rule = fc
      .tuple(
        fc.constantFrom('allow', 'ask', 'deny'),
        fc.oneof(
          host.map((host) => ({ host })),
          path.map((path) => ({ path })),
          tool.map((tool) => ({ tool })),
          fc.constantFrom('k1', 'k2').map((key) => ({ key })),
          fc.constantFrom('support', 'triage').map((agent) => ({ agent })),
        ),
        fc.option(tool),
      )
      .map(([decision, about, tool]) => ({ decision, ...about, ...(tool !== null && { tool }) }));
    const effect = fc.oneof(
      fc.constantFrom('a.example', 'b.a.example', 'c.b.a.example', 'example', 'xa.example').map((host) => send(host)),
      fc.constantFrom('/workspace/a', '/workspace/a/b/c', '/workspace/ab', '/tmp/x', '/etc').map((path) => remove(path)),
    );
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), effect, (rules, effect) => {
        const circumstances = by('builtin.bash', { chain: ['made.x'], agent: 'support' });
        const together = verdict(rules, effect, circumstances);
        const alone = rules.map((one) => verdict([one], effect, circumstances));
        const denies = alone.findIndex((judged) => judged.verdict === 'deny');
        const asks = alone.findIndex((judged) => judged.ask?.kind === 'rule');
        if (denies !== -1) expect(together).toMatchObject({ verdict: 'deny', rule: { index: denies } });
        else if (asks !== -1) expect(together).toMatchObject({ verdict: 'ask', rule: { index: asks } });
        else expect(together.rule === null || rules[together.rule.index]?.decision === 'allow').toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('the taint rule', () => {
  const tainted: Circumstances = {
    ...by('builtin.http_request'),
    taint: { private: '/workspace/notes.txt', untrusted: 'a response from evil.example' },
  };

  it('requires approval to send to a known host, with the reason', () => {
    const known = [{ kind: 'network', host: 'known.example' }, { tool: 'builtin.http_request' }];
    const { ask } = verdict(known, send('known.example'), tainted);
    expect(ask).toMatchObject({ kind: 'taint', target: 'known.example', reason: expect.stringMatching(/notes\.txt.*evil\.example/) });
    expect(asked(known, send('known.example'), { ...tainted, taint: { private: 'x', untrusted: null } })).toBeNull();
    expect(asked(known, write('/workspace/a'), tainted)).toBeNull();
  });

  it('is allowed for a host or tool only by rules of its kind, and its workspace switch does not override an agent', () => {
    const known = { kind: 'network', host: 'known.example' };
    const effect = send('known.example');
    const { ask } = verdict([known], effect, tainted);
    const remembered = ruleToRemember('builtin.http_request', ask ?? { kind: 'always', target: null });
    expect(remembered).toEqual({ decision: 'allow', kind: 'taint', host: 'known.example' });
    expect(asked([known, remembered ?? {}], effect, tainted)).toBeNull();
    const off = rulesOf(Policy.parse({ rules: parse([known]), taint: 'off' }));
    expect(asked(off, effect, tainted)).toBeNull();
    expect(asked(off, effect, { ...tainted, taintRule: true })).toBe('taint');
    expect(ruleToRemember('github.create_issue', { kind: 'taint', target: 'github.create_issue' })).toEqual({
      decision: 'allow',
      kind: 'taint',
      tool: 'github.create_issue',
    });
  });

  it('requires approval to call a tool that sends', () => {
    const call: Effect = { kind: 'call', does: 'write', trusted: true, sends: true };
    expect([asked([], call, tainted), asked([], { ...call, sends: false }, tainted)]).toEqual(['taint', null]);
  });
});

describe('rules that cannot be read', () => {
  it('require approval for everything that changes or sends something, and nothing else', () => {
    expect(asked(fallbackRules, write('/workspace/a'))).toBe('rule');
    expect(asked(fallbackRules, send('a.example'))).toBe('rule');
    expect(asked(fallbackRules, read('/workspace/a'))).toBeNull();
    expect(asked(fallbackRules, { kind: 'call', does: null, trusted: true, sends: false })).toBeNull();
  });
});

describe('an entry with approval "never"', () => {
  it('waives questions, not denials', () => {
    expect(withoutApproval(verdict([], remove('/workspace/a'))).verdict).toBe('allow');
    expect(withoutApproval(verdict([{ decision: 'deny', kind: 'delete-file' }], remove('/workspace/a'))).verdict).toBe('deny');
  });
});

describe('a host', () => {
  it('is the same in all spellings', () => {
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

  it('is null for a URL without one', () => {
    for (const url of ['', 'nonsense', '/x', 'mailto:a@b.example', 'data:,x', 'https://']) expect(requestHost(url), url).toBeNull();
  });

  it('is allowed only with its port', () => {
    const rules = parse([{ kind: 'network', host: 'API.example.com' }]);
    expect(rules[0]?.host).toBe('api.example.com');
    expect(asked(rules, send('api.example.com'))).toBeNull();
    expect(asked(rules, send('api.example.com:8443'))).toBe('network');
    expect(asked(rules, send('www.api.example.com'))).toBe('network');
    expect(asked(rules, send('api.example.com'), by('local.other'))).toBeNull();
  });

  it('with a star matches all subdomains, by whole labels', () => {
    const rules = [{ kind: 'network', host: '*.Example.com' }];
    expect(['a.example.com', 'b.a.example.com'].map((host) => asked(rules, send(host)))).toEqual([null, null]);
    expect(['example.com', 'badexample.com', 'example.com.evil.example'].map((host) => asked(rules, send(host)))).toEqual([
      'network',
      'network',
      'network',
    ]);
  });
});

describe('a remembered approval', () => {
  it('answers the same question and is a valid rule', () => {
    const effects: [string, Effect][] = [
      ['builtin.bash', send('a.example:8443')],
      ['builtin.bash', write('/tmp/x')],
      ['builtin.bash', remove('/workspace/x')],
      ['builtin.write_file', write('/workspace/x', 'overwrite', false)],
      ['builtin.create_tool', { kind: 'registry', change: 'replace-tool', name: 'made.x' }],
    ];
    for (const [tool, effect] of effects) {
      const { ask } = verdict([], effect, by(tool));
      const rule = ask && ruleToRemember(tool, ask);
      expect(PolicyRule.parse(rule)).toEqual(rule);
      expect(asked([rule ?? {}], effect, by(tool))).toBeNull();
    }
    for (const kind of ['always', 'rule'] as const) expect(ruleToRemember('x.y', { kind, target: null })).toBeNull();
  });

  it('of a path covers only the tool in question', () => {
    const rule = ruleToRemember('builtin.bash', { kind: 'overwrite-file', target: '/workspace/d' });
    expect(asked([rule ?? {}], write('/workspace/d/x', 'overwrite', false))).toBeNull();
    expect(asked([rule ?? {}], write('/workspace/d/x', 'overwrite', false), by('builtin.write_file'))).toBe('overwrite-file');
    expect(isInside('/workspace/d/x', '/workspace/d')).toBe(true);
  });
});

describe('a rule document', () => {
  it('is refused if it is misspelled, matches everything, or can never match', () => {
    for (const fields of [
      {},
      { note: 'nothing else' },
      { decision: 'permit', tool: 'x' },
      { kind: 'always' },
      { kind: 'rule' },
      { hosts: ['a.example'] },
      { host: 'https://a.example' },
      { host: 'a.example/x' },
      { host: 'user@a.example' },
      { host: '' },
      { host: '*' },
      { host: 'a.*.example' },
      { host: 'a.example', path: '/tmp' },
      { host: 'a.example', kind: 'write-outside' },
      { path: 'tmp' },
      { path: '/tmp/' },
      { path: '/workspace/../etc' },
      { path: '/tmp', kind: 'network' },
      { path: '/tmp', kind: 'untrusted' },
      { method: 'post' },
      { method: 'POST', path: '/tmp' },
      { tool: '*' },
      { tool: 'a*.x' },
      { secret: 'GH', kind: 'network' },
    ])
      expect(PolicyRule.safeParse({ decision: 'allow', ...fields }).success, JSON.stringify(fields)).toBe(false);
    expect(Policy.safeParse({ rules: [], extra: 1 }).success).toBe(false);
    expect(Policy.safeParse({ rules: [], taint: 'off' }).success).toBe(true);
  });
});
