/** The decisions. The behavior of each entry point is tested in `test/http/bindings.long.test.ts` and `authority-table.workers.test.ts`. */
import { describe, expect, it } from 'vitest';
import {
  type Act,
  isAllowed,
  authorizationRefusal,
  requireAllowed,
  sourceOfTools,
  type Rights,
} from '../../../src/core/people/authority.ts';
import { Scope } from '../../../src/core/people/principal.ts';

const agents = [{ toolset: 'mine' }, { toolset: 'part@3', tools: ['read_file'] }, {}];
const keys = {
  admin: { scopes: ['admin'] },
  unbound: { scopes: ['chat', 'tools', 'toolsets', 'approve'] },
  'bound admin': { scopes: ['admin'], toolsets: ['mine'] },
  agents: { scopes: ['chat', 'tools', 'toolsets', 'approve'], agents: ['helper'] },
  toolsets: { scopes: ['chat', 'tools', 'toolsets', 'approve'], toolsets: ['mine'] },
  both: { scopes: ['chat', 'tools', 'toolsets', 'approve'], agents: ['helper'], toolsets: ['mine', 'spare'] },
  'both, without toolsets': { scopes: ['chat', 'tools'], agents: ['helper'], toolsets: ['mine', 'spare'] },
  nothing: { scopes: ['chat', 'tools', 'toolsets', 'approve'], agents: [], toolsets: [] },
} as const satisfies Record<string, Rights>;
type Name = keyof typeof keys;

const whole: Name[] = ['admin', 'unbound'];
const has = new Set(['builtin.read_file']);

it.each<readonly [Act, Name[]]>([
  [
    { act: 'use-scope', scopes: ['toolsets', 'approve'] },
    (Object.keys(keys) as Name[]).filter((name) => name !== 'both, without toolsets'),
  ],
  [{ act: 'use-agent', agent: 'helper' }, [...whole, 'bound admin', 'agents', 'toolsets', 'both', 'both, without toolsets']],
  [{ act: 'use-agent', agent: 'other' }, [...whole, 'bound admin', 'toolsets']],
  [{ act: 'use-model' }, [...whole, 'bound admin', 'toolsets']],
  [{ act: 'use-edition', toolset: 'mine', agents }, [...whole, 'bound admin', 'agents', 'toolsets', 'both', 'both, without toolsets']],
  [{ act: 'use-edition', toolset: 'mine@2', agents }, [...whole, 'bound admin', 'toolsets']],
  [{ act: 'use-edition', toolset: 'part@3', agents }, [...whole, 'agents']],
  [{ act: 'use-edition', toolset: 'part', agents }, whole],
  [{ act: 'use-edition', toolset: 'spare', agents }, whole],
  [{ act: 'use-edition', toolset: '', agents }, whole],
  [{ act: 'read-toolset', toolset: 'mine', agents }, [...whole, 'bound admin', 'agents', 'toolsets', 'both', 'both, without toolsets']],
  [{ act: 'read-toolset', toolset: 'part@3', agents }, whole],
  [{ act: 'read-toolset', toolset: 'spare', agents }, [...whole, 'both']],
  [{ act: 'read-toolset-history', toolset: 'mine' }, [...whole, 'bound admin', 'toolsets', 'both']],
  [{ act: 'write-toolset', toolset: 'mine' }, [...whole, 'bound admin', 'toolsets', 'both']],
  [{ act: 'write-toolset', toolset: 'other' }, whole],
  [{ act: 'configure' }, [...whole, 'bound admin', 'toolsets', 'both', 'nothing']],
  [{ act: 'list-tool', tool: 'builtin.read_file', has }, Object.keys(keys) as Name[]],
  [{ act: 'list-tool', tool: 'builtin.bash', has }, whole],
  [{ act: 'list-tool', tool: undefined, has }, whole],
  [{ act: 'make-tool' }, [...whole, 'bound admin', 'toolsets']],
  [{ act: 'share-tool' }, [...whole, 'bound admin', 'toolsets']],
  [{ act: 'use-private-tools', isOwn: false }, ['admin']],
  [{ act: 'use-private-tools', isOwn: true }, Object.keys(keys) as Name[]],
  [{ act: 'read-agent', name: 'helper', agent: { toolset: 'part@3' } }, [...whole, 'agents']],
  [{ act: 'read-agent', name: 'helper', agent: null }, [...whole, 'agents']],
  [{ act: 'use-workspace', what: 'Servers' }, whole],
  [{ act: 'waive', what: '`remember`' }, ['admin']],
  [{ act: 'ask-policy-as', agent: undefined, key: 'root' }, whole],
  [{ act: 'ask-policy-as', agent: 'helper', key: undefined }, [...whole, 'agents', 'both', 'both, without toolsets']],
  [{ act: 'open-session', isOwn: false }, ['admin']],
  [{ act: 'open-session', isOwn: true }, Object.keys(keys) as Name[]],
  [{ act: 'decide-approval', isOwn: false, triggered: null }, ['admin']],
  [{ act: 'decide-approval', isOwn: false, triggered: 'helper' }, [...whole, 'agents']],
  [{ act: 'decide-approval', isOwn: false, triggered: 'other' }, whole],
])('%j is allowed to %j', (act, allowed) => {
  const found = (Object.keys(keys) as Name[]).filter((name) => isAllowed(keys[name], act));
  expect(found.sort()).toEqual([...allowed].sort());
});

describe('a refusal', () => {
  it('names what the key is bound to and, for a waiver, the required scope', () => {
    expect(authorizationRefusal(keys.agents, { act: 'use-model' })).toContain('"agent/<name>" (helper)');
    expect(authorizationRefusal(keys.nothing, { act: 'use-agent', agent: 'x' })).toContain('its agents are: none');
    expect(() => requireAllowed(keys.unbound, { act: 'waive', what: '`remember`' })).toThrow(
      expect.objectContaining({ code: 'forbidden', extra: { scope: 'admin' } }),
    );
  });

  it('never refuses a bound key less than one with another scope than admin', () => {
    for (const bound of [{ agents: ['helper'] }, { toolsets: ['mine'] }, { agents: ['helper'], toolsets: ['mine'] }])
      for (const scope of Scope.options)
        for (const act of [
          { act: 'use-workspace', what: 'Keys' },
          { act: 'waive', what: 'x' },
          { act: 'open-session', isOwn: false },
        ] as const)
          expect(isAllowed({ scopes: [scope], ...bound }, act), `${scope} ${JSON.stringify(bound)} ${act.act}`).toBe(false);
  });
});

it.each<readonly [Name, ReturnType<typeof sourceOfTools>]>([
  ['admin', 'workspace'],
  ['unbound', 'workspace'],
  ['bound admin', 'toolsets'],
  ['agents', 'agents'],
  ['toolsets', 'toolsets'],
  ['both', 'toolsets'],
  ['both, without toolsets', 'agents'],
  ['nothing', 'toolsets'],
])('the key %j reads the tools of its %s', (name, source) => {
  expect(sourceOfTools(keys[name])).toBe(source);
});
