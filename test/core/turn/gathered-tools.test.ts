import { describe, expect, it } from 'vitest';
import { createGathering } from '../../../src/core/turn/gathered-tools.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { maxRememberedTools } from '../../../src/core/turn/gathered-tools.ts';

type Result = Extract<SessionEventBody, { type: 'tool-result' }>;
const at = { turn: 't1', step: 1 };
const resultOf = (canonical: string | null, name: string, more: Partial<Result> = {}): Result => ({
  type: 'tool-result',
  ...at,
  callId: 'call_1',
  name,
  canonical,
  via: null,
  isError: false,
  content: [],
  ...more,
});
const foundBy = (tools: unknown, canonical = 'builtin.find_tools'): Result =>
  resultOf(canonical, 'find_tools', { structuredContent: { tools } });
const fold = (...events: SessionEventBody[]) => {
  const gathering = createGathering();
  for (const event of events) gathering.apply(event);
  return gathering.list().map(({ canonical, name }) => `${canonical} as ${name}`);
};

describe('what a conversation gathers', () => {
  it('includes found and called tools, each once, in order', () => {
    const tools = [
      { name: 'issue', canonical: 'github.create_issue' },
      { name: 'list', canonical: 'github.list' },
    ];
    expect(fold(foundBy(tools), resultOf('github.list', 'list'), resultOf('files.read', 'cat'), foundBy(tools))).toEqual([
      'github.create_issue as issue',
      'github.list as list',
      'files.read as cat',
    ]);
  });

  it('includes failed calls but not unknown tools', () => {
    expect(fold(resultOf('a.b', 'b', { isError: true, code: 'invalid_arguments' }), resultOf(null, 'c', { isError: true }))).toEqual([
      'a.b as b',
    ]);
  });

  it('includes a call only with its result, since its step may be discarded', () => {
    expect(fold({ type: 'tool-input-start', ...at, callId: 'call_1', name: 'b', canonical: 'a.b', via: 'wire' })).toEqual([]);
  });

  it('includes the tools that a loaded skill mentions', () => {
    const tools = [{ name: 'issue', canonical: 'github.create_issue' }];
    expect(fold(foundBy(tools, 'builtin.use_skill'))).toEqual(['github.create_issue as issue']);
  });

  it('ignores results of other tools and values that are not tool lists', () => {
    const tools = [{ name: 'x', canonical: 'a.x' }];
    expect(fold(foundBy(tools, 'evil.find_tools'))).toEqual(['evil.find_tools as find_tools']);
    expect(fold(...[null, 'x', {}, [null, 1, { name: 'x' }, { name: 1, canonical: 'a.x' }]].map((odd) => foundBy(odd)))).toEqual([]);
  });

  it('continues from the calls of an imported history', () => {
    const part = { type: 'tool-result' as const, callId: 'c', isError: false, content: [] };
    const messages = [
      { role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] },
      {
        role: 'tool' as const,
        parts: [
          { ...part, requested: 'b', canonical: 'a.b' },
          { ...part, requested: 'z', canonical: null },
        ],
      },
    ];
    expect(fold({ type: 'history', messages })).toEqual(['a.b as b']);
    // Tools found before the fork come first, in the order in which they were sent to the model.
    const gathered = [
      { canonical: 'a.found', name: 'found' },
      { canonical: 'a.b', name: 'b' },
    ];
    expect(fold({ type: 'history', messages, gathered })).toEqual(['a.found as found', 'a.b as b']);
  });

  it('continues from an earlier fold and returns what is new', () => {
    const before = [{ canonical: 'a.b', name: 'b' }];
    const gathering = createGathering(before);
    expect(gathering.apply(resultOf('a.b', 'b'))).toEqual([]);
    expect(gathering.list()).toBe(before);
    expect(gathering.apply(resultOf('a.c', 'c'))).toEqual([{ canonical: 'a.c', name: 'c' }]);
    expect(gathering.list()).toEqual([...before, { canonical: 'a.c', name: 'c' }]);
  });

  it('is bounded, keeping the oldest', () => {
    const gathering = createGathering();
    for (let index = 0; index <= maxRememberedTools; index += 1) gathering.apply(resultOf(`a.t${index}`, `t${index}`));
    expect(gathering.list()).toHaveLength(maxRememberedTools);
    expect(gathering.list().at(0)).toEqual({ canonical: 'a.t0', name: 't0' });
  });
});
