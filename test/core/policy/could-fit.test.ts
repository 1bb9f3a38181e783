/** Rules that can never match are refused when a policy is written; every default question can be covered by a rule. */
import { describe, expect, it } from 'vitest';
import { Policy } from '../../../src/core/policy/policy.ts';
import { newHosts, rulesToRemember } from '../../../src/core/policy/approval-ways.ts';
import { ruleToRemember } from '../../fakes/rule-to-remember.ts';
import { type AskedEffect, AskKind } from '../../../src/core/policy/approval.ts';

const faultOf = (rule: object): string | null => Policy.safeParse({ rules: [rule] }).error?.issues[0]?.message ?? null;

describe('a rule that would never match', () => {
  it.each([
    [{ decision: 'deny', kind: 'registry', effect: 'send' }, /kind "registry" and effect "send"/],
    [{ decision: 'ask', kind: 'network', method: 'DELETE', effect: 'read' }, /method "DELETE" and effect "read"/],
    [{ decision: 'deny', method: 'GET', effect: 'destroy' }, /would never match/],
    [{ decision: 'deny', path: '/a', effect: 'send' }, /path "\/a" and effect "send"/],
    [{ decision: 'deny', kind: 'delete-file', effect: 'send' }, /would never match/],
    [{ decision: 'deny', kind: 'write-outside', path: '/workspace/a' }, /would never match/],
    [{ decision: 'deny', secret: 'A', effect: 'write' }, /would never match/],
    [{ decision: 'allow', path: '/a', effect: 'read' }, /no effect that requires approval has/],
    [{ decision: 'allow', kind: 'overwrite-file', effect: 'write' }, /no effect that requires approval has/],
    [{ decision: 'allow', kind: 'untrusted', tool: 'builtin.read_file' }, /would never match/],
    [{ decision: 'allow', kind: 'untrusted', tool: 'git.*', resource: 'docs.*' }, /would never match/],
    [{ decision: 'deny', tool: 'docs.look', prompt: 'docs.review' }, /would never match/],
    [{ decision: 'deny', tool: 'builtin.*', resource: 'builtin.x' }, /would never match/],
    [{ decision: 'deny', kind: 'destructive', resource: 'docs.*' }, /can only be used with the kinds untrusted and taint/],
    [{ decision: 'deny', resource: 'docs.*', prompt: 'docs.*' }, /not with prompt/],
    [{ decision: 'deny', resource: 'docs.*', effect: 'write' }, /would never match/],
    [{ decision: 'deny', resource: '*' }, /must be the name of a server/],
    [{ decision: 'allow', secret: 'A' }, /reading a secret requires no approval/],
    [{ decision: 'deny', name: 'support', path: '/a' }, /would never match/],
    [{ decision: 'deny', name: 'support', kind: 'network' }, /can only be used with the kind registry/],
    [{ decision: 'deny', name: 'support', host: 'a.example' }, /would never match/],
    [{ decision: 'deny', tool: 'nonsense name' }, /canonical name such as builtin\.bash/],
  ])('is refused with a reason: %j', (rule, reason) => {
    expect(faultOf(rule)).toMatch(reason);
  });

  it.each([
    { decision: 'deny', kind: 'destructive', tool: 'made.report' },
    { decision: 'deny', kind: 'untrusted', tool: 'builtin.*' },
    { decision: 'ask', kind: 'taint', tool: 'builtin.run_code' },
    { decision: 'deny', path: '/', effect: 'read' },
    { decision: 'deny', kind: 'write-outside', path: '/' },
    { decision: 'deny', kind: 'delete-file', effect: 'write' },
    { decision: 'allow', effect: 'read' },
    { decision: 'allow', kind: 'destructive', tool: 'local.wipe' },
    { decision: 'allow', kind: 'network', host: '*.a.example', method: 'PATCH', effect: 'write' },
    { decision: 'deny', host: 'a.example:8443', effect: 'destroy' },
    { decision: 'deny', secret: 'A', tool: 'github.*', agent: 'x', key: 'k' },
    { decision: 'deny', name: 'made.x', tool: 'builtin.create_tool', effect: 'write' },
    { decision: 'deny', agent: 'triage' },
    { decision: 'allow', kind: 'untrusted', resource: 'docs.file:///public/*' },
    { decision: 'deny', tool: 'docs.*', prompt: 'docs.review' },
    { decision: 'ask', tool: 'docs.resources/read' },
    { decision: 'deny', resource: 'docs.*', effect: 'send' },
  ])('is not: %j', (rule) => {
    expect(faultOf(rule)).toBeNull();
  });
});

const whyNot = (asked: Partial<Parameters<typeof rulesToRemember>[1]> & { kind: AskKind; target: string | null }): string | null => {
  const found = rulesToRemember('builtin.bash', { effects: [], effectCount: 1, ...asked });
  return 'why' in found ? found.why : null;
};

describe('a remembered approval', () => {
  it.each([
    ['delete-file', '/workspace/build'],
    ['overwrite-file', '/workspace/a.txt'],
    ['write-outside', '/etc/x'],
    ['network', 'a.example:8443'],
    ['destructive', 'github.delete_issue'],
    ['untrusted', 'github.delete_issue'],
    ['registry', 'made.x'],
    ['taint', 'a.example'],
    ['taint', 'github.delete_issue'],
  ] as const)('of the kind %s is a rule that can be written: %s', (kind, target) => {
    const canonical = target.startsWith('github') ? target : kind === 'registry' ? 'builtin.create_tool' : 'builtin.bash';
    const rule = ruleToRemember(canonical, { kind, target });
    expect(Policy.parse({ rules: [rule] }).rules).toEqual([rule]);
  });

  it('covers only the named toolset or made tool', () => {
    expect(ruleToRemember('builtin.create_tool', { kind: 'registry', target: 'made.x' })).toEqual({
      decision: 'allow',
      kind: 'registry',
      tool: 'builtin.create_tool',
      name: 'made.x',
    });
  });

  it('is not possible if it would cover every file', () => {
    for (const target of ['/', '/workspace', '/tmp'])
      for (const kind of ['delete-file', 'overwrite-file', 'write-outside'] as const) {
        expect(ruleToRemember('builtin.bash', { kind, target })).toBeNull();
        expect(whyNot({ kind, target })).toContain(`an approval for ${target} is valid only once`);
      }
    expect(whyNot({ kind: 'delete-file', target: '/workspace/tmp' })).toBeNull();
  });

  it('of several new hosts is one rule for each, and of other operations together none', () => {
    const sends = (...hosts: string[]) =>
      hosts.map((target) => ({ action: 'send' as const, kind: 'network' as const, target, method: 'GET' }));
    const about = (effects: AskedEffect[], effectCount = effects.length) => ({
      ...{ kind: 'network' as const, target: 'a.example', several: true as const },
      ...{ effects, effectCount },
    });
    const two = about(sends('a.example', 'b.example:8443', 'a.example'));
    expect(rulesToRemember('builtin.bash', two)).toEqual({
      rules: ['a.example', 'b.example:8443'].map((host) => ({ decision: 'allow', kind: 'network', host })),
    });
    const mixed = about([...sends('a.example'), { action: 'delete', kind: 'delete-file', target: '/workspace/a' }]);
    expect(whyNot(mixed)).toContain('several effects');
    expect(newHosts(mixed)).toEqual([]);
    const tainted = about([...sends('a.example'), { action: 'send', kind: 'taint', target: 'known.example', method: 'POST' }]);
    expect(whyNot(tainted)).toContain('several effects');
    expect(newHosts(tainted)).toEqual([]);
    const cut = about(sends('a.example'), 101);
    expect(whyNot(cut)).toContain('several effects');
    expect(newHosts(cut)).toEqual([]);
  });

  it('is not possible for a host that would be a pattern', () => {
    for (const kind of ['network', 'taint'] as const) expect(whyNot({ kind, target: '*.com' })).toContain('would stand for other hosts');
    const effects = [{ action: 'send' as const, kind: 'network' as const, target: '*.com' }];
    expect(newHosts({ effects, effectCount: 1 })).toEqual([]);
    expect(whyNot({ kind: 'network', target: '*.com', several: true, effects, effectCount: 2 })).toContain('several effects');
  });

  it('of a request for a prompt or resource is about that one, and about the tool for a tool with the name of the request', () => {
    for (const kind of ['untrusted', 'taint'] as const) {
      const rulesOf = (canonical: string, target: string) => rulesToRemember(canonical, { kind, target, effects: [], effectCount: 1 });
      const rule = { decision: 'allow', kind };
      expect(rulesOf('docs.prompts/get', 'docs.review')).toEqual({ rules: [{ ...rule, prompt: 'docs.review' }] });
      expect(rulesOf('docs.resources/read', 'docs.file:///a')).toEqual({ rules: [{ ...rule, resource: 'docs.file:///a' }] });
      expect(rulesOf('docs.prompts/get', 'docs.prompts/get')).toEqual({ rules: [{ ...rule, tool: 'docs.prompts/get' }] });
      expect(rulesOf('docs.resources/read', 'docs.file:///*')).toMatchObject({
        why: expect.stringContaining('would stand for other names'),
      });
    }
  });

  it('has a reason whenever there is no rule', () => {
    for (const kind of AskKind.options)
      for (const target of [null, '/', 'x'])
        expect([kind, target, ruleToRemember('builtin.bash', { kind, target }) === null]).toEqual([
          kind,
          target,
          whyNot({ kind, target }) !== null,
        ]);
  });
});
