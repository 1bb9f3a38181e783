/**
 * Rewrites a conversation to current tool names (contract §4): old turns use the names of their time, and a model repeats the names it
 * reads. Matches by canonical name, so that a name that now belongs to another tool is not confused with it. A view for one request: the
 * log stores the original names, and so do calls that a provider expects back unchanged (`said`). Native parts are left unchanged.
 */
import { wireNameOf, type AliasMap } from './alias-map.ts';
import type { Message, ToolCallPart } from '../turn/message.ts';

/** Unknown tools keep their names. Returns the same object if all names are current. */
export function realias(message: Message, names: AliasMap): Message {
  if (message.role === 'assistant') {
    const parts = message.parts.map((part) => (part.type === 'tool-call' ? underName(part, currentName(part, names)) : part));
    return isSame(parts, message.parts) ? message : { ...message, parts };
  }
  if (message.role !== 'tool') return message;
  const parts = message.parts.map((part) => ({ ...part, requested: currentName(part, names) }));
  return parts.every(({ requested }, index) => requested === message.parts[index]?.requested) ? message : { ...message, parts };
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
