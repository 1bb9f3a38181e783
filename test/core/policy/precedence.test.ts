/** The decision for an effect by rules, entry and taint: one row each, with the sentence that a person sees. */
import { describe, expect, it } from 'vitest';
import { evaluatePolicy, type PolicyDecision } from '../../../src/core/policy/evaluate-policy.ts';
import { Policy, rulesOf } from '../../../src/core/policy/policy.ts';
import { derivedNotes, type PolicyRule } from '../../../src/core/policy/rule.ts';
import type { Effect } from '../../../src/core/policy/policy-effect.ts';
import { applyEntryApproval } from '../../../src/engine/policy/judge-call.ts';

const allow = { decision: 'allow' };
const ask = { decision: 'ask' };
const deny = { decision: 'deny' };
const get: Effect = { kind: 'network', host: 'api.example', method: 'GET' };
const post: Effect = { kind: 'network', host: 'api.example', method: 'POST' };
const remove: Effect = { kind: 'delete-file', path: '/workspace/a' };
const outside: Effect = { kind: 'delete-file', path: '/tmp/a' };
const read: Effect = { kind: 'read-file', path: '/workspace/a' };
const overwrite: Effect = { kind: 'write-file', path: '/workspace/a', change: 'overwrite', own: false };
const carry: Effect = { kind: 'write-file', path: '/workspace/a', change: 'move-away', own: false };
const secret: Effect = { kind: 'secret', name: 'GH' };
const replace: Effect = { kind: 'registry', change: 'replace-tool', name: 'made.x' };
const dropped: Effect = { kind: 'registry', change: 'delete-toolset', name: 'support' };
const destroys: Effect = { kind: 'call', does: 'destroy', trusted: true, sends: true };
const writes: Effect = { kind: 'call', does: 'write', trusted: false, sends: true };
const seen = { private: 'notes.txt', untrusted: 'a page' };

type Case = {
  rules?: object[];
  off?: boolean;
  effect: Effect;
  tool?: string;
  chain?: string[];
  agent?: string;
  key?: string;
  tainted?: boolean;
  taintRule?: boolean;
  entry?: 'always' | 'never';
};

function judged({
  rules = [],
  off = false,
  effect,
  tool = 'builtin.bash',
  chain,
  agent,
  key,
  tainted,
  taintRule,
  entry,
}: Case): PolicyDecision {
  const policy = Policy.parse({ rules, ...(off && { taint: 'off' }) });
  const actor = { tool, agent: agent ?? null, key: key ?? 'k1', ...(chain !== undefined && { chain }) };
  const circumstances = { actor, taint: tainted === true ? seen : null, ...(taintRule !== undefined && { taintRule }) };
  return applyEntryApproval({ ...(entry !== undefined && { approval: entry }) }, evaluatePolicy(rulesOf(policy), effect, circumstances));
}

const rule = (index: number, verb: string) => `Rule ${index} of the workspace's policy ${verb}`;

describe('the decision for an effect', () => {
  it.each<[Case, string, string]>([
    [{ effect: read }, 'allow', 'It has no effect that requires approval'],
    [{ effect: get }, 'ask', 'It sends a request to api.example, which is new to this workspace'],
    [{ effect: get, entry: 'never' }, 'allow', 'It has no effect that requires approval'],
    [{ effect: read, entry: 'always' }, 'ask', 'Its toolset requires approval for every call'],
    [{ effect: get, rules: [{ ...allow, host: '*.example' }] }, 'allow', `${rule(0, 'allows')} GET requests to api.example`],
    [{ effect: get, rules: [{ ...allow, host: '*.example' }], entry: 'always' }, 'ask', 'Its toolset requires approval for every call'],
    [
      { effect: post, rules: [{ ...allow, host: 'api.example', method: 'GET' }] },
      'ask',
      'It sends a request to api.example, which is new to this workspace',
    ],
    [
      { effect: post, rules: [allow, ask, deny].map((decision) => ({ ...decision, host: 'api.example' })) },
      'deny',
      `${rule(2, 'forbids')} POST requests to api.example`,
    ],
    [
      {
        effect: post,
        rules: [
          { ...allow, host: 'api.example' },
          { ...ask, effect: 'send', note: 'mail first' },
        ],
      },
      'ask',
      `${rule(1, 'asks before')} POST requests to api.example (mail first)`,
    ],
    [{ effect: post, rules: [{ ...ask, effect: 'send' }], entry: 'never' }, 'allow', 'It has no effect that requires approval'],
    [{ effect: post, rules: [{ ...deny, effect: 'send' }], entry: 'never' }, 'deny', `${rule(0, 'forbids')} POST requests to api.example`],
    [{ effect: post, rules: [{ ...deny, effect: 'send' }], entry: 'always' }, 'deny', `${rule(0, 'forbids')} POST requests to api.example`],
    [{ effect: remove, rules: [{ ...allow, path: '/workspace' }] }, 'allow', `${rule(0, 'allows')} deleting /workspace/a`],
    [
      {
        effect: remove,
        rules: [
          { ...allow, path: '/workspace/a' },
          { ...deny, path: '/workspace' },
        ],
      },
      'deny',
      `${rule(1, 'forbids')} deleting /workspace/a`,
    ],
    [{ effect: outside, rules: [{ ...allow, kind: 'delete-file' }] }, 'ask', 'It writes outside /workspace: /tmp/a'],
    [{ effect: outside, rules: [{ ...allow, path: '/tmp' }] }, 'allow', `${rule(0, 'allows')} deleting /tmp/a`],
    [{ effect: overwrite }, 'ask', 'It replaces the content of /workspace/a, which this session did not write'],
    [{ effect: carry, rules: [{ ...deny, kind: 'delete-file' }] }, 'deny', `${rule(0, 'forbids')} moving /workspace/a away`],
    [{ effect: read, rules: [{ ...deny, path: '/workspace/a', effect: 'read' }] }, 'deny', `${rule(0, 'forbids')} reading /workspace/a`],
    [
      { effect: carry, rules: [{ ...deny, path: '/workspace/a', effect: 'read' }] },
      'deny',
      `${rule(0, 'forbids')} moving /workspace/a away`,
    ],
    [{ effect: read, rules: [{ ...ask, path: '/workspace' }] }, 'allow', 'It has no effect that requires approval'],
    [{ effect: read, rules: [{ ...ask, path: '/workspace', effect: 'read' }] }, 'ask', `${rule(0, 'asks before')} reading /workspace/a`],
    [
      { effect: secret, rules: [{ ...ask, secret: 'GH', agent: 'triage' }], agent: 'triage' },
      'ask',
      `${rule(0, 'asks before')} reading the secret GH`,
    ],
    [{ effect: secret, rules: [{ ...ask, secret: 'GH', agent: 'triage' }] }, 'allow', 'It has no effect that requires approval'],
    [{ effect: secret, rules: [{ ...deny, secret: 'GH', key: 'k2' }], key: 'k2' }, 'deny', `${rule(0, 'forbids')} reading the secret GH`],
    [{ effect: replace, rules: [{ ...allow, name: 'made.x' }] }, 'allow', `${rule(0, 'allows')} changing made.x`],
    [{ effect: replace, rules: [{ ...allow, name: 'made.y' }] }, 'ask', 'It replaces the tool made.x'],
    [{ effect: dropped, rules: [{ ...deny, name: 'support' }] }, 'deny', `${rule(0, 'forbids')} changing support`],
    [{ effect: destroys, tool: 'github.delete_issue' }, 'ask', 'github.delete_issue may delete or overwrite data'],
    [
      { effect: destroys, tool: 'github.delete_issue', rules: [{ ...allow, tool: 'github.*', kind: 'destructive' }] },
      'allow',
      `${rule(0, 'allows')} calls of github.delete_issue`,
    ],
    [{ effect: writes, tool: 'far.note' }, 'ask', 'far.note may change data, and its server is not trusted'],
    [
      { effect: writes, tool: 'far.note', chain: ['made.report'], rules: [{ ...deny, tool: 'made.report', effect: 'send' }] },
      'deny',
      `${rule(0, 'forbids')} calls of far.note`,
    ],
    [
      { effect: get, chain: ['made.report'], rules: [{ ...allow, tool: 'made.report' }] },
      'ask',
      'It sends a request to api.example, which is new to this workspace',
    ],
    [
      { effect: get, tainted: true, rules: [{ ...allow, kind: 'network' }] },
      'ask',
      'It sends a request to api.example, and this conversation has seen notes.txt and a page, so private data may be sent out',
    ],
    [
      { effect: get, tainted: true, rules: [{ ...allow, kind: 'network' }], off: true },
      'allow',
      `${rule(0, 'allows')} GET requests to api.example`,
    ],
    [
      { effect: get, tainted: true, rules: [{ ...allow, kind: 'network' }], off: true, taintRule: true },
      'ask',
      'It sends a request to api.example, and this conversation has seen notes.txt and a page, so private data may be sent out',
    ],
    [{ effect: get, tainted: true, rules: [{ ...deny, kind: 'taint' }] }, 'deny', `${rule(0, 'forbids')} GET requests to api.example`],
    [
      { effect: get, tainted: true, rules: [{ ...deny, kind: 'taint' }], off: true },
      'deny',
      `${rule(0, 'forbids')} GET requests to api.example`,
    ],
  ])('%j: %s, %s', (given, verdict, reason) => {
    expect(judged(given)).toMatchObject({ verdict, reason });
  });
});

describe('a rule that is in no policy document', () => {
  it.each(Object.values(derivedNotes))('is not called one of the policy: %s', (note) => {
    const rule: PolicyRule = { decision: 'allow', kind: 'network', host: 'api.example', note };
    const effect = { kind: 'network', host: 'api.example', method: 'GET' } as const;
    const { verdict, reason } = evaluatePolicy([rule], effect, { actor: { tool: 'a.b', agent: null, key: 'k' }, taint: null });
    expect([verdict, reason]).toEqual(['allow', `Nothing forbids GET requests to api.example, and ${note}`]);
  });
});
