/** Secrets and toolsets under the policy, through `callTool`: nothing is read or changed that a rule denies or that still requires approval. */
import { describe, expect, it } from 'vitest';
import { PolicyRule } from '../../../src/core/policy/rule.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { CallScope } from '../../../src/engine/call/call-scope.ts';
import type { ToolsetEditor } from '../../../src/ports/toolset-editor.ts';
import { callWith, type How } from '../approve.ts';
import { type Body, runOf, toolNamed } from '../inner-run.ts';

type Options = { rules?: object[]; scope?: Partial<CallScope>; body?: Body; approval?: 'never' | 'always' };

const preset = { arguments: { preset: { token: { secret: 'GH' } } } };

function door(tool: ReturnType<typeof toolNamed>, { rules = [], scope = {}, body }: Options = {}) {
  const read: string[] = [];
  const done: string[] = [];
  const note = (what: string) => async (name: string) => {
    done.push(`${what} ${name}`);
    return {} as never;
  };
  const desk = { write: note('write'), rename: note('rename'), remove: note('remove'), toolset: async () => null };
  const self = runOf([tool], {
    rules: rules.map((rule) => PolicyRule.parse(rule)),
    scope,
    ...(body && { bodies: { [tool.canonical]: body } }),
  });
  self.deps.secret = async (name) => {
    read.push(name);
    return `value-of-${name}`;
  };
  // Only tools that change toolsets are relevant.
  self.deps.configuration = () => desk as unknown as ToolsetEditor;
  const call = async (how: How = {}) => {
    const request = { callId: 'call_1', requested: tool.canonical, arguments: {} };
    const outcome = await callWith(how, (more) => callTool(self.deps, self.scope, { ...request, ...more }, new AbortController().signal));
    if ('answer' in outcome) return { asked: null, code: outcome.answer.result.code, text: contentText(outcome.answer.result.content) };
    return { asked: outcome.waitFor.kind === 'approval' ? outcome.waitFor.ask : null, code: undefined, text: '' };
  };
  return { call, read, done };
}

describe('a secret', () => {
  const deny = { decision: 'deny', secret: 'GH' };
  const ask = { decision: 'ask', secret: 'GH' };
  const own: Body = async (_args, { secret }) => textResult(`got ${(await secret('GH')).length} characters`);

  it.each([
    ['that a toolset presets', toolNamed('local.send', preset), undefined],
    ['that a tool asks for', toolNamed('local.send'), own],
  ])('%s is read if no rule matches it, and not if one denies it', async (_what, tool, body) => {
    const options = body === undefined ? {} : { body };
    const free = door(tool, options);
    expect((await free.call()).code).toBeUndefined();
    expect(free.read).toEqual(['GH']);
    for (const more of [{}, { approved: true }] as const) {
      const denied = door(tool, { ...options, rules: [deny] });
      const { code, text } = await denied.call(more);
      expect([code, denied.read]).toEqual([body === undefined ? 'not_allowed' : 'tool_error', []]);
      expect(text).toMatch(/rule \d of the workspace's policy forbids reading the secret GH/i);
    }
  });

  it.each([
    ['that a toolset presets', toolNamed('local.send', preset), undefined],
    ['that a tool asks for', toolNamed('local.send'), own],
  ])('%s waits for approval if a rule asks, before anything has happened', async (_what, tool, body) => {
    const waiting = door(tool, { rules: [ask], ...(body && { body }) });
    expect((await waiting.call()).asked).toMatchObject({ kind: 'rule' });
    expect(waiting.read).toEqual([]);
    expect((await waiting.call({ approved: true })).code).toBeUndefined();
    expect(waiting.read).toEqual(['GH']);
  });

  it.each([
    ['another secret', { secret: 'OTHER' }],
    ['another tool', { secret: 'GH', tool: 'local.other' }],
    ['another key', { secret: 'GH', key: 'other' }],
    ['another agent', { secret: 'GH', agent: 'other' }],
  ])('is read if the rule is about %s', async (_what, rule) => {
    const self = door(toolNamed('local.send', preset), { rules: [{ decision: 'deny', ...rule }], scope: { agent: 'support' } });
    expect((await self.call()).code).toBeUndefined();
  });

  it.each([{ tool: 'local.send' }, { key: 'k' }, { agent: 'support' }])('is not read if the rule is about the reader: %j', async (rule) => {
    const self = door(toolNamed('local.send', preset), {
      rules: [{ decision: 'deny', secret: 'GH', ...rule }],
      scope: { agent: 'support' },
    });
    expect([(await self.call()).code, self.read]).toEqual(['not_allowed', []]);
  });
});

describe('a toolset', () => {
  const change =
    (what: 'write' | 'rename' | 'remove'): Body =>
    async (_args, { configuration }) => {
      if (configuration === null) throw new Error('there is no desk');
      if (what === 'write') await configuration.write('demo', {} as never, 1);
      else if (what === 'rename') await configuration.rename('demo', 'demo-2', 1);
      else await configuration.remove('demo', 1);
      return textResult('done');
    };
  const tool = toolNamed('builtin.any');
  const client = { turn: null };

  it.each([
    ['is written', 'write'],
    ['is renamed', 'rename'],
  ] as const)('%s without approval, whether a model or a client calls', async (_what, what) => {
    for (const scope of [{}, client]) {
      const self = door(tool, { body: change(what), scope });
      expect([(await self.call()).asked, self.done]).toEqual([null, [`${what} demo`]]);
    }
  });

  it('is deleted by a client without approval; a model needs approval, then deletes it', async () => {
    const byClient = door(tool, { body: change('remove'), scope: client });
    expect([(await byClient.call()).asked, byClient.done]).toEqual([null, ['remove demo']]);
    const byModel = door(tool, { body: change('remove') });
    expect((await byModel.call()).asked).toMatchObject({ kind: 'registry', target: 'demo' });
    expect(byModel.done).toEqual([]);
    expect((await byModel.call({ approved: true })).asked).toBeNull();
    expect(byModel.done).toEqual(['remove demo']);
  });

  it('is deleted by a model without approval where a rule or its entry allows it', async () => {
    const ruled = door(tool, { body: change('remove'), rules: [{ decision: 'allow', kind: 'registry' }] });
    const never = door({ ...tool, approval: 'never' }, { body: change('remove') });
    for (const self of [ruled, never]) {
      expect((await self.call()).asked).toBeNull();
      expect(self.done).toEqual(['remove demo']);
    }
  });

  it.each(['write', 'rename', 'remove'] as const)(
    'is unchanged where a rule denies the change, for every caller and every approval: %s',
    async (what) => {
      for (const scope of [{}, client]) {
        const self = door({ ...tool, approval: 'never' }, { body: change(what), scope, rules: [{ decision: 'deny', kind: 'registry' }] });
        expect((await self.call({ approved: true })).text).toMatch(/rule \d of the workspace's policy forbids changing demo/i);
        expect(self.done).toEqual([]);
      }
    },
  );

  it.each(['write', 'rename', 'remove'] as const)('waits for approval where a rule asks, also for a client: %s', async (what) => {
    for (const scope of [{}, client]) {
      const self = door(tool, { body: change(what), scope, rules: [{ decision: 'ask', kind: 'registry' }] });
      expect((await self.call()).asked).toMatchObject({ kind: 'rule' });
      expect(self.done).toEqual([]);
    }
  });
});
