import { describe, expect, it } from 'vitest';
import { offerRows, serversOf, withOfferRows } from '../../src/console/pages/toolsets/offer-draft.ts';

const draft = {
  name: 'd',
  tools: [{ tool: 'docs.look' }, { tool: 'git.*' }, { tool: 'docs.find' }, { tool: 'builtin.bash' }, { refId: 'f' }],
  prompts: ['docs.*', { prompt: 'docs.review', name: 'check', aliases: ['look'] }],
  resources: [{ resource: 'docs.file:///a', uri: 'docs://a', approval: 'always' as const }],
};

describe('the prompts and resources of a draft', () => {
  it.each(['prompts', 'resources'] as const)('are written as they were read: %s', (kind) => {
    expect(withOfferRows(draft, kind, offerRows(draft, kind))).toEqual(draft);
  });

  it('are rows of one form', () => {
    expect(offerRows(draft, 'prompts')).toEqual([{ pattern: 'docs.*' }, { pattern: 'docs.review', name: 'check', aliases: ['look'] }]);
    expect(offerRows(draft, 'resources')).toEqual([{ pattern: 'docs.file:///a', uri: 'docs://a', approval: 'always' }]);
  });

  it('are absent from a draft that selects nothing, which is not an empty list', () => {
    const all = withOfferRows(draft, 'prompts', null);
    expect(all).not.toHaveProperty('prompts');
    expect(offerRows(all, 'prompts')).toBeNull();
    expect(withOfferRows(all, 'prompts', [])).toMatchObject({ prompts: [] });
  });

  it('may be of the servers of its tools', () => {
    expect(serversOf(draft)).toEqual(['docs', 'git']);
  });
});
