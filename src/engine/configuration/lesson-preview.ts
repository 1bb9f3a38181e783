/** What a learned name would have changed in the calls that it was learned from, and in all others. */
import { type CalledName, nameImpact } from '../../core/impact/name-impact.ts';
import type { Lesson } from '../../core/impact/learned-names.ts';
import type { RecordedCall } from '../../core/impact/recorded-calls.ts';
import { fold } from '../../core/names/fold.ts';
import { type AliasMap, extendAliasMap, findTool, toolsLike } from '../../core/toolset/alias-map.ts';
import { accept } from './argument-impact.ts';

/** `found`: calls that failed, and would be accepted. `broken`: calls that were accepted, and would fail or lead elsewhere. */
export type LessonPreview = { found: number; broken: number };

/** Recorded calls of a tool that one preview checks. */
const maxChecked = 500;

/** `called`: the counted names of the toolset. `calls`: the recorded ones. */
export function previewLesson(
  { tool, argument, alias }: Pick<Lesson, 'tool' | 'argument' | 'alias'>,
  names: AliasMap,
  { called, calls }: { called: readonly CalledName[]; calls: readonly RecordedCall[] },
): LessonPreview {
  const target = findTool(names, tool);
  if (target === null) return { found: 0, broken: 0 };
  if (argument === null) {
    // Only these tools have names that a call of the alias could mean.
    const like = toolsLike(names, alias).filter((one) => one !== target);
    const added = { ...target, aliases: [...target.aliases, { name: alias, mode: 'hidden' as const }] };
    const meant = called.filter(({ requested }) => fold(requested) === fold(alias));
    const { changed } = nameImpact(extendAliasMap(null, [target, ...like]), extendAliasMap(null, [added, ...like]), meant);
    const sum = (isFound: boolean): number =>
      changed.reduce((total, { change, calls: ofName }) => total + ((change === 'found') === isFound ? ofName : 0), 0);
    return { found: sum(true), broken: sum(false) };
  }
  const rules = { ...target.arguments, alias: { ...target.arguments?.alias, [alias]: argument } };
  const after = { ...target, arguments: rules };
  const preview = { found: 0, broken: 0 };
  for (const { arguments: args } of calls.filter(({ canonical }) => canonical === tool).slice(0, maxChecked)) {
    if (args === null) continue;
    const [was, now] = [accept(target, args).length === 0, accept(after, args).length === 0];
    if (!was && now) preview.found += 1;
    if (was && !now) preview.broken += 1;
  }
  return preview;
}
