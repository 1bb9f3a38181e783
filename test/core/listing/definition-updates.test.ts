import { describe, expect, it } from 'vitest';
import { takenUpdate } from '../../../src/core/listing/definition-updates.ts';
import { updatePolicyOf } from '../../../src/core/servers/server.ts';
import type { PinnedDefinition } from '../../../src/core/listing/stored-tool.ts';
import type { BareDefinition } from '../../../src/core/tools/tool.ts';

const inputSchema = { type: 'object', properties: { path: { type: 'string' } } };
const pinned = (changes: Partial<BareDefinition> = {}, pin = 'new'): PinnedDefinition => ({
  pin,
  definition: { name: 'read', description: 'Reads.', inputSchema, ...changes },
});
const before = pinned({}, 'old');
const closed = { readOnlyHint: true, openWorldHint: false };

describe('the setting `updates` of a server', () => {
  it('depends on whether the server is trusted, if it is absent', () => {
    expect([updatePolicyOf({}), updatePolicyOf({ trusted: true }), updatePolicyOf({ trusted: true, updates: 'review' })]).toEqual([
      'review',
      'compatible',
      'review',
    ]);
  });

  it.each<[string, Partial<BareDefinition>, boolean]>([
    ['another text', { description: 'Reads a file.' }, true],
    [
      'an optional argument',
      { inputSchema: { type: 'object', properties: { path: { type: 'string' }, head: { type: 'integer' } } } },
      true,
    ],
    ['a required argument', { inputSchema: { ...inputSchema, required: ['path'] } }, false],
    ['a result that is described now', { outputSchema: inputSchema }, true],
    ['the hint that it only reads', { annotations: { readOnlyHint: true } }, true],
    ['the hint that it destroys', { annotations: { destructiveHint: true } }, false],
    ['an alias', { listedAliases: ['bash'] }, false],
  ])('`compatible` with %s: %s', (_what, changes, isTaken) => {
    const taken = takenUpdate('compatible', before, pinned(changes));
    expect(taken?.pin ?? null).toBe(isTaken ? 'new' : null);
    expect(takenUpdate('review', before, pinned(changes))).toBeNull();
    expect(takenUpdate('accept', before, pinned(changes))?.pin).toBe('new');
  });

  it('`compatible` takes new tools, unless they say that they are destructive', () => {
    expect(takenUpdate('compatible', null, pinned())?.pin).toBe('new');
    expect(takenUpdate('compatible', null, pinned({ annotations: { destructiveHint: true } }))).toBeNull();
  });

  it('`compatible` holds what a result loses', () => {
    const result = (properties: object) => ({ outputSchema: { type: 'object', properties } });
    const [both, one] = [result({ a: { type: 'string' }, b: { type: 'string' } }), result({ a: { type: 'string' } })];
    expect(takenUpdate('compatible', pinned(one), pinned(both))).not.toBeNull();
    const needed = { outputSchema: { ...both.outputSchema, required: ['b'] } };
    expect(takenUpdate('compatible', pinned(needed), pinned(one))).toBeNull();
    expect(takenUpdate('compatible', pinned(one), pinned())).toBeNull();
  });

  it('`compatible` holds an operation that moved', () => {
    const at = (path: string) => pinned({ operation: { method: 'GET', path, parameters: [], body: null } });
    expect(takenUpdate('compatible', at('/a'), at('/b'))).toBeNull();
  });

  it('keeps accepted annotations while they promise no less', () => {
    const accepted = { ...pinned({ annotations: closed }, 'old'), annotationsAccepted: true as const };
    expect(takenUpdate('compatible', accepted, pinned({ annotations: closed, description: 'Other.' }))).toMatchObject({
      annotationsAccepted: true,
    });
    expect(takenUpdate('accept', accepted, pinned())).not.toHaveProperty('annotationsAccepted');
  });
});
