import { describe, expect, it } from 'vitest';
import { type PolicyNames, unmatchedRules } from '../../../src/core/policy/unmatched-rules.ts';
import { PolicyRule } from '../../../src/core/policy/rule.ts';

const names: PolicyNames = {
  tools: new Set(['builtin.bash', 'github.create_issue', 'github.list_issues']),
  listed: new Set(['builtin', 'github']),
  servers: new Set(['builtin', 'local', 'made', 'client', 'ui', 'github', 'docs']),
  agents: new Set(['triage']),
  keys: new Set(['key_1']),
  secrets: new Set(['GITHUB']),
  renamed: new Map([['github.open_issue', 'github.create_issue']]),
};
const faults = (...rules: object[]) =>
  unmatchedRules(
    rules.map((rule) => PolicyRule.parse({ decision: 'deny', ...rule })),
    names,
  ).map(({ index, member, message }) => [index, member, message]);

describe('a rule that names what is not there', () => {
  it.each([
    ['a tool', { tool: 'github.create_isue' }, 'tool', 'unknown tool "github.create_isue"; did you mean github.create_issue'],
    ['a tool that was renamed', { tool: 'github.open_issue' }, 'tool', 'is called "github.create_issue" now'],
    ['a tool of a server that is gone', { tool: 'gitlab.list' }, 'tool', 'unknown tool "gitlab.list"'],
    ['all tools of such a server', { tool: 'gihub.*' }, 'tool', 'unknown server "gihub"; did you mean github'],
    ['requests to such a server', { tool: 'gitlab.resources/read' }, 'tool', 'unknown server "gitlab"'],
    ['an agent', { agent: 'triag' }, 'agent', 'did you mean triage'],
    ['a key', { key: 'key_2' }, 'key', 'unknown key "key_2"'],
    ['a secret', { secret: 'GITUB' }, 'secret', 'did you mean GITHUB'],
    ['a resource', { resource: 'doc.file:///a' }, 'resource', 'unknown server "doc"'],
    ['a prompt', { prompt: 'nowhere.review' }, 'prompt', 'unknown server "nowhere"'],
  ])('is found: %s', (_what, rule, member, message) => {
    expect(faults(rule)).toEqual([[0, member, expect.stringContaining(message)]]);
  });

  it('is not one whose names are there, or can come with a request or a listing', () => {
    const fine = [
      ...[{ tool: 'github.create_issue' }, { tool: 'github.*', agent: 'triage', key: 'key_1' }, { tool: 'docs.resources/read' }],
      ...[
        { tool: 'docs.anything' },
        { tool: 'client.ask' },
        { tool: 'made.later' },
        { secret: 'GITHUB' },
        { key: 'root' },
        { resource: 'docs.*' },
      ],
      ...[{ kind: 'registry', name: 'later' }, { host: 'a.example' }, { path: '/a' }],
    ];
    expect(faults(...fine)).toEqual([]);
  });

  it('has similar names only for the first of many', () => {
    const found = faults(...Array.from({ length: 1_000 }, () => ({ tool: 'github.create_isue' })));
    expect(found).toHaveLength(1_000);
    expect(found.filter(([, , message]) => String(message).includes('did you mean'))).toHaveLength(20);
  });
});
