/**
 * The tools that a conversation with a large toolset has gathered: found with `find_tools`, mentioned by a skill that it loaded, or
 * called. A fold over the log of a session, so that it survives restarts, summaries and a change of provider. `offered-tools.ts`
 * decides which of them are sent to a model; `objects/session/log/transcript-log.ts` stores the list.
 */
import { toolsNamed, type AliasMap } from '../toolset/alias-map.ts';
import type { EditionTool } from '../toolset/edition-tool.ts';
import { findToolsCanonical } from '../toolset/injected-tool.ts';
import type { Message } from '../model/message.ts';
import type { SessionEventBody } from './session-event.ts';
import { useSkillCanonical } from '../skills/skill-prompt.ts';
import { isRecord, recordOf } from '../json/wire-value.ts';

/** Tools that a conversation remembers, including those that its plan no longer has: as many as a toolset has entries. */
export const maxRememberedTools = 1_000;

/** The canonical name, and the name by which the tool was found or called, which identifies the entry if the tool has several. */
export type Gathered = { canonical: string; name: string };

export type Gathering = {
  /** Takes every event once, in log order. Returns the tools that it adds. */
  apply(event: SessionEventBody): readonly Gathered[];
  /** The tools in the order they were added. Returns the same object until a tool is added. */
  list(): readonly Gathered[];
};

/** `before`: the result of an earlier fold of the same log. The oldest are kept. */
export function createGathering(before: readonly Gathered[] = []): Gathering {
  let list = before;
  const known = new Set(before.map(keyOf));
  return {
    apply(event) {
      const fresh: Gathered[] = [];
      for (const one of gatheredBy(event)) {
        if (known.has(keyOf(one)) || known.size >= maxRememberedTools) continue;
        known.add(keyOf(one));
        fresh.push(one);
      }
      if (fresh.length > 0) list = [...list, ...fresh];
      return fresh;
    },
    list: () => list,
  };
}

/** Returns the tool in the current plan, under its current name; null if the plan no longer has it. */
export function gatheredTool(map: AliasMap, { canonical, name }: Gathered): EditionTool | null {
  const isIt = (tool: EditionTool): boolean => tool.canonical === canonical;
  return toolsNamed(map, name).find(isIt) ?? toolsNamed(map, canonical).find(isIt) ?? null;
}

/** Returns what an event adds. A called tool is added with its result, so that calls of a step that a restart discarded do not count. */
function gatheredBy(event: SessionEventBody): readonly Gathered[] {
  switch (event.type) {
    case 'tool-result':
      if (event.canonical === null) return [];
      if (tellsOfTools.has(event.canonical) && event.structuredContent !== undefined) return foundIn(recordOf(event.structuredContent));
      return [{ canonical: event.canonical, name: event.name }];
    case 'history':
      // Messages do not contain what was found, so a fork carries the list.
      return [...(event.gathered ?? []), ...event.messages.flatMap(calledIn)];
    default:
      return [];
  }
}

const tellsOfTools: ReadonlySet<string> = new Set([findToolsCanonical, useSkillCanonical]);

/**
 * Returns the tools in a result of `find_tools` or of a skill. No other tool can have a result under that name, so the shape is trusted.
 */
function foundIn({ tools }: Record<string, unknown>): Gathered[] {
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) =>
    isRecord(tool) && typeof tool.canonical === 'string' && typeof tool.name === 'string'
      ? [{ canonical: tool.canonical, name: tool.name }]
      : [],
  );
}

function calledIn(message: Message): Gathered[] {
  if (message.role !== 'tool') return [];
  return message.parts.flatMap(({ canonical, requested }) => (canonical === null ? [] : [{ canonical, name: requested }]));
}

function keyOf({ canonical, name }: Gathered): string {
  return `${canonical} ${name}`;
}
