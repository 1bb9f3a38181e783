/**
 * The annotations of a made tool, derived from the tools that its code may call, since it has no effects itself. For clients that
 * show hints (MCP); the policy checks each inner call and never uses them.
 */
import { memoizeByObject } from '../memoize.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import type { ToolAnnotations } from '../tools/tool.ts';
import { isEndorsed } from '../tools/tool-effects.ts';

/** For any other tool, returns its own annotations. */
export function madeAnnotations(tool: EditionTool): ToolAnnotations | undefined {
  if (tool.made === undefined) return tool.annotations;
  const { reads, keeps, stays } = effectOf(tool);
  return { ...tool.annotations, readOnlyHint: reads, destructiveHint: !keeps, openWorldHint: !stays };
}

/** `keeps`: it destroys nothing. `stays`: it does not reach outside systems. */
type Effect = { reads: boolean; keeps: boolean; stays: boolean };

/** Tools of an edition live as long as the edition, and many tools may use the same few. */
const effectOf = memoizeByObject(
  (tool: EditionTool): Effect => (tool.made === undefined ? ownEffect(tool) : allOf(tool.made.uses.map((use) => effectOf(use)))),
);

function allOf(effects: readonly Effect[]): Effect {
  return {
    reads: effects.every(({ reads }) => reads),
    keeps: effects.every(({ keeps }) => keeps),
    stays: effects.every(({ stays }) => stays),
  };
}

/** A missing hint means the worst case, as in MCP. Annotations of untrusted servers are ignored. */
function ownEffect(tool: EditionTool): Effect {
  const { kind, annotations = {} } = tool;
  const isOurs = kind === 'builtin' || kind === 'local';
  if (!isOurs && !isEndorsed(tool)) return { reads: false, keeps: false, stays: false };
  const reads = annotations.readOnlyHint === true;
  return { reads, keeps: reads || annotations.destructiveHint === false, stays: annotations.openWorldHint === false };
}
