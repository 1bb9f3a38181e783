/** The replies of one key in memory. `answers`: documents of answers that sessions store, by their ids. */
import { countedIds } from './runtime.ts';
import type { KeptReplies } from '../../src/engine/proxy/kept-replies.ts';

export function memoryReplies(): KeptReplies & { texts: Map<string, string>; answers: Map<string, string> } {
  const texts = new Map<string, string>();
  const answers = new Map<string, string>();
  const ids = countedIds();
  return {
    texts,
    answers,
    nextId: () => ids.next('cmpl'),
    put: (id, text) => void texts.set(id, text),
    get: async (id) => texts.get(id) ?? null,
    answer: async ({ own }) => answers.get(own) ?? null,
  };
}
