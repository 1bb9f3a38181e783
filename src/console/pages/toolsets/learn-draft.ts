/** Suggestions of past calls, written into the draft of a toolset. Pure. */
import type { components } from '../../../../client/src/index.ts';
import { firstTarget, type ToolsetDraft } from './toolset-draft.ts';

export type Suggestion = components['schemas']['ToolsetSuggestions']['suggestions'][number];

/** A name of a tool goes into the map of names, so that the aliases of its entry stay as they are; one of an argument into its entry. */
export function withLearned(draft: ToolsetDraft, { tool, argument, alias }: Suggestion): ToolsetDraft {
  if (argument === null) return { ...draft, nameMap: { ...draft.nameMap, [alias]: tool } };
  const isListed = draft.tools.some((entry) => firstTarget(entry) === tool);
  const tools = isListed ? draft.tools : [...draft.tools, { tool }];
  return {
    ...draft,
    tools: tools.map((entry) =>
      firstTarget(entry) === tool
        ? { ...entry, arguments: { ...entry.arguments, alias: { ...entry.arguments?.alias, [alias]: argument } } }
        : entry,
    ),
  };
}

export function withDismissed(draft: ToolsetDraft, { name, tool, argument }: Suggestion): ToolsetDraft {
  return { ...draft, dismissed: [...(draft.dismissed ?? []), argument === null ? name : `${tool}#${name}`] };
}
