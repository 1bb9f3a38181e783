/**
 * The tools that a conversation with a large toolset has come to: found with `find_tools`, spoken of by a skill that it has
 * read up, or called. A fold over a session's log, so that it outlives restarts, summaries and a change of provider. What of it a model is
 * sent is `offered-tools.ts`; where it is kept is `session/gathered-store.ts`.
 */
import { toolsNamed, type AliasMap } from './alias-map.ts';
import type { EditionTool } from './edition-tool.ts';
import { findToolsCanonical } from './find-tools.ts';
import { limits } from './limits.ts';
import type { Message } from './message.ts';
import type { SessionEventBody } from './session-event.ts';
import { useSkillCanonical } from './skills/use-skill.ts';
import { isRecord } from './wire-value.ts';

/** By its canonical name, and the name it was found or called by: of several entries of one tool that says which. */
export type Gathered = { canonical: string; name: string };

export type Gathering = {
  /** Fed in log order, every event once. Answers what is new by it. */
  apply(event: SessionEventBody): readonly Gathered[];
  /** In the order it came. The same object while nothing is new. */
  list(): readonly Gathered[];
};

/** `before`: what an earlier fold of the same log had come to. The oldest stay. */
export function createGathering(before: readonly Gathered[] = []): Gathering {
  let list = before;
  const known = new Set(before.map(keyOf));
  return {
    apply(event) {
      const fresh: Gathered[] = [];
      for (const one of gatheredBy(event)) {
        if (known.has(keyOf(one)) || known.size >= limits.maxRememberedTools) continue;
        known.add(keyOf(one));
        fresh.push(one);
      }
      if (fresh.length > 0) list = [...list, ...fresh];
      return fresh;
    },
    list: () => list,
  };
}

/** The tool that it is in the plan of now, whatever it is called by then; null: the plan has it no more. */
export function gatheredTool(map: AliasMap, { canonical, name }: Gathered): EditionTool | null {
  const isIt = (tool: EditionTool): boolean => tool.canonical === canonical;
  return toolsNamed(map, name).find(isIt) ?? toolsNamed(map, canonical).find(isIt) ?? null;
}

/** What an event adds: a call's tool when it has its result, so that no call counts that a restart of its step took back. */
function gatheredBy(event: SessionEventBody): readonly Gathered[] {
  switch (event.type) {
    case 'tool-result':
      if (event.canonical === null) return [];
      if (tellsOfTools.has(event.canonical) && event.structuredContent !== undefined) return foundIn(event.structuredContent);
      return [{ canonical: event.canonical, name: event.name }];
    case 'history':
      // Messages do not say what was found: a fork is told.
      return [...(event.gathered ?? []), ...event.messages.flatMap(calledIn)];
    default:
      return [];
  }
}

const tellsOfTools: ReadonlySet<string> = new Set([findToolsCanonical, useSkillCanonical]);

/** Of a find's result, or a skill's: only its own tool may answer under its name, and what it wrote is read as it was written. */
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
