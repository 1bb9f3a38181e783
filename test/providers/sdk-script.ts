/**
 * The script of the provider fakes for the vendors' clients: the reply that the last user message names, and a final text after results.
 */
import type { Say, Script } from '../fakes/upstreams/upstream.ts';

export const calls = [
  { name: 'get_weather', arguments: { city: 'Paris – 18°' } },
  { name: 'list_files', arguments: {} },
];

export function scriptOf(says: Readonly<Record<'text' | 'calls', Say>>): Script {
  const all: Readonly<Record<string, Say>> = { ...says, length: { text: 'Once upon', finish: 'length' } };
  return ({ messages }) => {
    const last = messages.at(-1);
    return (last?.role === 'user' ? all[last.text] : undefined) ?? { text: 'Done.' };
  };
}
