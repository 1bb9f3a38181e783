import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkTemplates } from '../../src/providers/chunk-template.ts';

const chunk = (key: string, text: string) =>
  JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { [key]: text }, finish_reason: null }], obfuscation: '' });

function learnt(key: string, text: string): ChunkTemplates<string> {
  const templates = new ChunkTemplates<string>();
  templates.learn(chunk(key, text), key, text, key);
  return templates;
}

describe('a learnt chunk', () => {
  it('is read again exactly, whatever its string holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (first, next) => {
        expect(learnt('content', first).match(chunk('content', next))).toEqual({ value: 'content', text: next });
      }),
    );
  });

  it('is no match where anything else differs', () => {
    const templates = learnt('content', 'a');
    const other = chunk('content', 'b');
    for (const different of [
      other.replace('"index":0', '"index":1'),
      other.replace('"finish_reason":null', '"finish_reason":"stop"'),
      other.replace('"b"', '"b","role":"assistant"'),
      other.replace('"b"', '"b\\x"'),
      other.replace('"b"', '"b\n"'),
      other.slice(0, -1),
      '',
    ])
      expect(templates.match(different), different).toBeNull();
  });

  it('is not learnt where it is not plain what changes', () => {
    const templates = new ChunkTemplates<string>();
    templates.learn('{"content":"a","x":{"content":"b"}}', 'content', 'b', 'v');
    templates.learn('{"content":"a","x":{"content":"a"}}', 'content', 'a', 'v');
    templates.learn('{"other":"a"}', 'content', 'a', 'v');
    templates.learn('{"content":"a', 'content', 'a', 'v');
    expect(templates.match('{"content":"a","x":{"content":"b"}}')).toBeNull();
    expect(templates.match('{"content":"a","x":{"content":"a"}}')).toBeNull();
  });

  it('stands beside others, and the oldest makes room', () => {
    const templates = new ChunkTemplates<number>();
    const at = (index: number, text: string) => `{"index":${index},"arguments":"${text}"}`;
    for (let index = 0; index < 90; index++) templates.learn(at(index, 'a'), 'arguments', 'a', index);
    expect(templates.match(at(89, 'b'))).toEqual({ value: 89, text: 'b' });
    expect(templates.match(at(24, 'b'))).toEqual({ value: 24, text: 'b' });
    expect(templates.match(at(0, 'b'))).toBeNull();
  });

  it('may have numbers and strings that nobody needs, before and behind what is wanted', () => {
    const numbered = (number: number, padding: string, delta: string) =>
      JSON.stringify({ type: 'x', sequence_number: number, item: 'i', delta, obfuscation: padding });
    fc.assert(
      fc.property(
        fc.nat(),
        fc.nat(),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (first, next, padding, one, other) => {
          const templates = new ChunkTemplates<string>();
          templates.learn(numbered(first, 'p', one), 'delta', one, 'v', ['sequence_number', 'obfuscation', 'absent']);
          expect(templates.match(numbered(next, padding, other))).toEqual({ value: 'v', text: other });
          const chunk = numbered(next, padding, other);
          for (const different of [
            chunk.replace(`"sequence_number":${next}`, `"sequence_number":-${next}`),
            chunk.replace(`"sequence_number":${next}`, `"sequence_number":${next}.5`),
            chunk.replace(`"sequence_number":${next}`, `"sequence_number":0${next}`),
            chunk.replace(`"sequence_number":${next}`, '"sequence_number":'),
            chunk.replace('"item":"i"', '"item":"j"'),
            `${chunk} `,
            chunk.slice(0, -2),
          ])
            expect(templates.match(different), different).toBeNull();
        },
      ),
    );
  });

  it('may tell a number that changes, so that calls which take turns are one envelope', () => {
    const at = (place: unknown, delta: string) => JSON.stringify({ delta, padding: 'x', place });
    const templates = new ChunkTemplates<string>();
    templates.learn(at(0, 'a'), 'delta', 'a', 'v', ['padding'], 'place');
    expect(templates.match(at(12, 'b'))).toEqual({ value: 'v', text: 'b', place: 12 });
    for (const different of [at(-1, 'b'), at('1', 'b'), at(null, 'b'), at(1.5, 'b')]) expect(templates.match(different)).toBeNull();
    // A place that is no number, or none at all, is nothing to learn.
    const others = new ChunkTemplates<string>();
    for (const place of ['0', null, undefined]) others.learn(at(place, 'a'), 'delta', 'a', 'v', ['padding'], 'place');
    expect(others.match(at('0', 'b'))).toBeNull();
  });
});
