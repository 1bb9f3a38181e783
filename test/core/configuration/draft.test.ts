/** Errors of a write, by position in the request. */
import { describe, expect, it } from 'vitest';
import {
  toDraft,
  type Draft,
  type DraftEntry,
  faultText,
  refusalLines,
  maxConfigurationFaults,
} from '../../../src/core/configuration/draft.ts';
import { buildToolTable } from '../../../src/core/configuration/tool-table.ts';
import { Problem } from '../../../src/core/problem.ts';
import { toolOf } from '../../fakes/known-tools.ts';

const table = await buildToolTable([toolOf('git', 'status'), toolOf('docker', 'ps', { aliases: ['containers'] })], true);
const draftOf = (...entries: DraftEntry[]): Draft => {
  const drafted = toDraft({ announce: 'prompt' }, entries, table);
  if (!drafted.ok) throw new Error(drafted.faults.join());
  return drafted.draft;
};
const invalid = (path: string) => new Problem('invalid_request', 'no', { issues: [{ path, message: 'is wrong' }] });
const clash = (name: string, keeper: string, mover: string) =>
  new Problem('name_conflict', 'no', { conflicts: [{ name, tools: [keeper, mover], suggestion: 'free_name' }] });

describe('an issue', () => {
  const draft = draftOf(
    { entry: { tool: 'git.status', aliases: ['gs', 'tree'] }, place: { path: 'add[0]', hasAlias: true } },
    { entry: { tool: 'docker.ps', aliases: ['c1'] }, place: { path: 'add[1]', hasAlias: false } },
    { entry: { tool: 'docker.ps', name: 'kept' }, place: { path: null, hasAlias: false } },
  );

  it.each([
    ['tools[0].aliases[0]', 'add[0].alias: is wrong'],
    ['tools[0].aliases[1]', 'add[0].aliases[0]: is wrong'],
    ['tools[1].aliases[0]', 'add[1].aliases[0]: is wrong'],
    ['tools[1].tool', 'add[1].namespacedName: is wrong'],
    ['tools[2].arguments.preset', 'the entry of docker.ps.arguments.preset: is wrong'],
    ['tools', 'tools: is wrong'],
    ['tools[99].tool', 'tools[99].tool: is wrong'],
    ['', 'is wrong'],
  ])('at %s is reported as "%s"', (path, told) => {
    expect(refusalLines(invalid(path), draft, table)).toEqual([told]);
  });
});

describe('a clash', () => {
  it('points to the entry of the request, not to the existing one', () => {
    const draft = draftOf(
      { entry: { tool: 'git.status', aliases: ['st'] }, place: { path: 'add[0]', hasAlias: true } },
      { entry: { tool: 'docker.ps', aliases: ['st'] }, place: { path: null, hasAlias: false } },
    );
    for (const problem of [clash('st', 'git.status', 'docker.ps'), clash('st', 'docker.ps', 'git.status')])
      expect(refusalLines(problem, draft, table)[0]).toMatch(
        /^add\[0\]\.alias: "st" is also claimed by docker\.ps at the entry of docker\.ps/,
      );
  });

  it('with an inherited default alias points to the alias that can be changed', () => {
    const draft = draftOf(
      { entry: { tool: 'git.status', aliases: ['containers'] }, place: { path: 'tools[0]', hasAlias: true } },
      { entry: { tool: 'docker.ps' }, place: { path: 'tools[1]', hasAlias: false } },
    );
    expect(refusalLines(clash('containers', 'git.status', 'docker.ps'), draft, table)[0]).toMatch(
      /^tools\[0\]\.alias: "containers" is also claimed by docker\.ps at tools\[1\]/,
    );
  });

  it('without a known entry names the tools', () => {
    const draft = draftOf({ entry: { tool: 'git.status' }, place: { path: 'tools[0]', hasAlias: false } });
    expect(refusalLines(clash('x', 'a.b', 'c.d'), draft, table)[0]).toMatch(/^tools: "x" is claimed by a\.b and by c\.d/);
  });
});

it('returns the detail of any other problem', () => {
  const draft = draftOf({ entry: { tool: 'git.status' }, place: { path: 'tools[0]', hasAlias: false } });
  expect(refusalLines(new Problem('rate_limited', 'Too many writes at once.'), draft, table)).toEqual(['Too many writes at once.']);
});

it('lists the first errors and counts the rest', () => {
  const text = faultText(Array.from({ length: maxConfigurationFaults + 7 }, (_item, index) => `tools[${index}]: no`));
  expect(text).toContain(`tools[${maxConfigurationFaults - 1}]: no; and 7 more`);
  expect(text).not.toContain(`tools[${maxConfigurationFaults}]`);
});
