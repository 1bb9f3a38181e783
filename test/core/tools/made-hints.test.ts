import { expect, it } from 'vitest';
import { madeAnnotations } from '../../../src/core/toolset/compile-made.ts';
import type { ToolAnnotations } from '../../../src/core/tools/tool.ts';
import { madeTool, toolNamed } from '../../engine/inner-run.ts';

const reads = toolNamed('builtin.read', { annotations: { readOnlyHint: true, openWorldHint: false } });
const writes = toolNamed('builtin.write', { annotations: { destructiveHint: false, openWorldHint: false } });
const deletes = toolNamed('builtin.delete', { annotations: { destructiveHint: true, openWorldHint: false } });
const served = (own: { ownName?: string; trusted?: true; annotations?: ToolAnnotations }) =>
  toolNamed('web.look', { kind: 'mcp', annotations: { readOnlyHint: true }, ...own });

const none = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

it.each([
  ['nothing', [], none],
  ['a tool that reads', [reads], none],
  ['one that writes', [reads, writes], { ...none, readOnlyHint: false }],
  ['one that deletes', [reads, deletes], { readOnlyHint: false, destructiveHint: true, openWorldHint: false }],
  ['one that says nothing of itself', [toolNamed('local.x')], { readOnlyHint: false, destructiveHint: true, openWorldHint: true }],
  ['a made tool that deletes', [madeTool('inner', [deletes])], { readOnlyHint: false, destructiveHint: true, openWorldHint: false }],
  ['a trusted server’s that reads', [served({ trusted: true })], { ...none, openWorldHint: true }],
  ['a server’s whose word counts for nothing', [served({})], { readOnlyHint: false, destructiveHint: true, openWorldHint: true }],
  [
    'a trusted server’s that reads, whatever its name',
    [served({ trusted: true, ownName: 'delete_all' })],
    { ...none, openWorldHint: true },
  ],
])('derives the hints of a made tool over %s', (_what, uses, hints) => {
  expect(madeAnnotations(madeTool('tool', uses))).toEqual(hints);
});

it('returns the own hints of any other tool', () => {
  expect(madeAnnotations(reads)).toBe(reads.annotations);
  expect(madeAnnotations(toolNamed('local.x'))).toBeUndefined();
});
