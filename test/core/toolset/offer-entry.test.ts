import { describe, expect, it } from 'vitest';
import { offerNameIssues, PromptEntry, ResourceEntry } from '../../../src/core/toolset/offer-entry.ts';

describe('an entry for a resource', () => {
  it.each([
    ['docs.*'],
    [{ resource: 'docs.file:///a', uri: 'docs://a', aliases: ['docs://b'], name: 'A', description: 'The first.', approval: 'always' }],
    [{ resource: 'docs.db://{table}', name: 'Tables', description: 'All.' }],
    [{ resource: 'docs.*', approval: 'always' }],
  ])('may be %j', (entry) => {
    expect(ResourceEntry.parse(entry)).toEqual(entry);
  });

  it.each([
    [{ resource: 'docs.*', name: 'A' }, 'name', 'cannot be set for several'],
    [{ resource: 'docs.file:///*', uri: 'docs://a' }, 'uri', 'cannot be set for several'],
    [{ resource: 'docs.db://{table}', uri: 'docs://a' }, 'uri', 'cannot be set for a template'],
    [{ resource: 'docs.db://{table}', aliases: ['docs://a'] }, 'aliases', 'cannot be set for a template'],
    [{ resource: 'docs.file:///a', uri: 'no scheme' }, 'uri', 'must be a URI'],
    [{ resource: 'docs.file:///a', uri: 'db://{table}' }, 'uri', 'must be a URI'],
    [{ resource: 'docs.file:///a', aliases: ['x://a#moniker.docs'] }, 'aliases.0', 'made for a server'],
    [{ resource: 'docs.file:///a', title: 'A' }, '', 'Unrecognized key'],
  ])('is refused with its place: %j', (entry, path, message) => {
    const { error } = ResourceEntry.safeParse(entry);
    const issues = (error?.issues ?? []).flatMap((issue) => [
      issue,
      ...('errors' in issue ? (issue.errors as (typeof issue)[][]).flat() : []),
    ]);
    expect(issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)).toContainEqual(
      expect.stringMatching(`^${path}: .*${message}`),
    );
  });
});

it('refuses words of one prompt in an entry for several', () => {
  expect(PromptEntry.safeParse({ prompt: 'docs.*', aliases: ['look'] }).success).toBe(false);
});

it('finds the names that two prompts claim, and the URIs that two resources claim', () => {
  const resources = [{ resource: 'a.x://1', uri: 'y://1' }, { resource: 'a.x://2', aliases: ['y://1'] }, 'a.y://1'];
  const prompts = [
    { prompt: 'a.one', name: 'go' },
    { prompt: 'a.two', name: 'go' },
  ];
  expect(offerNameIssues({ resources, prompts }).map(({ path }) => path)).toEqual(['prompts[1]', 'resources[1]']);
});
