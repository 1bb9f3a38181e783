/**
 * The conversation in the names of today (DESIGN §4): old turns speak of tools by the names of their day, and what a model reads there it
 * says again. By canonical name, so that a name that has gone to another tool is not mistaken for it. A view for one request: the log keeps
 * what was said, and so do calls whose provider wants them back as they were (`said`). What belongs to providers alone is left as it is.
 */
import { wireNameOf, type AliasMap } from './alias-map.ts';
import type { Message, ToolCallPart } from './message.ts';

/** Tools that the names do not have keep the name they had. The same object where all names are those of today. */
export function realias(message: Message, names: AliasMap): Message {
  switch (message.role) {
    case 'assistant': {
      const parts = message.parts.map((part) => (part.type === 'tool-call' ? underName(part, currentName(part, names)) : part));
      return isSame(parts, message.parts) ? message : { ...message, parts };
    }
    case 'tool': {
      const parts = message.parts.map((part) => {
        const name = currentName(part, names);
        return name === part.requested ? part : { ...part, requested: name };
      });
      return isSame(parts, message.parts) ? message : { ...message, parts };
    }
    case 'system':
    case 'user':
      return message;
    default:
      return message satisfies never;
  }
}

function isSame(parts: readonly unknown[], before: readonly unknown[]): boolean {
  return parts.every((part, index) => part === before[index]);
}

function underName(part: ToolCallPart, name: string): ToolCallPart {
  return name === part.requested ? part : { ...part, requested: name, said: part.requested };
}

function currentName({ requested, canonical }: { requested: string; canonical: string | null }, names: AliasMap): string {
  return (canonical === null ? undefined : wireNameOf(names, canonical, requested)) ?? requested;
}
