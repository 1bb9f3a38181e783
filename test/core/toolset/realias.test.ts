import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { Message } from '../../../src/core/model/message.ts';
import { realias } from '../../../src/core/toolset/model-definitions.ts';
import type { ContentBlock } from '../../../src/core/tools/tool.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const known = knownTools([toolOf('s', 'one_thing'), toolOf('s', 'other_thing')]);
const tools = [
  { tool: 's.one_thing', name: 'first', aliases: ['uno'] },
  { tool: 's.other_thing', name: 'second' },
  { tool: 's.other_thing', name: 'third', aliases: ['tres'] },
];
const names = buildAliasMap((await compile({ tools }, known)).edition, { aliases: true });

const call = (requested: string, canonical: string | null, more: object = {}) =>
  ({ type: 'tool-call', callId: 'c', requested, canonical, via: null, arguments: {}, ...more }) as const;
const result = (requested: string, canonical: string | null) =>
  ({ type: 'tool-result', callId: 'c', requested, canonical, isError: false, content: [] as ContentBlock[] }) as const;

describe('a message with current names', () => {
  it.each([
    ['by its name of today', 'first', 's.one_thing', 'first'],
    ['by an alias', 'uno', 's.one_thing', 'first'],
    ['by a name that is another tool’s now', 'second', 's.one_thing', 'first'],
    ['by the name of one of its entries', 'third', 's.other_thing', 'third'],
    ['by an alias of one of its entries', 'tres', 's.other_thing', 'third'],
    ['by a name that none of its entries has', 'other', 's.other_thing', 'second'],
    ['that is gone', 'gone', 's.gone', 'gone'],
    ['that never was', 'first', null, 'first'],
  ])('renames a tool %s: %j of %j is %j', (_what, requested, canonical, name) => {
    const { parts } = realias({ role: 'assistant', parts: [call(requested, canonical)] }, names) as Extract<Message, { role: 'assistant' }>;
    expect(parts).toEqual([{ ...call(name, canonical), ...(name !== requested && { said: requested }) }]);
    expect(realias({ role: 'tool', parts: [result(requested, canonical)] }, names)).toEqual({
      role: 'tool',
      parts: [result(name, canonical)],
    });
  });

  it('is otherwise unchanged', () => {
    const native = { type: 'native' as const, provider: 'p', data: { name: 'uno', signature: 'x' } };
    const message: Message = {
      role: 'assistant',
      model: 'a/b',
      parts: [{ type: 'text', text: 'I call uno.' }, native, call('uno', 's.one_thing', { nativeId: 'n' })],
    };
    const before = structuredClone(message);
    const shown = realias(message, names) as typeof message;
    expect(message).toEqual(before);
    expect(shown.parts.slice(0, 2)).toEqual(before.parts.slice(0, 2));
    expect(shown).toMatchObject({ role: 'assistant', model: 'a/b', parts: [{}, {}, { nativeId: 'n', said: 'uno' }] });
    const said: Message = { role: 'user', parts: [{ type: 'text', text: 'uno' }] };
    expect(realias(said, names)).toBe(said);
    const current: Message = { role: 'assistant', parts: [call('first', 's.one_thing')] };
    expect(realias(current, names)).toBe(current);
  });
});
