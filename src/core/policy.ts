/**
 * What needs a person's word before it happens (DESIGN §7). Judged where it can be: calls from their entry and arguments,
 * and again at the capability, beneath every tool (`engine/ask-first.ts`), so that no spelling gets round it.
 */
import type { Ask } from './approval.ts';
import type { EditionTool } from './edition.ts';
import { isInside, resolvePath, workspace } from './path.ts';

/** A remembered or written rule. All members that are given must fit. */
export type PolicyRule = { decision: 'allow'; kind?: Ask['kind']; tool?: string; host?: string; path?: string };

/** Before it runs, as far as entry and arguments tell. null: it may run. */
export function judgeCall(tool: EditionTool, args: Record<string, unknown>, rules: readonly PolicyRule[]): Ask | null {
  const ask = askOf(tool, args);
  return ask === null || isAllowed(tool.canonical, ask, rules) ? null : ask;
}

/** A write or a deletion at `path`, whoever does it. */
export function judgeWrite(canonical: string, path: string, rules: readonly PolicyRule[]): Ask | null {
  if (isInside(path, workspace)) return null;
  const ask: Ask = { kind: 'write-outside', reason: `It writes outside ${workspace}: ${path}`, target: path };
  return isAllowed(canonical, ask, rules) ? null : ask;
}

/** A request to `host` (with its port, where one is given). */
export function judgeHost(canonical: string, host: string, rules: readonly PolicyRule[]): Ask | null {
  const ask: Ask = { kind: 'network', reason: `It sends a request to ${host}, which is new to this workspace`, target: host };
  return isAllowed(canonical, ask, rules) ? null : ask;
}

function askOf(tool: EditionTool, args: Record<string, unknown>): Ask | null {
  if (tool.canonical === 'builtin.delete_file') {
    return { kind: 'delete-file', reason: 'It deletes a file, which cannot be undone', target: pathOf(args) };
  }
  return null;
}

function isAllowed(canonical: string, ask: Ask, rules: readonly PolicyRule[]): boolean {
  return rules.some(
    (rule) =>
      (rule.kind === undefined || rule.kind === ask.kind) &&
      (rule.tool === undefined || rule.tool === canonical) &&
      (rule.host === undefined || (ask.kind === 'network' && rule.host === ask.target)) &&
      (rule.path === undefined || (ask.kind !== 'network' && ask.target !== null && isInside(ask.target, rule.path))),
  );
}

function pathOf(args: Record<string, unknown>): string | null {
  if (typeof args.path !== 'string') return null;
  const resolved = resolvePath(args.path, workspace);
  return resolved.ok ? resolved.path : null;
}
